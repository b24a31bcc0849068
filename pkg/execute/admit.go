package execute

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// shortestHeld is the least for which an attempt that may not begin is given back.
const shortestHeld = time.Second

// heldError gives a message back whose attempt may not begin yet. Nothing was
// claimed, so no attempt is counted.
type heldError struct{ wait time.Duration }

func (e *heldError) Error() string { return "the attempt may not begin yet" }

// held is what becomes of the message when err says that its attempt may not begin.
func held(ctx context.Context, err error) (Disposal, bool) {
	var h *heldError
	if !errors.As(err, &h) {
		return Disposal{}, false
	}
	if ctx.Err() != nil {
		return Disposal{Err: ctx.Err()}, true
	}
	return Disposal{Hide: h.wait}, true
}

// admitted asks whether the attempt may begin. What may not comes back when it has
// waited long enough, at the latest when a deadline ends it.
func (p *passage) admitted(ctx context.Context, seen *job.Execution) error {
	if p.delivery.Admit == nil || p.revision == nil {
		return nil
	}
	until, ok := p.delivery.Admit(ctx, p.revision.Definition)
	if ok {
		return nil
	}
	if last := p.waitsUntil(seen); !last.IsZero() && last.Before(until) {
		until = last
	}
	return &heldError{wait: min(max(until.Sub(p.Clock.Now()), shortestHeld), longestHide)}
}

// waitsUntil is the moment from which an execution that has not begun an attempt
// ends; zero when it waits for ever.
func (p *passage) waitsUntil(seen *job.Execution) time.Time {
	const past = time.Millisecond
	d := p.revision.Definition
	switch {
	case seen == nil && d.StartDeadline > 0:
		return p.dueAt().Add(d.StartDeadline.Std() + past)
	case seen == nil:
	case seen.Status == job.Scheduled && d.StartDeadline > 0:
		return lifecycle.StartBy(seen, d.StartDeadline).Add(past)
	case seen.Status != job.Scheduled && d.Retry.MaxAge > 0 && !seen.StartedAt.IsZero():
		return lifecycle.AgeFrom(seen).Add(d.Retry.MaxAge.Std() + past)
	}
	return time.Time{}
}
