package trigger

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// catchUp deals with times that are later than the tolerance. Their fate
// depends on now, so it is first fixed in the head, then carried out, then
// cleared by the advance: two scanners with different clocks carry out one
// decision. It reports whether there was anything late.
func (w *work) catchUp(ctx context.Context) (bool, error) {
	fixed := w.head.Plan
	if fixed == nil {
		decided, err := w.decideLate(ctx)
		if err != nil || decided == nil {
			return false, err
		}
		if fixed, err = w.Cursors.WritePlan(ctx, w.head, decided); err != nil {
			return true, err
		}
	}
	if len(fixed.Missed) > 0 {
		if err := w.closeLate(ctx, fixed); err != nil {
			return true, err
		}
	}
	for _, part := range fixed.Missed {
		record := job.RangeRecord{Ref: w.head.Ref, Range: job.Range{From: part.From, To: part.To, Count: part.Count}, Revision: w.head.Revision,
			Epoch: w.head.Epoch, Pool: w.head.Pool, Status: job.Missed, Reason: part.Reason, At: w.Clock.Now()}
		if err := w.Executions.PutRange(ctx, record); err != nil {
			return true, err
		}
	}
	if err := w.fire(ctx, fixed); err != nil {
		return true, err
	}
	w.send(ctx, []*work{w})
	if w.err != nil {
		return true, w.err
	}
	return true, w.advanceOver(ctx, fixed.To)
}

// closeLate ends the executions of late times that the plan does not run: a
// scan may have put them before their message could be sent or the cursor moved.
// Left SCHEDULED they would be found by a look-back and run after all. One that
// begins meanwhile has begun, and its record leaves it out.
func (w *work) closeLate(ctx context.Context, plan *job.LatePlan) error {
	there, err := w.Executions.Unsettled(ctx, w.head.Ref, plan.From.Add(-time.Second), plan.To, true)
	if err != nil {
		return err
	}
	for i := range there {
		e := &there[i]
		if e.Kind != job.KindScheduled || e.Status != job.Scheduled || e.Attempt > 0 || e.Epoch > w.head.Epoch || plan.Why(e.ScheduledAt) == "" {
			continue
		}
		err := w.Executions.Close(ctx, e, lifecycle.MissedBy(w.Clock.Now(), "scan", plan.Why(e.ScheduledAt)))
		if err != nil && !errors.Is(err, job.ErrLost) {
			return err
		}
	}
	return nil
}

// fire makes the executions of the late times that run, several at a time.
func (w *work) fire(ctx context.Context, plan *job.LatePlan) error {
	if plan.FireFrom.IsZero() {
		return nil
	}
	if w.head.Misfire.Rate > 0 && plan.Covers.IsZero() {
		return w.drain(ctx, plan)
	}
	times := w.plan.Between(plan.FireFrom.Add(-time.Second), plan.To, 0)
	puts := make([]*work, len(times))
	w.each(len(times), func(i int) {
		own := *w
		own.made, own.sends = nil, nil
		own.err = own.putOne(ctx, times[i], lifecycle.CaughtUp, plan.Covers)
		puts[i] = &own
	})
	for _, own := range puts {
		if own.err != nil {
			return own.err
		}
		w.made, w.sends = append(w.made, own.made...), append(w.sends, own.sends...)
	}
	return nil
}

// drain leaves the late times that run to a backfill, which makes them at the
// misfire policy's rate, oldest first: the job's own cursor goes on to what is on
// time. Its id follows from the plan, so that every scanner of the plan makes the same.
func (w *work) drain(ctx context.Context, plan *job.LatePlan) error {
	times := w.plan.Between(plan.FireFrom.Add(-time.Second), plan.To, 0)
	if len(times) == 0 {
		return nil
	}
	now := w.Clock.Now().Truncate(time.Millisecond)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %d", w.head.Ref, w.head.Epoch, plan.From.Unix(), plan.To.Unix()))
	var id ulid.ULID
	if err := errors.Join(id.SetTime(ulid.Timestamp(plan.To)), id.SetEntropy(sum[:10])); err != nil {
		return err
	}
	b := job.Backfill{Ref: w.head.Ref, ID: id.String(), State: job.BackfillRunning, From: times[0], To: times[len(times)-1], Total: len(times), Revision: w.head.Revision,
		Rate: w.head.Misfire.Rate, Reason: lifecycle.CaughtUp, Cursor: times[0], CreatedAt: now, NextFireAt: now.Truncate(time.Second), Schema: job.Schema}
	if err := w.Backfills.SaveBackfill(ctx, job.BackfillChange{New: b}); err != nil {
		return err
	}
	w.drains = append(w.drains, job.Due{Ref: b.Ref, Backfill: b.ID, At: b.NextFireAt})
	return nil
}

// decideLate is the misfire decision as of now; nil when nothing is late.
func (w *work) decideLate(ctx context.Context) (*job.LatePlan, error) {
	// How late a time is, and how old, counts from when it is due.
	late := schedule.PlanLate(w.plan, w.head.NextFireAt.Add(-time.Second), w.now.Add(-w.slot()), w.head.Misfire)
	if late.Missed.Count == 0 {
		return nil, nil
	}
	decided := &job.LatePlan{From: late.Missed.First, To: late.Missed.Last}
	missed, reason := late.Missed.Count-len(late.Fire), lifecycle.Misfire
	if len(late.Fire) > 0 {
		decided.FireFrom = late.Fire[0]
	}
	if late.Coalesced.Count > 0 {
		covers, err := w.covers(ctx, late.Coalesced.First)
		if err != nil {
			return nil, err
		}
		decided.Covers = covers
		if older := late.Missed.Count - late.Coalesced.Count; older > 0 {
			before, _ := w.plan.Prev(late.Coalesced.First)
			decided.Missed = append(decided.Missed, job.LatePart{From: late.Missed.First, To: before, Count: older, Reason: lifecycle.Misfire})
		}
		missed, reason = late.Coalesced.Count-1, lifecycle.Coalesced
	}
	if missed > 0 {
		part := job.LatePart{From: late.Missed.First, To: late.Missed.Last, Count: missed, Reason: reason}
		if late.Coalesced.Count > 0 {
			part.From = late.Coalesced.First
		}
		if !decided.FireFrom.IsZero() {
			part.To, _ = w.plan.Prev(decided.FireFrom)
		}
		decided.Missed = append(decided.Missed, part)
	}
	return decided, nil
}

// covers is where the data interval of an execution begins that stands for the
// late times from first on: where that of the last one that succeeded ended, so
// that no data is left out; without any, at the time before first.
func (w *work) covers(ctx context.Context, first time.Time) (time.Time, error) {
	succeeded, err := w.Executions.LastSucceeded(ctx, w.head.Ref, first)
	if err != nil || !succeeded.IsZero() {
		return succeeded, err
	}
	before, _ := w.plan.Prev(first)
	return before, nil
}

// errStandsStill says that a stored decision ends before the cursor it was made at.
var errStandsStill = errors.New("a misfire decision that does not move the cursor")

// advanceOver moves the cursor past a plan that was carried out and readies
// the work for what follows it.
func (w *work) advanceOver(ctx context.Context, to time.Time) error {
	next, ok := w.plan.Next(to)
	if !ok {
		next = w.head.AfterSwitch()
	}
	if !next.IsZero() && !next.After(w.head.NextFireAt) {
		return errStandsStill // or this scan would decide about the same times for ever
	}
	if err := w.Cursors.Advance(ctx, job.Advance{Head: w.head, Next: next, Last: to, Planned: true}); err != nil {
		return err
	}
	moved := *w.head
	moved.NextFireAt, moved.LastScheduled, moved.Plan, moved.Advances = next, to, nil, w.head.Advances+1
	w.head, w.made, w.sends, w.late = &moved, nil, nil, true
	return nil
}

// closeGap records the times that a verb passed over and takes the gap out of
// the head.
func (w *work) closeGap(ctx context.Context) error {
	gap := w.head.Gap
	rev, err := w.Definitions.Revision(ctx, w.head.Ref, gap.Revision)
	if err != nil {
		return err
	}
	if err := w.Executions.PutRange(ctx, w.Zones.GapRecord(w.head, rev, w.Clock.Now())); err != nil {
		return err
	}
	if err := w.Cursors.CloseGap(ctx, w.head); err != nil {
		return err
	}
	closed := *w.head
	closed.NextFireAt, closed.Gap = gap.Then, nil
	w.head = &closed
	return nil
}
