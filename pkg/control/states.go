package control

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// Pause stops new executions and withdraws those that have not begun; running
// ones go on. Pausing a paused job only repeats the clean-up.
func (s *Service) Pause(ctx context.Context, ref job.Ref, actor string) (*job.Head, error) {
	return s.onHead(ctx, ref, actor, func(head *job.Head, now time.Time) (plan, error) {
		if head == nil || head.State == job.Deleted {
			return plan{}, notFound(ref)
		}
		if head.State == job.Paused {
			return plan{settled: true}, nil
		}
		if !lifecycle.Allowed(lifecycle.JobArrows, head.State, job.Paused) || head.StateAt(now) == job.Completed {
			return plan{}, stateConflict(head, "pause", "there is nothing left to pause")
		}
		next := lifecycle.Raised(*head, actor, now, true)
		next.State, next.NextFireAt = job.Paused, time.Time{}
		stop(&next, head, now)
		lifecycle.PassOver(&next, head, now, lifecycle.JobPaused)
		return plan{next: next, verb: "pause"}, nil
	})
}

// Resume lets a paused, suspended or broken job run again. Times that fell into
// the pause are passed over, or are late and left to the misfire policy: as how
// says, and where that is empty, as the definition does. Resuming an enabled job
// only repeats the clean-up.
func (s *Service) Resume(ctx context.Context, ref job.Ref, actor string, how job.OnResume) (*job.Head, error) {
	if err := job.CheckOnResume(how); err != nil {
		return nil, err
	}
	return s.onHead(ctx, ref, actor, func(head *job.Head, now time.Time) (plan, error) {
		if head == nil || head.State == job.Deleted {
			return plan{}, notFound(ref)
		}
		if head.StateAt(now) == job.Enabled {
			return plan{settled: true}, nil
		}
		if !lifecycle.Allowed(lifecycle.JobArrows, head.State, job.Enabled) || head.State == job.Completed {
			return plan{}, stateConflict(head, "resume", "give it a new schedule instead")
		}
		if now.Before(head.SwitchedAt) {
			return plan{}, switchesSoon(head, "resume")
		}
		compiled, err := s.PlanOf(ctx, head)
		if err != nil {
			return plan{}, err
		}
		from, err := s.resumeFrom(ctx, head, how, now)
		if err != nil {
			return plan{}, err
		}
		if err := schedule.FiresAfter(compiled, from); err != nil && head.SwitchAt.IsZero() {
			return plan{}, resumable(err, compiled, head)
		}
		next := lifecycle.Raised(*head, actor, now, true)
		next.State, next.StoppedAt = job.Enabled, time.Time{}
		next.NextFireAt = cursorAfter(head, compiled, from)
		return plan{next: next, verb: "resume"}, nil
	})
}

// resumable adds to the refusal of a resume that times of the pause can be caught up,
// when there are any.
func resumable(err error, compiled *schedule.Plan, head *job.Head) error {
	known := (*job.Error)(nil)
	if head.StoppedAt.IsZero() || schedule.FiresAfter(compiled, head.StoppedAt) != nil || !errors.As(err, &known) {
		return err
	}
	fix := *known
	fix.Fix = "give it a new schedule, or resume it with CATCH_UP, which leaves the times of the pause to the misfire policy"
	return &fix
}

// resumeFrom is the moment after which a resumed job has times again: now, or
// where it stopped, to catch up. A revision that was made meanwhile has no times
// before it was made, nor one that took over meanwhile before that.
func (s *Service) resumeFrom(ctx context.Context, head *job.Head, how job.OnResume, now time.Time) (time.Time, error) {
	rev, err := s.Jobs.Revision(ctx, head.Ref, head.Revision)
	if err != nil {
		return time.Time{}, err
	}
	if how == "" && rev != nil {
		how = rev.Definition.OnResume
	}
	if how != job.ResumeCatchUp || head.StoppedAt.IsZero() {
		return now, nil
	}
	from := head.StoppedAt
	if rev != nil && rev.CreatedAt.After(from) {
		from = rev.CreatedAt
	}
	if head.SwitchedAt.After(from) {
		from = head.SwitchedAt
	}
	return from, nil
}

// Delete ends a job. Its head stays as a tombstone, so that a later job of the
// same name can never be taken for it; its history stays until retention ends.
// Deleting a deleted job only repeats the clean-up. ifMatch 0 = any revision.
func (s *Service) Delete(ctx context.Context, ref job.Ref, actor string, ifMatch int) (*job.Head, error) {
	return s.onHead(ctx, ref, actor, func(head *job.Head, now time.Time) (plan, error) {
		switch {
		case head == nil:
			return plan{}, notFound(ref)
		case head.State == job.Deleted:
			return plan{settled: true}, nil
		}
		if err := checkMatch(head, ifMatch); err != nil {
			return plan{}, err
		}
		next := lifecycle.Raised(*head, actor, now, true)
		next.State, next.NextFireAt = job.Deleted, time.Time{}
		lifecycle.PassOver(&next, head, now, lifecycle.JobDeleted)
		return plan{next: next, verb: "delete"}, nil
	})
}

// stop notes up to when the times of a job were dealt with when it stopped; a job
// that had stopped before keeps its moment.
func stop(next, old *job.Head, now time.Time) {
	if next.StoppedAt.IsZero() || old == nil || old.StateAt(now) == job.Enabled {
		next.StoppedAt = now
	}
}

func stateConflict(head *job.Head, verb, fix string) error {
	return &job.Error{Code: job.CodeStateConflict, Field: "state", Value: string(head.State),
		Message: "a job that is " + string(head.State) + " cannot be made to " + verb, Fix: fix}
}
