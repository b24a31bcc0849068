package trigger

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// untilNextScan is how far ahead the next scan may be: what a wake-up promises
// earlier than that, this scan keeps.
const untilNextScan = 120 * time.Second

// scanWakes looks at the executions of one shard that asked to be looked at.
// Wake-ups are lazy: each is judged on a strong read, then re-armed, sent or
// removed.
func (s *Service) scanWakes(ctx context.Context, shard job.Shard) error {
	upto := s.Clock.Now().Add(Horizon)
	for start := ""; ; {
		refs, more, err := s.Wakes.Waking(ctx, shard, upto, duePage, start)
		if err != nil {
			return err
		}
		if len(refs) > 0 {
			executions, err := s.Wakes.ReadExecutions(ctx, refs, true)
			if err != nil {
				return err
			}
			s.wakeAll(ctx, executions, upto)
		}
		if more == "" {
			return ctx.Err()
		}
		start = more
	}
}

// wakeAct is what to do about one wake-up.
type wakeAct string

const (
	wakeLater  wakeAct = "later"  // nothing yet
	wakeRearm  wakeAct = "re-arm" // the lease has moved on: look again after it
	wakeSend   wakeAct = "send"   // send its message, then remove the wake-up
	wakeRemove wakeAct = "remove" // nothing will need it
)

// decideWake judges a wake-up; at is when the message is to be visible, or the
// new time of the wake-up.
func decideWake(e *job.Execution, now, upto time.Time, epsilon time.Duration) (act wakeAct, at time.Time) {
	if e.Wake.At.IsZero() || e.Wake.At.After(upto) {
		return wakeLater, time.Time{}
	}
	switch e.Status {
	case job.Running:
		free := e.Lease.Until.Add(2*epsilon + time.Second)
		switch {
		case !free.After(now):
			return wakeSend, now
		case e.Wake.At.After(now.Add(untilNextScan)):
			return wakeLater, time.Time{}
		case free.After(now.Add(untilNextScan)):
			return wakeRearm, free
		}
		return wakeSend, free
	case job.Scheduled, job.RetryWait:
		if e.AvailableAt.After(e.Wake.At) {
			return wakeSend, e.AvailableAt
		}
		return wakeSend, e.Wake.At
	case job.Succeeded, job.Failed, job.Dead, job.Canceled, job.Skipped, job.Missed, job.Withdrawn, job.NeedsReview:
		if e.Follows() && lifecycle.Terminal(e.Status) {
			return wakeSend, now // whoever receives it does what its end still asks for
		}
		return wakeRemove, time.Time{}
	}
	return wakeLater, time.Time{}
}

func (s *Service) wakeAll(ctx context.Context, executions []*job.Execution, upto time.Time) {
	now := s.Clock.Now()
	var sends, seen []*job.Execution
	for _, e := range executions {
		act, at := decideWake(e, now, upto, s.epsilon())
		switch act {
		case wakeSend:
			delayed := *e
			delayed.AvailableAt = at
			sends, seen = append(sends, &delayed), append(seen, e)
		case wakeRearm:
			s.logWake(e, s.Wakes.Rewake(ctx, e, at, false))
		case wakeRemove:
			s.logWake(e, s.Wakes.ClearWake(ctx, e))
		case wakeLater:
		}
	}
	if len(sends) == 0 {
		return
	}
	errs := s.Admission.Admit(ctx, sends)
	s.each(len(sends), func(i int) {
		if errs[i] == nil {
			errs[i] = s.Wakes.ClearWake(ctx, seen[i])
		}
		s.logWake(seen[i], errs[i])
	})
}

func (s *Service) logWake(e *job.Execution, err error) {
	if err != nil && !errors.Is(err, job.ErrLost) {
		s.log().Error("wake-up not kept; the next scan tries again", slog.String("execution", e.ID()), slog.Any("error", err))
	}
}
