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
	"github.com/belfry-scheduler/belfry/pkg/observe"
)

const (
	// grace is how long after its deadline a handler may still return before
	// its attempt is settled without it.
	grace = 5 * time.Second
	// codeStuck is the error code of an attempt whose handler ignored its context.
	codeStuck = "HANDLER_STUCK"
	// shortWait is the longest retry wait that a hidden message keeps; longer
	// ones are kept by a wake-up.
	shortWait = 15 * time.Minute
)

// run carries out the attempt that was claimed at sentAt and settles it, under
// a span.
func (p *passage) run(ctx context.Context, item *job.Execution, sentAt time.Time) Disposal {
	ctx, p.span = p.Tracer.Attempt(ctx, item, sentAt, p.Clock.Now())
	disposal := p.attempt(ctx, item, sentAt)
	if disposal.Err != nil {
		p.span.Failed("unsettled", string(job.CodeOf(disposal.Err)))
	}
	p.span.End(p.Clock.Now())
	return disposal
}

func (p *passage) attempt(ctx context.Context, item *job.Execution, sentAt time.Time) Disposal {
	if p.revision == nil || p.revision.Number != item.Revision {
		if err := p.readRevision(ctx, item.Revision); err != nil {
			return failed(ctx, err)
		}
	}
	definition := p.revision.Definition
	timeout := definition.Timeout.Std()
	if left, bounded := lifecycle.RunLeft(item, definition.Retry); bounded {
		timeout = min(timeout, left)
	}
	deadline := p.Clock.Now().Add(timeout)
	k := newKeeper(p, item, sentAt)
	workCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workCtx, stopTimer := context.WithTimeoutCause(workCtx, timeout, ErrDeadline)
	defer stopTimer()
	k.start(ctx, cancel)
	defer k.stop()

	attempt := &Attempt{Execution: item, Definition: definition, Anchor: p.revision.Anchor, Calendars: p.revision.Calendars, Deadline: deadline, Canceled: k.canceled}
	attempt.Progress, attempt.Family = newProgress(k, item), &Family{p: p, item: item}
	attempt.Payload = newPayload(k, item, definition)
	failure := p.tooMany(item)
	if failure == nil {
		failure = p.handle(workCtx, attempt)
	}
	attempt.Progress.close()
	if errors.Is(context.Cause(workCtx), ErrLeaseLost) {
		return p.unkept(k, ErrLeaseLost)
	}
	if failure == nil && !attempt.FoundDone {
		var err error
		if failure, err = p.unfinished(workCtx, attempt.Family); err != nil {
			failure = &lifecycle.Failure{Class: lifecycle.Transient, Code: CodeFanOutIncomplete, Text: err.Error()}
		}
	}
	failure = explain(workCtx, ctx, failure)
	if failure != nil {
		p.span.Failed(string(failure.Class), failure.Code)
	}
	ctx, span := p.span.Begin(context.WithoutCancel(ctx), observe.SettleSpan, p.Clock.Now())
	if attempt.Family.begun {
		k.mark()
	}
	disposal := p.settle(ctx, k, failure, attempt.FoundDone && failure == nil)
	if disposal.Err != nil {
		span.Failed("unsettled", string(job.CodeOf(disposal.Err)))
	}
	span.End(p.Clock.Now())
	return disposal
}

// handle runs the work under a span of its own, which its context carries.
func (p *passage) handle(ctx context.Context, a *Attempt) *lifecycle.Failure {
	ctx, span := p.span.Begin(ctx, observe.HandlerSpan, p.Clock.Now())
	a.Traceparent = span.Traceparent()
	failure := p.work(ctx, a)
	if failure != nil {
		span.Failed(string(failure.Class), failure.Code)
	}
	span.End(p.Clock.Now())
	return failure
}

// work runs the handler in a goroutine of its own, so that one which ignores
// its context cannot keep the worker beyond its deadline and grace.
func (p *passage) work(ctx context.Context, a *Attempt) *lifecycle.Failure {
	done := make(chan *lifecycle.Failure, 1)
	go p.contained(ctx, a, done)
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
		if p.Stuck != nil {
			p.Stuck(a.Execution)
		}
		return &lifecycle.Failure{Class: lifecycle.TimeoutClass, Code: codeStuck, Text: "the handler did not return within 5 s after its context ended"}
	}
}

// contained runs the handler and answers in any case: a panic, or an end of its
// goroutine, is a failure.
func (p *passage) contained(ctx context.Context, a *Attempt, done chan<- *lifecycle.Failure) {
	answer := &lifecycle.Failure{Class: lifecycle.PanicClass, Code: "GOEXIT", Text: "the handler ended its goroutine"}
	defer func() {
		if r := recover(); r != nil {
			stack := debug.Stack()
			answer = &lifecycle.Failure{Class: lifecycle.PanicClass, Code: "PANIC", Text: fmt.Sprintf("%v\n%s", r, stack[:min(len(stack), 2048)])}
		}
		done <- answer
	}()
	answer = p.Work(ctx, a)
}

// explain turns a failure into what caused the context to end, when that came
// first: a handler that returns its context's error did not fail by itself.
func explain(workCtx, worker context.Context, f *lifecycle.Failure) *lifecycle.Failure {
	if f == nil || f.Class == lifecycle.PermanentClass || f.Class == lifecycle.PanicClass || f.Class == lifecycle.UncertainClass {
		return f
	}
	switch cause := context.Cause(workCtx); {
	case errors.Is(cause, ErrDeadline) && f.Code == codeStuck:
		return f
	case errors.Is(cause, ErrDeadline):
		return &lifecycle.Failure{Class: lifecycle.TimeoutClass, Code: "TIMEOUT", Text: f.Text, Spared: f.Spared}
	case errors.Is(cause, ErrCanceled):
		return &lifecycle.Failure{Class: lifecycle.CanceledClass, Code: "CANCELED", Text: f.Text}
	case worker.Err() != nil:
		return &lifecycle.Failure{Class: lifecycle.StoppedClass, Code: "WORKER_STOPPED", Text: f.Text}
	}
	return f
}

// settle writes the outcome, decided once: an answer that was lost may have been
// the write's. Throttling is retried while heartbeats go on, but never beyond the
// lease.
func (p *passage) settle(ctx context.Context, k *keeper, failure *lifecycle.Failure, found bool) Disposal {
	held := k.current()
	t := p.outcome(held, failure, found)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		now := p.Clock.Now()
		left := k.current().Lease.Until.Sub(now)
		if left <= 0 {
			return p.unkept(k, ErrLeaseLost)
		}
		var wakeAt time.Time
		if t.To() == job.RetryWait && (t.AvailableAt().Sub(t.At()) > shortWait || k.isReleased()) {
			wakeAt = t.AvailableAt()
		}
		bounded, stop := context.WithTimeout(ctx, left)
		err := p.Executions.Settle(bounded, held, t, wakeAt)
		var canceled *job.Execution
		if errors.Is(err, job.ErrLost) {
			canceled = p.canceledMeanwhile(bounded, held)
		}
		stop()
		switch {
		case err == nil:
			p.span.Became(t.To())
			if err := p.follow(ctx, became(held, t.To())); err != nil {
				return Disposal{Hide: unsure, Err: err}
			}
			return Disposal{Delete: t.Ends() || t.To() == job.NeedsReview || !wakeAt.IsZero(), Hide: max(t.AvailableAt().Sub(now), 0)}
		case canceled != nil:
			held, t = canceled, p.outcome(canceled, failure, found)
			continue
		case errors.Is(err, job.ErrLost):
			return p.lost(held, err)
		}
		if until := k.current().Lease.Until; !p.Clock.Now().Add(wait).Before(until) || p.Clock.Wait(ctx, now.Add(wait)) != nil {
			return p.unkept(k, err)
		}
	}
}

// outcome is what the attempt's end makes of the execution as held.
func (p *passage) outcome(held *job.Execution, failure *lifecycle.Failure, found bool) lifecycle.Transition {
	now := p.Clock.Now()
	switch {
	case found:
		return lifecycle.Confirmed(now, p.Owner)
	case failure == nil:
		return lifecycle.Settled(now, p.Owner)
	}
	return lifecycle.AfterFailure(held, p.revision.Definition.Retry, *failure, p.Owner, now, p.Spread())
}

// unkept is the end of a worker whose lease runs out because its writes failed:
// its message comes back as soon as another worker may take over.
func (p *passage) unkept(k *keeper, err error) Disposal {
	return Disposal{Hide: k.visibility(max(k.current().Lease.Until.Sub(p.Clock.Now()), 0)), Err: err}
}

// lost is the end of a worker that no longer owns the execution: it publishes
// nothing and leaves the message to whoever comes next.
func (p *passage) lost(item *job.Execution, err error) Disposal {
	return Disposal{Hide: p.Leases.Lease(item.Pool), Err: err}
}

// canceledMeanwhile returns the execution when a settle was refused only because
// a cancel request arrived that its outcome did not know of; else nil.
func (p *passage) canceledMeanwhile(ctx context.Context, held *job.Execution) *job.Execution {
	now, err := p.read(ctx)
	if err != nil || now == nil || now.Status != job.Running || now.FencingToken != held.FencingToken || now.Lease.Nonce != p.nonce ||
		held.Cancel != nil || now.Cancel == nil {
		return nil
	}
	return now
}
