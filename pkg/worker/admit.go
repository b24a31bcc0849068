package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/observe"
)

// parcelKey finds the parcel that an attempt's context belongs to.
type parcelKey struct{}

func newBreakers(o Options, w *Worker) *breakers {
	if o.Breakers == nil {
		return nil
	}
	rules := o.BreakerRules
	if rules == (lifecycle.BreakerRules{}) {
		rules = lifecycle.DefaultBreakerRules()
	}
	return &breakers{stored: o.Breakers, rules: rules, clock: w.clock, spread: w.service.Spread, log: w.log, all: make(map[resourceKey]*known)}
}

// admit implements execute.Delivery.Admit: while the breaker of what an attempt
// would call is open, it does not begin.
func (p *parcel) admit(ctx context.Context, d job.Definition) (until time.Time, ok bool) {
	p.leave, p.held = nil, false
	if p.w.breakers == nil {
		return time.Time{}, true
	}
	resource := p.w.resourceOf(d)
	if resource == "" {
		return time.Time{}, true
	}
	p.leave, until, ok = p.w.breakers.admit(ctx, p.work.Message.Ref, resource, d.Timeout.Std())
	if !ok {
		p.held = true
		p.figures.Count(observe.BreakerOpen, observe.Labels{Pool: p.pool}, 1)
	}
	return until, ok
}

// bears tells the breaker of an attempt's resource how the attempt ended. One whose
// context ended for another reason than its deadline says nothing about it.
func (w *Worker) bears(ctx context.Context, f *lifecycle.Failure, err error) {
	p, _ := ctx.Value(parcelKey{}).(*parcel)
	if p == nil || p.leave == nil || isElsewhere(err) {
		return
	}
	if f != nil && ctx.Err() != nil && !errors.Is(context.Cause(ctx), execute.ErrDeadline) {
		return
	}
	if w.breakers.ended(ctx, p.leave, f) {
		f.Spared = true
	}
}

// answersProbe lets a probe that only asked about an earlier attempt count: with a
// failure when the question failed.
func (w *Worker) answersProbe(ctx context.Context, f *lifecycle.Failure) {
	if p, _ := ctx.Value(parcelKey{}).(*parcel); p == nil || p.leave == nil || p.leave.probe == nil {
		return
	}
	if f != nil && !f.Confirmable {
		f = nil // it was answered: nobody knows
	}
	w.bears(ctx, f, nil)
}

// renewed sends a message anew that was held back so often that its queue would soon
// dead-letter it, which counts as a redrive and would end it after a few.
func (p *parcel) renewed(ctx context.Context, d time.Duration) bool {
	if p.received.Receives < renewAt {
		return false
	}
	if err := p.queue.Renew(ctx, p.received, d); err != nil {
		p.w.log.Warn("message not sent anew", slog.String("queue", p.queue.Name()), slog.Any("error", err))
		return false
	}
	return true
}
