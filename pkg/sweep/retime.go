package sweep

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// verb is how a job's audit log names that its next time moved.
const verb = "tzdb"

// retime computes the next time of one job anew and writes it if it is another.
func (s *Service) retime(ctx context.Context, head *job.Head) (outcome, error) {
	now := s.Clock.Now().Truncate(time.Millisecond)
	switch {
	case !followsZone(head.Schedule) || head.StateAt(now) != job.Enabled:
		return outcome{}, nil // computed anew when it is resumed
	case head.Plan != nil || head.Gap != nil || head.Schema > job.Schema || now.Before(head.SwitchedAt):
		return outcome{left: 1}, nil
	}
	plan, err := s.Zones.OfHead(head, func() (*job.Revision, error) { return s.Jobs.Revision(ctx, head.Ref, head.Revision) })
	if err != nil && job.CodeOf(err).Class() != job.ClassRefused {
		return outcome{}, err
	}
	if err != nil {
		// The scan that finds it due disables it, with the reason.
		s.log().Warn("a job's schedule cannot be evaluated any more", slog.String("job", head.Ref.String()), slog.Any("error", err))
		return outcome{}, nil
	}
	if !head.SwitchAt.IsZero() {
		plan = plan.Upto(head.SwitchAt)
	}
	f := facts{head: head, plan: plan, last: head.LastScheduled, now: now}
	if head.LastScheduled.After(now) {
		if f.ahead, f.last, err = s.Executions.Ahead(ctx, head.Ref, now); err != nil {
			return outcome{}, err
		}
		f.ahead = before(f.ahead, head.NextFireAt)
	}
	j := judge(f)
	if !j.moved {
		return outcome{}, nil
	}
	if err := s.move(ctx, head, j, now); err != nil {
		return outcome{}, err
	}
	return outcome{changed: 1, withdrawn: s.withdraw(ctx, j, now)}, nil
}

// followsZone reports whether a schedule's times hang on a zone: that of its own wall
// clock, or that of a calendar that it keeps to.
func followsZone(s job.Schedule) bool { return s.Cron != "" || len(s.Include)+len(s.Exclude) > 0 }

// before leaves out what a scan that has not advanced yet has made.
func before(ahead []job.Execution, cursor time.Time) []job.Execution {
	for i := range ahead {
		if !cursor.IsZero() && !ahead[i].ScheduledAt.Before(cursor) {
			return ahead[:i]
		}
	}
	return ahead
}

// move writes the new cursor as an edit that leaves the definition alone.
func (s *Service) move(ctx context.Context, head *job.Head, j judgement, now time.Time) error {
	current, err := s.Jobs.Revision(ctx, head.Ref, head.Revision)
	if err != nil {
		return err
	}
	if current == nil {
		return &job.Error{Code: job.CodeInternal, Field: "revision", Message: "the job's revision is absent", Fix: "apply its definition again"}
	}
	next := *head
	next.Epoch++
	next.Revision++
	next.State = job.Enabled // UpdatedAt stays: no person's verb, and times since the last one still count
	next.NextFireAt, next.LastScheduled = j.cursor, j.last
	if j.cursor.IsZero() {
		next.State = job.Completed
	}
	if !j.cursor.IsZero() && !next.SettledUpto.Before(j.cursor) {
		next.SettledUpto = j.cursor.Add(-time.Second) // a look-back must see what is made there
	}
	again := *current
	again.Number, again.Epoch, again.CreatedAt, again.CreatedBy, again.TZDB, again.CarryUntil = next.Revision, next.Epoch, now, actor, s.Zones.Version(), j.carry
	err = s.Jobs.ChangeHead(ctx, job.HeadChange{Old: head, New: next, Revision: &again, Verb: verb, Actor: actor, At: now, AtCursor: true})
	if err == nil {
		s.log().Info("a job's next time moved with the time zone database", slog.String("job", head.Ref.String()), slog.String("zone", head.Schedule.Zone),
			slog.Time("from", head.NextFireAt), slog.Time("to", j.cursor), slog.String("tzdb", s.Zones.Version()))
	}
	return err
}

// withdraw tidies up what the claim would refuse: an error leaves it to that.
func (s *Service) withdraw(ctx context.Context, j judgement, now time.Time) (count int) {
	for _, e := range j.withdraw {
		if e.Status != job.Scheduled || e.Attempt > 0 {
			continue
		}
		switch err := s.Executions.Close(ctx, e, lifecycle.WithdrawnBy(now, actor, lifecycle.Superseded)); {
		case err == nil:
			count++
		case !errors.Is(err, job.ErrLost):
			s.log().Warn("an execution whose time is gone is left to its claim", slog.String("execution", e.ID()), slog.Any("error", err))
		}
	}
	return count
}
