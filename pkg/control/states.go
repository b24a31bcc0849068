package control

import (
	"context"
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
		next := raised(*head, actor, now, true)
		next.State, next.NextFireAt = job.Paused, time.Time{}
		passOver(&next, head, now, lifecycle.JobPaused)
		return plan{next: next, verb: "pause"}, nil
	})
}

// Resume lets a paused, suspended or broken job run again from now on: times
// that fell into the pause are not caught up. Resuming an enabled job only
// repeats the clean-up.
func (s *Service) Resume(ctx context.Context, ref job.Ref, actor string) (*job.Head, error) {
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
		compiled, err := schedule.Compile(head.Schedule, head.Anchor)
		if err != nil {
			return plan{}, err
		}
		if err := schedule.FiresAfter(compiled, now); err != nil {
			return plan{}, err
		}
		next := raised(*head, actor, now, true)
		next.State = job.Enabled
		next.NextFireAt, _ = compiled.Next(now)
		return plan{next: next, verb: "resume"}, nil
	})
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
		next := raised(*head, actor, now, true)
		next.State, next.NextFireAt = job.Deleted, time.Time{}
		passOver(&next, head, now, lifecycle.JobDeleted)
		return plan{next: next, verb: "delete"}, nil
	})
}

func stateConflict(head *job.Head, verb, fix string) error {
	return &job.Error{Code: job.CodeStateConflict, Field: "state", Value: string(head.State),
		Message: "a job that is " + string(head.State) + " cannot be made to " + verb, Fix: fix}
}
