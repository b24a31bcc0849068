package control

import (
	"context"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// RetryNow lets the next attempt of an execution that waits for it begin at once.
// Attempts stay counted. One whose wait is over is sent once more and otherwise left
// as it is.
func (s *Service) RetryNow(ctx context.Context, ref job.Ref, key job.Key, actor string) (*job.Execution, error) {
	if err := s.Jobs.Restored(ctx); err != nil {
		return nil, err
	}
	e, err := s.again(ctx, ref, key, func(e *job.Execution) (bool, error) {
		if e.Status != job.RetryWait {
			return false, notWaiting(e, "retried now", instead(e))
		}
		now := s.Clock.Now().Truncate(time.Millisecond)
		if !e.AvailableAt.After(now) {
			return true, nil
		}
		return false, s.DeadLetters.Intervene(ctx, e, lifecycle.RetriedNow(now, actor),
			job.Intervention{WakeAt: now.Add(wakeAfter), Audit: audited(e, "retry now", actor, "", now)})
	})
	return s.sent(ctx, e, err)
}

// instead says what helps an execution that is to run again and does not wait for
// a retry.
func instead(e *job.Execution) fixes {
	again := "run the job anew with: belfry jobs run " + e.Job
	if stands := e.Stands(); stands.Kind == job.KindScheduled {
		at := stands.ScheduledAt.UTC().Format(time.RFC3339)
		again = "run its scheduled time again with: belfry backfill " + e.Job + " --from " + at + " --to " + at + " --rerun"
	}
	replay := "replay it with: belfry replay '" + e.ID() + "'"
	return fixes{job.Scheduled: "it has not begun: it runs when its time comes", job.Running: "wait until it has ended, or cancel it",
		job.RetryWait:   "it is tried again by itself; at once with: belfry executions retry '" + e.ID() + "'",
		job.NeedsReview: "decide what became of it with: belfry executions resolve '" + e.ID() + "' --as succeeded|failed|retry",
		job.Failed:      replay, job.Dead: replay, job.Succeeded: again, job.Canceled: again, job.Skipped: again, job.Missed: again,
		job.Withdrawn: "a change of the job replaced it; run the job with: belfry jobs run " + e.Job}
}

// sent hands an execution that may be claimed now to its queue. If that fails its
// wake-up sends it within minutes.
func (s *Service) sent(ctx context.Context, e *job.Execution, err error) (*job.Execution, error) {
	if err != nil || e == nil || e.Status != job.RetryWait {
		return e, err
	}
	if err := s.Sender.Send(ctx, e); err != nil {
		return nil, err
	}
	return e, nil
}

// ReviewRequest ends the doubt about an execution.
type ReviewRequest struct {
	Ref   job.Ref
	Key   job.Key
	As    job.Verdict // job.ItWorked, job.ItFailed or job.TryAgain
	Note  string      // what the verdict rests on; needed
	Actor string
}

// Review carries out what a person decided about an execution in NEEDS_REVIEW. The
// same verdict again changes nothing; any other is a conflict, for what has ended
// or begun again cannot be decided anew.
func (s *Service) Review(ctx context.Context, r ReviewRequest) (*job.Execution, error) {
	if err := checkVerdict(r.As, r.Note, lifecycle.ReviewVerdicts); err != nil {
		return nil, err
	}
	if r.Note == "" {
		return nil, &job.Error{Code: job.CodeInvalid, Field: "note", Message: "a verdict on what nobody knows needs a note", Fix: "say what it rests on, such as a look into the other system"}
	}
	if err := s.Jobs.Restored(ctx); err != nil {
		return nil, err
	}
	e, err := s.again(ctx, r.Ref, r.Key, func(e *job.Execution) (bool, error) {
		now := s.Clock.Now().Truncate(time.Millisecond).UTC()
		t, _ := lifecycle.ReviewedAs(r.As, now, r.Actor)
		switch {
		case e.Status != job.NeedsReview && e.Review != nil && e.Review.As == r.As && e.Status == t.To():
			return true, nil
		case e.Status != job.NeedsReview:
			return false, notWaiting(e, "resolved: it is not in doubt", instead(e))
		}
		i := job.Intervention{Review: &job.Resolution{As: r.As, By: r.Actor, At: now, Note: r.Note}, Audit: audited(e, "review as "+string(r.As), r.Actor, r.Note, now)}
		if t.To() == job.RetryWait {
			i.WakeAt = now.Add(wakeAfter)
		}
		return false, s.DeadLetters.Intervene(ctx, e, t, i)
	})
	return s.sent(ctx, e, err)
}
