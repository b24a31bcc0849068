package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// Backfills is what the control plane needs of stored backfills.
type Backfills interface {
	// Backfill reads one backfill strongly; nil when it is absent.
	Backfill(ctx context.Context, ref job.Ref, id string) (*job.Backfill, error)
	// Backfills pages through a job's backfills, newest first.
	Backfills(ctx context.Context, ref job.Ref, cursor string, limit int) ([]job.Backfill, string, error)
	// ChangeBackfill writes one; job.ErrLost when it has changed.
	ChangeBackfill(ctx context.Context, c job.BackfillChange) error
	// InRange strongly reads a job's executions and records in [from, upto] until
	// visit returns false.
	InRange(ctx context.Context, ref job.Ref, from, upto time.Time, visit func(*job.Execution) bool) error
}

// Filler works a backfill off as a scan would. The trigger plane satisfies it.
type Filler interface {
	// Fill makes what the backfill's rate allows now; nil also when a scan came first.
	Fill(ctx context.Context, ref job.Ref, id string) error
}

// BackfillRequest asks for the executions of scheduled times that have passed.
type BackfillRequest struct {
	Ref      job.Ref
	From, To time.Time // both included; To zero = up to now
	Rate     float64   // executions a second; 0 = job.DefaultBackfillRate
	Rerun    bool      // also times that have an execution which has ended
	Force    bool      // also times whose history is no longer kept
	DryRun   bool      // only say what would happen
	Actor    string
}

// BackfillResult tells what a backfill does, or would do.
type BackfillResult struct {
	Backfill job.Backfill // in a dry run without an id
	There    int          // times of it that have an execution, and are passed over
	Job      job.State    // unless ENABLED or COMPLETED it waits until the job goes on
}

// Backfill makes the executions of scheduled times that have passed, under the
// job's current revision. They are made at a rate by the scan; the first ones at once.
func (s *Service) Backfill(ctx context.Context, r BackfillRequest) (BackfillResult, error) {
	if err := s.Jobs.Restored(ctx); err != nil {
		return BackfillResult{}, err
	}
	head, err := s.Jobs.Head(ctx, r.Ref)
	if err != nil {
		return BackfillResult{}, err
	}
	if head == nil || head.State == job.Deleted {
		return BackfillResult{}, notFound(r.Ref)
	}
	now := s.Clock.Now().Truncate(time.Millisecond)
	revision, err := s.Jobs.Revision(ctx, r.Ref, head.RevisionAt(now))
	if err != nil || revision == nil {
		return BackfillResult{}, cmp.Or(err, missingRevision())
	}
	b, plan, err := s.planBackfill(r, head, revision, now)
	if err != nil {
		return BackfillResult{}, err
	}
	result := BackfillResult{Backfill: *b, Job: head.StateAt(now)}
	if r.DryRun {
		result.There, err = s.countThere(ctx, b, head, plan, now)
		return result, err
	}
	serial, err := ulid.New(ulid.Timestamp(now), s.Entropy)
	if err != nil {
		return BackfillResult{}, err
	}
	b.ID = serial.String()
	if err := s.Backfills.ChangeBackfill(ctx, job.BackfillChange{New: *b, Audit: auditOf(b, head, "backfill", r.Actor, now)}); err != nil {
		return BackfillResult{}, err
	}
	if err := s.Filler.Fill(ctx, b.Ref, b.ID); err != nil {
		return BackfillResult{}, err
	}
	stored, err := s.Backfills.Backfill(ctx, b.Ref, b.ID)
	if err != nil || stored == nil {
		return BackfillResult{}, err
	}
	result.Backfill = *stored
	return result, nil
}

func missingRevision() error {
	return &job.Error{Code: job.CodeUnavailable, Field: "revision", Message: "the job's revision is not there", Fix: "try again"}
}

func auditOf(b *job.Backfill, head *job.Head, verb, actor string, at time.Time) *job.Audit {
	return &job.Audit{At: at, Ref: b.Ref, Verb: verb, Actor: actor, Epoch: head.Epoch, Revision: b.Revision}
}

// planBackfill refuses what cannot be made and readies what can.
func (s *Service) planBackfill(r BackfillRequest, head *job.Head, revision *job.Revision, now time.Time) (*job.Backfill, *schedule.Plan, error) {
	if r.To.IsZero() {
		r.To = now
	}
	if r.Rate == 0 {
		r.Rate = job.DefaultBackfillRate
	}
	if err := checkBackfill(r, now); err != nil {
		return nil, nil, err
	}
	plan, err := s.Zones.OfRevision(revision)
	if err != nil {
		return nil, nil, err
	}
	upto := r.To
	if head.State == job.Enabled && !head.NextFireAt.IsZero() && !head.NextFireAt.After(upto) {
		upto = head.NextFireAt.Add(-time.Second) // from its cursor on times are the job's own
	}
	span := plan.Span(r.From, upto)
	switch {
	case span.Count == 0:
		return nil, nil, noTimes(r, plan, upto)
	case span.Count > job.MaxBackfill:
		fits := plan.Between(span.First.Add(-time.Second), upto, job.MaxBackfill)
		return nil, nil, &job.Error{Code: job.CodeTooLarge, Field: "to", Value: strconv.Itoa(span.Count) + " times", Bound: strconv.Itoa(job.MaxBackfill) + " times",
			Message: fmt.Sprintf("the range has %d scheduled times, more than one backfill may have", span.Count),
			Fix:     "end it at " + fits[len(fits)-1].Format(time.RFC3339) + " and make another one for the rest"}
	}
	b := &job.Backfill{Ref: r.Ref, State: job.BackfillRunning, From: span.First, To: span.Last, Total: span.Count, Revision: revision.Number, Rate: r.Rate, Rerun: r.Rerun,
		Reason: lifecycle.Backfilled, Actor: r.Actor, Cursor: span.First, CreatedAt: now, NextFireAt: now.Truncate(time.Second), Schema: job.Schema}
	if !r.Force {
		b.Kept = job.Duration(s.Retention)
		if err := s.checkKept(b, now); err != nil {
			return nil, nil, err
		}
	}
	return b, plan, nil
}

// checkBackfill refuses what is wrong whatever the job's schedule is.
func checkBackfill(r BackfillRequest, now time.Time) error {
	refuse := func(field, value, bound, message, fix string) error {
		return &job.Error{Code: job.CodeInvalid, Field: field, Value: value, Bound: bound, Message: message, Fix: fix}
	}
	switch {
	case r.From.IsZero():
		return refuse("from", "", "an RFC 3339 time", "a backfill needs the time that it begins at", "give from, such as "+now.Add(-24*time.Hour).Format(time.RFC3339))
	case r.From.After(now):
		return refuse("from", r.From.Format(time.RFC3339), "not after "+now.Format(time.RFC3339), "times that have not come are the job's own", "begin at a time that has passed")
	case r.To.Before(r.From):
		return refuse("to", r.To.Format(time.RFC3339), "not before from", "the backfill ends before it begins", "swap from and to")
	case r.To.After(now):
		return refuse("to", r.To.Format(time.RFC3339), "not after "+now.Format(time.RFC3339), "times that have not come are the job's own", "end it now at the latest, or leave to out")
	case !(r.Rate >= job.MinRate && r.Rate <= job.MaxRate): // refuses what is no number, too
		return refuse("rate", strconv.FormatFloat(r.Rate, 'g', -1, 64), fmt.Sprintf("%v to %v", job.MinRate, job.MaxRate), "the rate is out of bounds, in executions a second",
			fmt.Sprintf("choose %v to %v; leave it out for %v", job.MinRate, job.MaxRate, job.DefaultBackfillRate))
	}
	return nil
}

// noTimes tells where the nearest times are.
func noTimes(r BackfillRequest, plan *schedule.Plan, upto time.Time) error {
	near := "the schedule has no time before that"
	if before, ok := plan.Prev(r.From); ok {
		near = "the time before is " + before.Format(time.RFC3339)
	}
	if next, ok := plan.Next(upto); ok {
		near += ", the next one " + next.Format(time.RFC3339)
	}
	return &job.Error{Code: job.CodeInvalid, Field: "from", Value: r.From.Format(time.RFC3339) + " to " + r.To.Format(time.RFC3339),
		Message: "the schedule has no time in this range that has passed", Fix: "choose another range: " + near}
}

// checkKept refuses times of which nothing will be known by the time that the
// backfill comes to them: they may have run.
func (s *Service) checkKept(b *job.Backfill, now time.Time) error {
	whole := time.Duration(float64(b.Total) / b.Rate * float64(time.Second))
	oldest := now.Add(whole - s.Retention)
	if !b.From.Before(oldest) {
		return nil
	}
	return &job.Error{Code: job.CodeInvalid, Field: "from", Value: b.From.Format(time.RFC3339), Bound: "not before " + oldest.UTC().Truncate(time.Second).Add(time.Second).Format(time.RFC3339),
		Message: fmt.Sprintf("executions are kept for %s, so of some times in the range it is not known whether they ran (it takes %s at this rate)", job.Duration(s.Retention), whole.Round(time.Second)),
		Fix:     "begin later, or force it: times of which nothing is known are then made, and may run a second time"}
}

// countThere counts the times that have an execution.
func (s *Service) countThere(ctx context.Context, b *job.Backfill, head *job.Head, plan *schedule.Plan, now time.Time) (int, error) {
	there := map[int64]*lifecycle.Standing{}
	err := s.Backfills.InRange(ctx, b.Ref, b.From, b.To, func(e *job.Execution) bool {
		at := e.ScheduledAt.Unix()
		if there[at] == nil {
			there[at] = &lifecycle.Standing{}
		}
		if e.Kind == job.KindScheduled {
			there[at].Own = e
		} else if e.Kind == job.KindReplay && e.Stands() == job.ScheduledKey(e.ScheduledAt) {
			there[at].Others = append(there[at].Others, e)
		}
		return true
	})
	count := 0
	for at, standing := range there {
		moment := time.Unix(at, 0).UTC()
		if next, ok := plan.Next(moment.Add(-time.Second)); !ok || !next.Equal(moment) {
			continue // such as a manual run between two times
		}
		d := lifecycle.DecideFill(lifecycle.FillFacts{Standing: *standing, Backfill: b, Head: head, At: moment, Now: now,
			Begins: func(*job.Execution) bool { return true }})
		if d.Act == lifecycle.Pass || d.Act == lifecycle.Wait {
			count++
		}
	}
	return count, err
}

// GetBackfill reads one backfill.
func (s *Service) GetBackfill(ctx context.Context, ref job.Ref, id string) (*job.Backfill, error) {
	b, err := s.Backfills.Backfill(ctx, ref, id)
	if err == nil && b == nil {
		err = &job.Error{Code: job.CodeNotFound, Field: "backfill", Value: job.Shorten(id), Message: "job \"" + job.Shorten(ref.Job) + "\" has no such backfill",
			Fix: "list them with: belfry backfill list " + job.Shorten(ref.Job)}
	}
	return b, err
}

// ListBackfills pages through a job's backfills, newest first; those of its
// misfire policy are among them. A job that was never made is not found.
func (s *Service) ListBackfills(ctx context.Context, ref job.Ref, cursor string, limit int) ([]job.Backfill, string, error) {
	found, next, err := s.Backfills.Backfills(ctx, ref, cursor, limit)
	if err == nil && len(found) == 0 && cursor == "" {
		head, headErr := s.Jobs.Head(ctx, ref)
		if headErr == nil && head == nil {
			headErr = notFound(ref)
		}
		err = headErr
	}
	return found, next, err
}

// CancelBackfill stops a backfill and cancels what it made that has not begun;
// what runs goes on. Canceling a canceled one repeats that; one that is done is a conflict.
func (s *Service) CancelBackfill(ctx context.Context, ref job.Ref, id, actor string) (*job.Backfill, error) {
	for try := 0; ; try++ {
		b, err := s.GetBackfill(ctx, ref, id)
		if err != nil {
			return nil, err
		}
		if b.State == job.BackfillDone {
			return nil, &job.Error{Code: job.CodeStateConflict, Field: "state", Value: string(b.State), Message: "the backfill is done and cannot be canceled",
				Fix: "cancel single executions that still run"}
		}
		if b.State == job.BackfillRunning {
			err = s.markCanceled(ctx, b, actor)
		}
		if errors.Is(err, job.ErrLost) && try < maxTries {
			continue
		}
		if err == nil {
			err = s.cancelMade(ctx, b, actor)
		}
		if err != nil {
			return nil, err
		}
		return s.GetBackfill(ctx, ref, id)
	}
}

func (s *Service) markCanceled(ctx context.Context, b *job.Backfill, actor string) error {
	if err := s.Jobs.Restored(ctx); err != nil {
		return err
	}
	head, err := s.Jobs.Head(ctx, b.Ref)
	if err != nil || head == nil {
		return err
	}
	now := s.Clock.Now().Truncate(time.Millisecond)
	next := *b
	next.State, next.DoneAt, next.EndReason, next.EndedBy = job.BackfillCanceled, now, lifecycle.CancelRequested, actor
	return s.Backfills.ChangeBackfill(ctx, job.BackfillChange{Old: b, New: next, Audit: auditOf(b, head, "cancel backfill", actor, now)})
}

// cancelMade cancels what a backfill made and nothing has begun.
func (s *Service) cancelMade(ctx context.Context, b *job.Backfill, actor string) error {
	from, upto := b.From, b.To
	if !b.Settled.IsZero() {
		from = b.Settled.Add(time.Second)
	}
	var waiting []job.Execution
	err := s.Backfills.InRange(ctx, b.Ref, from, upto, func(e *job.Execution) bool {
		if e.Backfill == b.ID && e.Status == job.Scheduled && e.Attempt == 0 {
			waiting = append(waiting, *e)
		}
		return true
	})
	if err != nil {
		return err
	}
	for i := range waiting {
		err := s.Executions.Close(ctx, &waiting[i], lifecycle.CanceledBy(s.Clock.Now(), actor))
		if err != nil && !errors.Is(err, job.ErrLost) {
			return err
		}
	}
	return nil
}
