package execute

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

const (
	// grace is how long after its deadline a handler may still return before
	// its attempt is settled without it.
	grace = 5 * time.Second
	// shortWait is the longest retry wait that a hidden message keeps; longer
	// ones are kept by a wake-up.
	shortWait = 15 * time.Minute
)

// run carries out the attempt that was claimed at sentAt and settles it.
func (p *passage) run(ctx context.Context, item *job.Execution, sentAt time.Time) Disposal {
	if p.revision == nil || p.revision.Number != item.Revision {
		if err := p.readRevision(ctx, item.Revision); err != nil {
			return failed(err)
		}
	}
	definition := p.revision.Definition
	k := newKeeper(p, item, sentAt)
	workCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workCtx, stopTimer := context.WithTimeoutCause(workCtx, definition.Timeout.Std(), ErrDeadline)
	defer stopTimer()
	k.start(ctx, cancel)
	defer k.stop()

	attempt := &Attempt{Execution: item, Definition: definition, Deadline: sentAt.Add(definition.Timeout.Std()), Canceled: k.canceled}
	failure := p.work(workCtx, attempt)
	if errors.Is(context.Cause(workCtx), ErrLeaseLost) {
		return p.lost(item, ErrLeaseLost)
	}
	failure = explain(workCtx, ctx, failure)
	return p.settle(context.WithoutCancel(ctx), k, failure)
}

// work runs the handler in a goroutine of its own, so that one which ignores
// its context cannot keep the worker beyond its deadline and grace.
func (p *passage) work(ctx context.Context, a *Attempt) *lifecycle.Failure {
	done := make(chan *lifecycle.Failure, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				stack := debug.Stack()
				done <- &lifecycle.Failure{Class: lifecycle.PanicClass, Code: "PANIC", Text: fmt.Sprintf("%v\n%s", r, stack[:min(len(stack), 2048)])}
			}
		}()
		done <- p.Work(ctx, a)
	}()
	select {
	case f := <-done:
		return f
	case <-ctx.Done():
	}
	giveUp, stop := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer stop()
	select {
	case f := <-done:
		return f
	case <-giveUp.Done():
		p.log().Error("the handler ignored its context", slog.String("execution", a.Execution.ID()))
		return &lifecycle.Failure{Class: lifecycle.TimeoutClass, Code: "HANDLER_STUCK", Text: "the handler did not return within 5 s after its context ended"}
	}
}

// explain turns a failure into what caused the context to end, when that came
// first: a handler that returns its context's error did not fail by itself.
func explain(workCtx, worker context.Context, f *lifecycle.Failure) *lifecycle.Failure {
	if f == nil || f.Class == lifecycle.PermanentClass || f.Class == lifecycle.PanicClass {
		return f
	}
	switch cause := context.Cause(workCtx); {
	case errors.Is(cause, ErrDeadline):
		return &lifecycle.Failure{Class: lifecycle.TimeoutClass, Code: "TIMEOUT", Text: f.Text}
	case errors.Is(cause, ErrCanceled):
		return &lifecycle.Failure{Class: lifecycle.CanceledClass, Code: "CANCELED", Text: f.Text}
	case worker.Err() != nil:
		return &lifecycle.Failure{Class: lifecycle.StoppedClass, Code: "WORKER_STOPPED", Text: f.Text}
	}
	return f
}

// settle writes the outcome. Throttling is retried while heartbeats go on, but
// never beyond the lease.
func (p *passage) settle(ctx context.Context, k *keeper, failure *lifecycle.Failure) Disposal {
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		held := k.current()
		now := p.Clock.Now()
		t := lifecycle.Settled(now, p.Owner)
		if failure != nil {
			t = lifecycle.AfterFailure(held, p.revision.Definition.Retry, *failure, p.Owner, now, p.Spread())
		}
		var wakeAt time.Time
		delay := t.AvailableAt().Sub(now)
		if t.To() == job.RetryWait && (delay > shortWait || k.isReleased()) {
			wakeAt = t.AvailableAt()
		}
		err := p.Executions.Settle(ctx, held, t, wakeAt)
		switch {
		case err == nil:
			return Disposal{Delete: t.Ends() || t.To() == job.NeedsReview || !wakeAt.IsZero(), Hide: max(delay, 0)}
		case errors.Is(err, job.ErrLost) && p.canceledMeanwhile(ctx, k):
			continue
		case errors.Is(err, job.ErrLost):
			return p.lost(held, err)
		}
		if !p.Clock.Now().Add(wait).Before(k.current().Lease.Until) || p.Clock.Wait(ctx, now.Add(wait)) != nil {
			return p.lost(held, err)
		}
	}
}

// lost is the end of a worker that no longer owns the execution: it publishes
// nothing and leaves the message to whoever comes next.
func (p *passage) lost(item *job.Execution, err error) Disposal {
	return Disposal{Hide: p.Leases.Lease(item.Pool), Err: err}
}

// canceledMeanwhile reports whether a settle was refused only because a cancel
// request arrived after the last heartbeat; then the outcome is decided anew.
func (p *passage) canceledMeanwhile(ctx context.Context, k *keeper) bool {
	held := k.current()
	now, err := p.read(ctx)
	if err != nil || now == nil || now.Status != job.Running || now.FencingToken != held.FencingToken || now.Lease.Nonce != p.nonce {
		return false
	}
	return held.Cancel == nil && now.Cancel != nil && k.adopt(now)
}
