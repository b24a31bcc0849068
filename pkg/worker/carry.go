package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

const (
	// aheadHere is the longest that the plane waits with a message in its hands
	// until the execution is due.
	aheadHere = 2 * time.Second
	// patience is how long a due message may wait here for a slot.
	patience = 2 * time.Second
	// isolationWait is how long a message of the isolation queue is hidden that
	// found no place.
	isolationWait = 10 * time.Second
	// newerHide is how long a message of a newer build is hidden: a deployment
	// replaces this worker soon.
	newerHide = 5 * time.Minute
	// renewAt is the number of receives at which such a message is sent anew,
	// before the queue would dead-letter it.
	renewAt = queue.MaxReceives - 10
	// malformedHide is how long a message is hidden that nobody can read. Its
	// receives count up until it lies in the dead-letter queue for a person.
	malformedHide = 15 * time.Minute
	// extendMost bounds how long a heartbeat waits for the queue.
	extendMost = 5 * time.Second
	// brokenHide is how long a message is hidden that met a fault in the program.
	brokenHide = time.Minute
)

// visibility is how long a message received for pool is hidden: as long as its
// claim could come late, and the lease and the clocks' difference after that.
// So the claim itself needs no call to the queue.
func (w *Worker) visibility(pool string) time.Duration {
	return w.service.Leases.Lease(pool) + leaseMargin + aheadHere + patience
}

// leaseMargin covers twice the difference of two clocks and a second.
const leaseMargin = 2 * time.Second

// parcel is one received message on its way through this worker.
type parcel struct {
	w        *Worker
	queue    *queue.Queue
	received queue.Received
	work     queue.Work
	isolated bool
	pool     string
	figures  *observe.Batch // nil: nobody counts
	released atomic.Bool
	leave    *leave // of the attempt to begin; nil: nothing was asked
	held     bool   // it may not begin yet
}

// delivery is the message as the plane takes it.
func (p *parcel) delivery(begin func(context.Context, *job.Execution) error) execute.Delivery {
	m := p.work.Message
	m.Receives, m.Isolated = p.received.Receives, p.isolated
	return execute.Delivery{Message: m, NotBefore: p.work.NotBefore, Begin: begin, Admit: p.admit,
		Extend: p.extend,
		Release: func(ctx context.Context) error {
			if err := p.queue.Delete(ctx, p.received.Handle); err != nil {
				return err
			}
			p.released.Store(true)
			return nil
		}}
}

// extend hides the message for d. It outlives the heartbeat that asked for it,
// within bounds: a change of visibility that overtook the attempt's end would
// hide a message that was just given back, and nothing may be under way when a
// function's invocation has ended.
func (p *parcel) extend(ctx context.Context, d time.Duration) error {
	bounded, stop := context.WithTimeout(context.WithoutCancel(ctx), extendMost)
	defer stop()
	return p.queue.Hide(bounded, p.received.Handle, d)
}

// process hands the message to the plane under ctx.
func (p *parcel) process(ctx context.Context, begin func(context.Context, *job.Execution) error) execute.Disposal {
	ctx = context.WithValue(observe.WithCause(ctx, p.work.Traceparent), parcelKey{}, p)
	disposal := p.guarded(ctx, begin)
	if !disposal.Delete && errors.Is(disposal.Err, errNoPlace) && p.isolated {
		disposal.Hide = isolationWait // whoever runs alone may run for long
		return disposal
	}
	if !disposal.Delete && (errors.Is(disposal.Err, errNoPlace) || errors.Is(disposal.Err, errStopped) || errors.Is(disposal.Err, context.Canceled)) {
		disposal.Hide = 0
	}
	return disposal
}

// guarded keeps a fault in the program, met on one message, away from all others.
func (p *parcel) guarded(ctx context.Context, begin func(context.Context, *job.Execution) error) (disposal execute.Disposal) {
	defer func() {
		if r := recover(); r != nil {
			p.w.log.Error("a message broke the worker", slog.String("job", p.work.Message.Ref.String()), slog.String("key", p.work.Message.Key.String()),
				slog.Any("panic", r), slog.String("stack", stackOfPanic()))
			disposal = execute.Disposal{Hide: brokenHide, Err: errors.New("a message broke the worker")}
		}
	}()
	return p.w.service.Process(ctx, p.delivery(begin))
}

// hide makes the message visible again after d. It has been given up already
// when a wake-up has taken over.
func (p *parcel) hide(ctx context.Context, d time.Duration) {
	if p.released.Load() {
		return
	}
	if p.held && p.renewed(ctx, d) {
		return
	}
	if err := p.queue.Hide(ctx, p.received.Handle, d); err != nil {
		p.w.log.Warn("message not given back; it returns when its visibility ends", slog.String("queue", p.queue.Name()), slog.Any("error", err))
	}
}

// delete deletes the message for good.
func (p *parcel) delete(ctx context.Context) {
	if p.released.Load() {
		return
	}
	if err := p.queue.Delete(ctx, p.received.Handle); err != nil {
		p.w.log.Warn("message not deleted; it returns and will be seen to be over", slog.String("queue", p.queue.Name()), slog.Any("error", err))
	}
}

// unreadable keeps a message that could not be opened: one of a newer build is
// hidden until that build is here, and all others end in the dead-letter queue.
func (p *parcel) unreadable(ctx context.Context, err error) {
	if !errors.Is(err, queue.ErrNewerSchema) {
		p.w.log.Error("message left for the dead-letter queue", slog.String("queue", p.queue.Name()), slog.Any("error", err))
		p.hide(ctx, malformedHide)
		return
	}
	p.w.log.Warn("message hidden for a newer worker", slog.String("queue", p.queue.Name()), slog.Any("error", err))
	if p.received.Receives < renewAt {
		p.hide(ctx, newerHide)
		return
	}
	if err := p.queue.Renew(ctx, p.received, newerHide); err != nil {
		p.w.log.Warn("message not sent anew", slog.String("queue", p.queue.Name()), slog.Any("error", err))
		p.hide(ctx, newerHide)
	}
}
