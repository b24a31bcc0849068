package execute

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// Families is what the execution plane does to children that have been made.
type Families interface {
	// LeavePage takes a child that has ended off its page; job.ErrLost when the page is gone.
	LeavePage(ctx context.Context, ref job.Ref, child job.Key, failed bool) (open, broken int, err error)
	// TellFailed notes how many children of the child's page have failed; nil when the fan-out is gone.
	TellFailed(ctx context.Context, ref job.Ref, child job.Key, broken int) (*job.FanOut, error)
	// ClosePage takes the child's page off the open ones; nil when the fan-out is gone.
	ClosePage(ctx context.Context, ref job.Ref, child job.Key) (*job.FanOut, error)
	// CancelFanOut raises the cancel flag for all children; again is no error.
	CancelFanOut(ctx context.Context, ref job.Ref, parent job.Key, c job.Cancel) error
	// EndChildren does so, and tells those that run; it returns the fan-out, nil when
	// there is none.
	EndChildren(ctx context.Context, ref job.Ref, parent job.Key, c job.Cancel) (*job.FanOut, error)
	// Children reads the children of one page.
	Children(ctx context.Context, ref job.Ref, parent job.Key, page int) ([]job.Execution, error)
}

// Makers is what makes children, and the execution that follows them.
type Makers interface {
	// FanOut strongly reads what is known of an execution's children; nil when it has none.
	FanOut(ctx context.Context, ref job.Ref, parent job.Key) (*job.FanOut, error)
	// StartFanOut notes, as the owner of held's lease, what children there are to be,
	// and returns what is there; job.ErrLost when it is not the owner.
	StartFanOut(ctx context.Context, held *job.Execution, f *job.FanOut) (*job.FanOut, error)
	// OpenPage makes a page's own item; again is no error.
	OpenPage(ctx context.Context, f *job.FanOut, page int) error
	// Put makes a child; job.ErrLost, and what is there, when it has been made.
	Put(ctx context.Context, e *job.Execution) (*job.Execution, error)
	// PageMade notes that a page's children have been made and sent.
	PageMade(ctx context.Context, f *job.FanOut, page int) error
	// PutOutside stores an execution with its wake-up; again is no error.
	PutOutside(ctx context.Context, e *job.Execution) error
}

// Sender hands executions to their pools' queues. The dispatch plane satisfies it.
type Sender interface {
	// Admit answers, in order, nil for each that its queue has.
	Admit(ctx context.Context, executions []*job.Execution) []error
}

// actor is who a timeline names for what Belfry does by itself.
const actor = "belfry"

// memberKey is the key of the child or reduce execution that runs; a person may have
// asked to replay the latter.
func memberKey(e *job.Execution) job.Key {
	if e.Kind == job.KindReplay {
		return e.Stands()
	}
	return e.Key
}

// adapt makes of the job's definition what a child or a reduce execution runs, and
// reads whether its fan-out was canceled. It does nothing for any other.
func (p *passage) adapt(ctx context.Context, e *job.Execution) error {
	member := memberKey(e)
	if member.Of == "" || p.Makers == nil || p.family != nil {
		return nil
	}
	f, err := p.Makers.FanOut(ctx, e.Ref, member.Parent())
	if err != nil || f == nil {
		return err
	}
	own := *p.revision
	d := &own.Definition
	d.Pool, d.Target = f.Pool, job.Target{Handler: &job.HandlerTarget{Name: f.Reduce}}
	if e.Kind == job.KindChild {
		d.Target.Handler.Name, d.Payload, d.PayloadRef = f.Handler, e.Input, ""
		if f.Timeout > 0 {
			d.Timeout = f.Timeout
		}
		if f.Retry != nil {
			d.Retry = *f.Retry
		}
	}
	p.revision, p.family = &own, f
	return nil
}

// called gives an execution the cancel flag of its fan-out.
func (p *passage) called(e *job.Execution) *job.Execution {
	f := p.family
	if f == nil || f.Canceled == nil || e.Cancel != nil || e.Kind == job.KindReplay || e.Kind == job.KindReduce && f.Canceled.Reason == lifecycle.ChildrenFailed {
		return e // a reduce execution tells that too many failed by failing itself
	}
	flagged := *e
	flagged.Cancel = f.Canceled
	return &flagged
}

// follow does what the end of an execution asks for beyond it, any number of times:
// the message is kept until it is done.
func (p *passage) follow(ctx context.Context, e *job.Execution) error {
	switch {
	case e == nil || p.Families == nil || !e.Follows() || !lifecycle.Terminal(e.Status):
		return nil
	case e.Kind == job.KindChild:
		return p.leave(ctx, e)
	}
	return p.endChildren(ctx, e)
}

// leave takes a child that has ended off its page. The last one of the last page
// makes the reduce execution, under a key of its own: once, however often this is
// done and whoever does it.
func (p *passage) leave(ctx context.Context, child *job.Execution) error {
	failed := child.Status != job.Succeeded
	open, broken, err := p.Families.LeavePage(ctx, child.Ref, child.Key, failed)
	if errors.Is(err, job.ErrLost) {
		return nil // its retention is over, and so is all that could follow
	}
	if err != nil {
		return err
	}
	if failed {
		if err := p.bear(ctx, child, broken); err != nil {
			return err
		}
	}
	if open > 0 {
		return nil
	}
	f, err := p.Families.ClosePage(ctx, child.Ref, child.Key)
	if err != nil || f == nil || f.OpenPages > 0 {
		return err
	}
	return p.reduce(ctx, f)
}

// bear tells of a child that failed, and cancels the rest once too many have.
func (p *passage) bear(ctx context.Context, child *job.Execution, broken int) error {
	f, err := p.Families.TellFailed(ctx, child.Ref, child.Key, broken)
	if err != nil || f == nil || !f.TooManyFailed() || f.Canceled != nil {
		return err
	}
	return p.Families.CancelFanOut(ctx, child.Ref, child.Parent(), job.Cancel{At: p.Clock.Now(), By: actor, Reason: lifecycle.ChildrenFailed})
}

// reduceWake is when a reduce execution is looked at again whose message was lost.
const reduceWake = time.Minute

// reduce makes and sends the execution that runs once all children have ended.
func (p *passage) reduce(ctx context.Context, f *job.FanOut) error {
	if f.Reduce == "" {
		return nil
	}
	now := p.Clock.Now()
	e := memberOf(f, job.ReduceKey(f.Parent), lifecycle.ChildrenEnded, now)
	e.Wake = job.Wake{At: now.Add(reduceWake)}
	e.Timeline = []job.Entry{{At: now, To: job.Scheduled, Reason: e.Reason, Actor: actor}}
	if err := p.Makers.PutOutside(ctx, e); err != nil {
		return err
	}
	return p.Sender.Admit(ctx, []*job.Execution{e})[0]
}

// memberOf is a child or the reduce execution as it is to be stored. It goes on under
// the epoch and the revision of its parent, whatever becomes of the job meanwhile.
func memberOf(f *job.FanOut, key job.Key, why job.Reason, at time.Time) *job.Execution {
	e := &job.Execution{Ref: f.Ref, Key: key, Revision: f.Revision, Epoch: f.Epoch, Status: job.Scheduled, Pool: f.Pool, Type: f.Type, Target: "handler",
		CreatedAt: at, AvailableAt: at, Reason: why, Actor: actor, Schema: job.Schema}
	if name, of, revision, err := job.ParseID(f.ReplayOf); err == nil {
		twin := job.ReduceKey(of)
		if key.Kind == job.KindChild {
			twin = job.ChildKey(of, key.Number())
		}
		e.ReplayOf = job.ID(name, twin, revision)
	}
	return e
}

// endChildren cancels the children of an execution that did not succeed. Those that an
// attempt had made and not yet sent have no message of their own to end them by.
func (p *passage) endChildren(ctx context.Context, e *job.Execution) error {
	f, err := p.Families.EndChildren(ctx, e.Ref, e.Key, job.Cancel{At: p.Clock.Now(), By: actor, Reason: lifecycle.ParentEnded})
	if err != nil || f == nil || f.Canceled == nil || p.Makers == nil {
		return err
	}
	for page := range f.Pages() {
		if slices.Contains(f.Made, page) {
			continue
		}
		children, err := p.Families.Children(ctx, e.Ref, e.Key, page)
		if err != nil {
			return err
		}
		for i := range children {
			if err := p.endUnsent(ctx, f, &children[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// endUnsent ends a child that has not begun, as its message would: whether there is one
// is not known.
func (p *passage) endUnsent(ctx context.Context, f *job.FanOut, child *job.Execution) error {
	if unsent(child) == nil {
		return nil
	}
	flagged := *child
	flagged.Cancel = f.Canceled
	m := lifecycle.Message{Ref: child.Ref, Key: child.Key, Epoch: child.Epoch, RestoreEpoch: p.RestoreEpoch}
	decision := lifecycle.Decide(lifecycle.Facts{Message: m, Item: &flagged, RestoreEpoch: p.RestoreEpoch, Now: p.Clock.Now()})
	if decision.Act != lifecycle.Close {
		return nil
	}
	switch err := p.Executions.Close(ctx, child, decision.Transition); {
	case errors.Is(err, job.ErrLost):
		return nil // its message has come
	case err != nil:
		return err
	}
	return p.leave(ctx, became(child, decision.Transition.To()))
}
