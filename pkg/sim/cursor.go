package sim

import (
	"context"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/trigger"
)

// watchedCursors notes every cursor move that was reported as landed.
type watchedCursors struct {
	trigger.Cursors
	world *World
}

// Advance passes the call on and notes it.
func (c watchedCursors) Advance(ctx context.Context, a job.Advance) error {
	err := c.Cursors.Advance(ctx, a)
	if err == nil {
		c.world.mu.Lock()
		c.world.moves = append(c.world.moves, move{ref: a.Head.Ref, epoch: a.Head.Epoch, from: a.Head.NextFireAt, to: a.Next})
		c.world.mu.Unlock()
	}
	return err
}

func (w *World) watchCursor(b *assemble.Belfry) {
	b.Trigger.Cursors = watchedCursors{Cursors: b.Trigger.Cursors, world: w}
}
