package trigger

import (
	"context"
	"errors"
	"slices"
	"time"

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
		decided := w.decideLate()
		if decided == nil {
			return false, nil
		}
		var err error
		if fixed, err = w.Cursors.WritePlan(ctx, w.head, decided); err != nil {
			return true, err
		}
	}
	if missed := fixed.Count - len(fixed.Fire); missed > 0 {
		if err := w.closeLate(ctx, fixed); err != nil {
			return true, err
		}
		record := job.RangeRecord{Ref: w.head.Ref, Range: job.Range{From: fixed.From, To: fixed.To, Count: missed}, Fired: fixed.Fire, Revision: w.head.Revision,
			Epoch: w.head.Epoch, Pool: w.head.Pool, Status: job.Missed, Reason: lifecycle.Misfire, At: w.Clock.Now()}
		if err := w.Executions.PutRange(ctx, record); err != nil {
			return true, err
		}
	}
	for _, at := range fixed.Fire {
		if err := w.putOne(ctx, at, lifecycle.CaughtUp); err != nil {
			return true, err
		}
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
		runs := slices.ContainsFunc(plan.Fire, e.ScheduledAt.Equal)
		if e.Kind != job.KindScheduled || e.Status != job.Scheduled || e.Attempt > 0 || e.Epoch > w.head.Epoch || runs {
			continue
		}
		err := w.Executions.Close(ctx, e, lifecycle.MissedBy(w.Clock.Now(), "scan", lifecycle.Misfire))
		if err != nil && !errors.Is(err, job.ErrLost) {
			return err
		}
	}
	return nil
}

// decideLate is the misfire decision as of now; nil when nothing is late.
func (w *work) decideLate() *job.LatePlan {
	late := schedule.PlanLate(w.plan, w.head.NextFireAt.Add(-time.Second), w.now, w.head.Misfire)
	if late.Missed.Count == 0 {
		return nil
	}
	return &job.LatePlan{From: late.Missed.First, To: late.Missed.Last, Count: late.Missed.Count, Fire: late.Fire}
}

// advanceOver moves the cursor past a plan that was carried out and readies
// the work for what follows it.
func (w *work) advanceOver(ctx context.Context, to time.Time) error {
	next, _ := w.plan.Next(to)
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
	if err := w.Executions.PutRange(ctx, schedule.GapRecord(w.head, rev, w.Clock.Now())); err != nil {
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
