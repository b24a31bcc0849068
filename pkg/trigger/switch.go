package trigger

import (
	"context"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// An edit whose effective_at lies ahead leaves a definition that waits. Until
// then the job goes on under its revision, whose times end there; the cursor
// then stands in the second after it, and the next scan that sees it there, some
// minutes ahead, makes the switch-over: an edit like a person's, effective at that
// moment.

// waiting reads the definition that waits. The head that names it was written in
// one transaction with it; a mismatch means that this head is out of date.
func (w *work) waiting(ctx context.Context) (*job.Revision, *schedule.Plan, error) {
	rev, err := w.Definitions.Waiting(ctx, w.head.Ref)
	if err != nil {
		return nil, nil, err
	}
	if rev == nil || !rev.CarryUntil.Equal(w.head.SwitchAt) {
		return nil, nil, job.ErrLost
	}
	plan, err := w.Zones.OfRevision(rev)
	return rev, plan, err
}

// switchOver gives the job the revision that waited. Every time up to SwitchAt
// has been made under the one before, and may still begin: that is the bound that
// the new revision carries.
func (w *work) switchOver(ctx context.Context) error {
	rev, plan, err := w.waiting(ctx)
	if err != nil {
		return err
	}
	next := *w.head
	next.Epoch++
	next.Revision++
	next.Follow(rev.Definition, rev.Anchor)
	next.SwitchAt, next.SwitchedAt, next.Plan, next.Waits = time.Time{}, w.head.SwitchAt, nil, nil
	next.NextFireAt, _ = plan.Next(w.head.NextFireAt.Add(-time.Second))
	next.UpdatedAt, next.ChangedBy = w.now, rev.CreatedBy
	made := *rev
	made.Number, made.Epoch = next.Revision, next.Epoch
	err = w.Cursors.ChangeHead(ctx, job.HeadChange{Old: w.head, New: next, Revision: &made, Verb: "switch", Actor: rev.CreatedBy, At: w.now})
	if err != nil {
		return err
	}
	w.head, w.plan = &next, nil
	return nil
}
