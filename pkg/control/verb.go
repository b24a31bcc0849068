package control

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// plan is what a verb wants to do to the head that it read.
type plan struct {
	next     job.Head
	revision *job.Revision
	waiting  *job.Revision
	fresh    []job.PinnedCalendar
	verb     string
	settled  bool // the head already is as wished: only what follows its write is repeated
}

// onHead runs one verb: read, decide, compare-and-set, clean up. decide gets
// a strongly read head (nil when the job was never made) and the verb's clock.
func (s *Service) onHead(ctx context.Context, ref job.Ref, actor string, decide func(head *job.Head, now time.Time) (plan, error)) (*job.Head, error) {
	if err := s.Jobs.Restored(ctx); err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		head, err := s.Jobs.Head(ctx, ref)
		if err != nil {
			return nil, err
		}
		if head != nil && head.Schema > job.Schema {
			return nil, &job.Error{Code: job.CodeUnavailable, Message: "the job was written by a newer version of Belfry", Fix: "try again once the deployment is complete"}
		}
		if head != nil && head.Gap != nil {
			if err := s.closeGap(ctx, head); err != nil {
				return nil, err
			}
			if try < maxTries {
				continue
			}
			return nil, job.ErrLost
		}
		now := s.Clock.Now().Truncate(time.Millisecond)
		if try < maxTries && switchIsDue(head, now) {
			// A gap is of one revision's times: what the other one had is settled first.
			if err := s.Materialiser.Materialise(ctx, ref); err != nil {
				return nil, err
			}
			continue
		}
		p, err := decide(head, now)
		if err != nil {
			return nil, err
		}
		if p.settled {
			return s.finish(ctx, head, now)
		}
		err = s.Jobs.ChangeHead(ctx, job.HeadChange{Old: head, New: p.next, Revision: p.revision, Waiting: p.waiting, Fresh: p.fresh, Verb: p.verb, Actor: actor, At: now})
		if errors.Is(err, job.ErrLost) && try < maxTries {
			continue
		}
		if err != nil {
			return nil, err
		}
		return s.finish(ctx, &p.next, now)
	}
}

// switchIsDue reports whether a definition that waits should have taken over by
// now, and no scan was there to let it.
func switchIsDue(head *job.Head, now time.Time) bool {
	return head != nil && head.State == job.Enabled && !head.SwitchAt.IsZero() && head.SwitchAt.Before(now)
}

// finish is what stands between a verb's write and its acknowledgement.
func (s *Service) finish(ctx context.Context, head *job.Head, now time.Time) (*job.Head, error) {
	if head.Gap != nil {
		if err := s.closeGap(ctx, head); err != nil {
			return nil, err
		}
	}
	if err := s.cleanUp(ctx, head); err != nil {
		return nil, err
	}
	if !head.NextFireAt.IsZero() && !head.NextFireAt.After(now.Add(s.Horizon)) {
		if err := s.Materialiser.Materialise(ctx, head.Ref); err != nil {
			return nil, err
		}
	}
	return head, nil
}

// closeGap records the times that a verb passed over and takes the gap out of
// the head. A lost compare-and-set means that a scan did it, or a newer verb.
func (s *Service) closeGap(ctx context.Context, head *job.Head) error {
	rev, err := s.Jobs.Revision(ctx, head.Ref, head.Gap.Revision)
	if err != nil {
		return err
	}
	if err := s.Executions.PutRange(ctx, s.Zones.GapRecord(head, rev, s.Clock.Now())); err != nil {
		return err
	}
	if err := s.Jobs.CloseGap(ctx, head); err != nil && !errors.Is(err, job.ErrLost) {
		return err
	}
	head.NextFireAt, head.Gap = head.Gap.Then, nil
	return nil
}

// cleanUp withdraws what has not begun and what the claim rule now refuses.
func (s *Service) cleanUp(ctx context.Context, head *job.Head) error {
	waiting, err := s.Executions.NotBegun(ctx, head.Ref, head.SettledUpto)
	if err != nil {
		return err
	}
	carry := map[int]time.Time{}
	for i := range waiting {
		e := &waiting[i]
		if !e.Fenced() || e.Epoch >= head.Epoch {
			continue
		}
		until, known := carry[e.Revision]
		if !known && e.Epoch >= head.RunsFrom {
			if until, err = s.carryUntil(ctx, head.Ref, e.Revision); err != nil {
				return err
			}
			carry[e.Revision] = until
		}
		if lifecycle.MayBegin(head, e.Epoch, e.ScheduledAt, until) {
			continue
		}
		err := s.Executions.Close(ctx, e, lifecycle.WithdrawnBy(s.Clock.Now(), "control", voidedBy(head)))
		if err != nil && !errors.Is(err, job.ErrLost) {
			return err
		}
	}
	return nil
}

// voidedBy is why what has not begun is withdrawn: a job that is stopped says by
// what; of one that goes on, a newer life makes the same times again or not.
func voidedBy(head *job.Head) job.Reason {
	if head.State == job.Paused {
		return lifecycle.JobPaused
	}
	if head.State == job.Deleted {
		return lifecycle.JobDeleted
	}
	return lifecycle.Superseded
}

// carryUntil is the bound that the first edit after revision wrote; zero when
// there is none.
func (s *Service) carryUntil(ctx context.Context, ref job.Ref, revision int) (time.Time, error) {
	rev, err := s.Jobs.Revision(ctx, ref, revision+1)
	return rev.Carries(), err
}
