package restore

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// verb is how a job's audit log names the repair.
const verb = "restore"

// liftPage lifts one page of heads.
func (s *Service) liftPage(ctx context.Context, p job.Part, actor string) (next string, did counts, err error) {
	heads, next, err := s.Jobs.EveryHead(ctx, p, page)
	if err != nil {
		return "", did, err
	}
	var mu sync.Mutex
	err = each(len(heads), func(i int) error {
		setBack, err := s.lift(ctx, heads[i], actor)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case errors.Is(err, errLifted):
			return nil
		case err != nil:
			return err
		}
		did.lifted++
		if setBack {
			did.setBack++
		}
		return nil
	})
	did.jobs = len(heads)
	return next, did, err
}

// errLifted says that a head was lifted before.
var errLifted = errors.New("lifted already")

// lift raises a head above everything that was given out before the restore.
// What has not begun under an older epoch begins no more: what was wanted has been
// given the new one.
func (s *Service) lift(ctx context.Context, head *job.Head, actor string) (setBack bool, err error) {
	switch {
	case head.Epoch >= s.base():
		return false, errLifted
	case head.Schema > job.Schema:
		return false, &job.Error{Code: job.CodeStateConflict, Field: "job", Value: head.Job, Message: "the job was written by a newer version of Belfry",
			Fix: "deploy that version, then repeat"}
	}
	next := *head
	next.Epoch, next.RunsFrom, next.LostRevision = s.lifted(), s.lifted(), 0
	now := s.Clock.Now().Truncate(time.Millisecond)
	if setBack, err = s.setBack(ctx, head, &next); err != nil {
		return false, err
	}
	change := job.HeadChange{Old: head, Verb: verb, Actor: actor, At: now}
	if head.LostRevision > head.Revision {
		if change.Revision, err = s.skipLost(ctx, head, &next, actor, now); err != nil {
			return false, err
		}
	}
	change.New = next
	err = s.Jobs.ChangeHead(ctx, change)
	if errors.Is(err, job.ErrLost) {
		return false, errLifted
	}
	return setBack, err
}

// skipLost gives the current definition a number above every one that an edit
// of the lost minute had: a number names one definition for ever.
func (s *Service) skipLost(ctx context.Context, head, next *job.Head, actor string, now time.Time) (*job.Revision, error) {
	current, err := s.Jobs.Revision(ctx, head.Ref, head.Revision)
	if err != nil || current == nil {
		return nil, err
	}
	again := *current
	again.Number, again.Epoch, again.CreatedAt, again.CreatedBy, again.CarryUntil = head.LostRevision+1, next.Epoch, now, actor, time.Time{}
	next.Revision = again.Number
	return &again, nil
}

const (
	// certain is for how long an execution is there in any case: the shortest
	// retention that an installation may have.
	certain = 24 * time.Hour
	// untidy is how much later than said the table may remove what has expired, and
	// in no particular order.
	untidy = 72 * time.Hour
)

// setBack moves the cursor of a head that has run ahead of its executions, which
// happens when the tables were restored to other instants than the documented
// ones: the last time that it went over must have left an execution or a record.
// Times before the last verb or switch-over have their dispositions from that.
func (s *Service) setBack(ctx context.Context, head, next *job.Head) (bool, error) {
	last, floor := head.LastScheduled, later(head.UpdatedAt, head.SwitchedAt)
	enabled := head.State == job.Enabled || head.State == job.Completed
	if !enabled || head.Plan != nil || head.Gap != nil || !last.After(floor) || !last.After(s.Clock.Now().Add(untidy-s.Kept)) {
		return false, nil
	}
	plan, err := s.planOf(ctx, head)
	if err != nil && job.CodeOf(err).Class() != job.ClassRefused {
		return false, err
	}
	if err != nil {
		return false, nil //nolint:nilerr // the scan disables this job with its reason
	}
	reached, err := s.reached(ctx, head.Ref, last, floor)
	if err != nil || !reached.Before(last) {
		return false, err
	}
	// With nothing older either they may all have expired under a shorter retention.
	if reached.Equal(floor) && !last.After(s.Clock.Now().Add(-certain)) {
		return false, nil
	}
	if !head.SwitchAt.IsZero() {
		plan = plan.Upto(head.SwitchAt)
	}
	cursor, ok := plan.Next(reached)
	if !ok || !head.NextFireAt.IsZero() && !cursor.Before(head.NextFireAt) {
		return false, nil
	}
	s.log().Warn("cursor set back: it stood ahead of the restored executions", slog.String("job", head.Ref.String()),
		slog.Time("from", head.NextFireAt), slog.Time("to", cursor))
	next.State, next.NextFireAt, next.LastScheduled = job.Enabled, cursor, time.Time{}
	if reached.After(floor) {
		next.LastScheduled = reached
	}
	return true, nil
}

// planOf is the plan of a head, under the calendars that its revision pinned.
func (s *Service) planOf(ctx context.Context, head *job.Head) (*schedule.Plan, error) {
	return schedule.OfHead(head, func() (*job.Revision, error) { return s.Jobs.Revision(ctx, head.Ref, head.Revision) })
}

// reached is the latest scheduled time up to last that has an execution or a
// record; not before.
func (s *Service) reached(ctx context.Context, ref job.Ref, last, floor time.Time) (time.Time, error) {
	there, err := s.Executions.Execution(ctx, ref, job.ScheduledKey(last))
	if err != nil || there != nil {
		return last, err
	}
	q := job.ExecutionQuery{Ref: ref, Before: last, Limit: page}
	for {
		found, cursor, err := s.Executions.ListExecutions(ctx, q)
		if err != nil {
			return time.Time{}, err
		}
		for i := range found {
			e := &found[i]
			switch {
			case !e.ScheduledAt.After(floor):
				return floor, nil
			case e.Range != nil:
				return e.Range.To, nil
			case e.Kind == job.KindScheduled:
				return e.ScheduledAt, nil
			}
		}
		if cursor == "" {
			return floor, nil
		}
		q.Cursor = cursor
	}
}
