package execute

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Progress is how far one execution has come, in the hands of one attempt. It is
// safe for concurrent use.
//
// A save is refused as soon as the attempt may have lost its lease: by the clock
// before it is sent, and by its token once a newer attempt has loaded or saved. So
// what a newer attempt has loaded is never taken back by an older one.
type Progress struct {
	keeper *keeper
	item   *job.Execution

	closed atomic.Bool // its attempt has ended

	mu     sync.Mutex // one call at a time
	wrote  bool
	saves  int    // objects that this attempt has named
	object string // that the pointer names now, as far as this attempt knows
}

func newProgress(k *keeper, item *job.Execution) *Progress { return &Progress{keeper: k, item: item} }

// close ends it with its attempt: a handler that goes on saves nothing any more.
func (g *Progress) close() { g.closed.Store(true) }

// owned bounds a call by the lease; ErrLeaseLost when it may have passed.
func (g *Progress) owned(ctx context.Context) (context.Context, context.CancelFunc, error) {
	k := g.keeper
	left := k.current().Lease.Until.Sub(k.p.Clock.Now()) - k.margin()
	switch {
	case k.p.Checkpoints == nil:
		return nil, nil, &job.Error{Code: job.CodeNotSupported, Field: "checkpoint", Message: "this worker keeps no checkpoints", Fix: "set Checkpoints of the execution plane"}
	case g.closed.Load() || errors.Is(context.Cause(ctx), ErrLeaseLost):
		return nil, nil, ErrLeaseLost
	case left <= 0:
		k.end(ErrLeaseLost) // a heartbeat that is on its way still must not have the attempt go on
		return nil, nil, ErrLeaseLost
	}
	bounded, stop := context.WithTimeoutCause(ctx, left, ErrLeaseLost)
	return bounded, stop, nil
}

// Save stores content as how far the execution has come, in place of what was saved
// before. The error is ErrLeaseLost when somebody else may run the execution now:
// stop. TOO_LARGE refuses one beyond the bound; the attempt goes on.
func (g *Progress) Save(ctx context.Context, content []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	bounded, stop, err := g.owned(ctx)
	if err != nil {
		return err
	}
	defer stop()
	p, before := g.keeper.p, g.object
	g.wrote = true
	c := &job.Checkpoint{Ref: g.item.Ref, Key: g.item.Key, Token: g.item.FencingToken, At: p.Clock.Now(), Size: int64(len(content)), Content: content}
	if len(content) > job.InlineCheckpoint {
		if err := g.store(bounded, c); err != nil {
			return g.told(bounded, err)
		}
	}
	if err := p.Checkpoints.SaveCheckpoint(bounded, c); err != nil {
		return g.told(bounded, err)
	}
	if g.object = c.Object; before != "" && before != c.Object {
		if err := p.Objects.Delete(bounded, before); err != nil { // tidiness: a rule of the bucket takes it otherwise
			p.log().Warn("an old checkpoint stays in the bucket", slog.String("execution", g.item.ID()), slog.Any("error", err))
		}
	}
	return nil
}

// store puts the content into the bucket, under a name of this attempt alone.
func (g *Progress) store(ctx context.Context, c *job.Checkpoint) error {
	objects := g.keeper.p.Objects
	most, fix := int64(job.MaxCheckpoint), "save where the data lies, not the data"
	if objects == nil {
		most, fix = job.InlineCheckpoint, "give the worker a bucket, or save where the data lies"
	}
	if c.Size > most {
		return &job.Error{Code: job.CodeTooLarge, Field: "checkpoint", Value: fmt.Sprintf("%d bytes", c.Size), Bound: fmt.Sprintf("%d bytes", most),
			Message: "the checkpoint is too large", Fix: fix}
	}
	g.saves++
	digest := sha256.Sum256(c.Content)
	c.Digest = hex.EncodeToString(digest[:])
	c.Object = fmt.Sprintf("checkpoints/%s/%s/%d-%d", c.Ref, c.Key, c.Token, g.saves)
	content := c.Content
	c.Content = nil
	return objects.Put(ctx, c.Object, content)
}

// told turns a lost write, or a lease that ran out meanwhile, into the end of the
// attempt.
func (g *Progress) told(ctx context.Context, err error) error {
	if errors.Is(err, job.ErrLost) || errors.Is(context.Cause(ctx), ErrLeaseLost) {
		g.keeper.end(ErrLeaseLost)
		return ErrLeaseLost
	}
	return err
}

// Load reads what was saved last, by whichever attempt; found is false when nothing
// was. A replay that has saved nothing yet goes on from what it repeats. The error is
// ErrLeaseLost when somebody else may run the execution now.
func (g *Progress) Load(ctx context.Context) (content []byte, found bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	bounded, stop, err := g.owned(ctx)
	if err != nil {
		return nil, false, err
	}
	defer stop()
	c, err := g.last(bounded)
	if err != nil || c == nil {
		return nil, false, g.told(bounded, err)
	}
	if c.Key == g.item.Key {
		g.object = c.Object // else it is another execution's, which keeps it
	}
	if c.Object == "" {
		return c.Content, true, nil
	}
	content, err = fetch(bounded, g.keeper.p.Objects, c)
	return content, err == nil, g.told(bounded, err)
}

// last is the execution's own checkpoint, or the one that a replay goes on from.
func (g *Progress) last(ctx context.Context) (*job.Checkpoint, error) {
	p, e := g.keeper.p, g.item
	if e.Attempt > 1 || g.wrote {
		c, err := p.Checkpoints.FenceCheckpoint(ctx, e.Ref, e.Key, e.FencingToken, p.Clock.Now())
		if c != nil || err != nil {
			return c, err
		}
	}
	if e.FromScratch {
		return nil, nil
	}
	for _, id := range []string{e.ReplayedFrom, e.ReplayOf} { // the nearer one first
		name, key, _, err := job.ParseID(id)
		if err != nil {
			continue // it repeats nothing
		}
		if c, err := p.Checkpoints.Checkpoint(ctx, job.Ref{Tenant: e.Tenant, Job: name}, key); c != nil || err != nil {
			return c, err
		}
	}
	return nil, nil
}

// fetch reads a checkpoint that lies in the bucket.
func fetch(ctx context.Context, objects Objects, c *job.Checkpoint) ([]byte, error) {
	if objects == nil {
		return nil, &job.Error{Code: job.CodeNotSupported, Field: "checkpoint", Value: job.Shorten(c.Object), Message: "the checkpoint lies in a bucket that this worker was not given",
			Fix: "give it the bucket"}
	}
	content, err := objects.Get(ctx, c.Object, job.MaxCheckpoint)
	if err != nil {
		return nil, err
	}
	if digest := sha256.Sum256(content); hex.EncodeToString(digest[:]) != c.Digest {
		return nil, &job.Error{Code: job.CodeInternal, Field: "checkpoint", Value: job.Shorten(c.Object), Message: "the checkpoint in the bucket is not what was saved"}
	}
	return content, nil
}
