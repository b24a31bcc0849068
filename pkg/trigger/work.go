package trigger

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// lookBackEvery is how many advances of a job lie between two look-backs.
const lookBackEvery = 16

// work is one job on its way through a scan: the times up to the horizon, the
// executions made for them, and what is to be sent before the cursor moves.
type work struct {
	*Service
	head  *job.Head
	now   time.Time
	upto  time.Time
	plan  *schedule.Plan
	made  []*job.Execution // put by this work
	sends []*job.Execution // made, or found not begun under the same epoch
	last  time.Time        // last scheduled time covered
	next  time.Time        // cursor after it; zero = none
	moved bool             // there is something to advance over
	late  bool             // this work has carried out a plan
	err   error

	drains []job.Due // backfills that work a plan's times off at a rate
}

func (s *Service) newWork(head *job.Head) *work {
	now := s.Clock.Now()
	return &work{Service: s, head: head, now: now, upto: now.Add(Horizon)}
}

// slot is how long after its scheduled times the job is due. Executions are made
// the horizon ahead of the scheduled time all the same, so that verbs meet them and
// people see them: only their message waits longer.
func (w *work) slot() time.Duration { return schedule.Slot(w.head.Schedule.Jitter, w.head.Ref) }

// fail keeps the first error.
func (w *work) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// put brings the job to its ordinary path (no gap, no late times) and makes
// the executions of all times up to the horizon.
func (w *work) put(ctx context.Context) error {
	for {
		switch {
		case w.head.NextFireAt.IsZero() || w.head.NextFireAt.After(w.upto):
			return nil // a stale index entry, or nothing more inside the horizon
		case w.head.Schema > job.Schema:
			return nil // what this build does not know is no reason to break it: a newer scanner comes
		case w.head.Gap != nil:
			if err := w.closeGap(ctx); err != nil {
				return err
			}
			continue
		case w.head.State != job.Enabled:
			return nil
		}
		if !w.head.SwitchAt.IsZero() && w.head.NextFireAt.After(w.head.SwitchAt) {
			if err := w.switchOver(ctx); err != nil {
				return err
			}
			continue
		}
		if stopped, err := w.suspend(ctx); stopped || err != nil {
			if err != nil || w.head.Gap == nil {
				return err
			}
			continue
		}
		if err := w.compile(ctx); err != nil || w.plan == nil {
			return err
		}
		late, err := w.catchUp(ctx)
		if err != nil {
			return err
		}
		if !late {
			break
		}
	}
	t, ok := w.plan.Next(w.head.NextFireAt.Add(-time.Second))
	for ; ok && !t.After(w.upto); t, ok = w.plan.Next(t) {
		if w.Clock.Now().Sub(t.Add(w.slot())) > w.head.Misfire.Tolerance.Std() {
			return job.ErrLost // this scan was slow: the time is late by now, and that is for the misfire policy
		}
		if err := w.putOne(ctx, t, lifecycle.Materialised, time.Time{}); err != nil {
			return err
		}
		w.last = t
	}
	w.moved = true
	if w.next = t; !ok {
		w.next = w.head.AfterSwitch()
	}
	if w.last.IsZero() {
		// The schedule no longer has the time in the cursor, as after a change of
		// the time zone database: move on to the time that it has.
		w.last = w.head.LastScheduled
	}
	return nil
}

// compile readies the schedule. One that is broken in itself disables the job
// with a reason; the error is then nil and the plan too.
func (w *work) compile(ctx context.Context) error {
	if w.plan != nil {
		return nil
	}
	plan, err := w.Zones.OfHead(w.head, func() (*job.Revision, error) { return w.Definitions.Revision(ctx, w.head.Ref, w.head.Revision) })
	if err == nil {
		w.plan = plan
		if !w.head.SwitchAt.IsZero() {
			w.plan = plan.Upto(w.head.SwitchAt)
		}
		return nil
	}
	if job.CodeOf(err).Class() != job.ClassRefused {
		return err // its calendars could not be read: no reason to break it
	}
	reason := lifecycle.ScheduleInvalid
	if job.CodeOf(err) == job.CodeZoneUnknown {
		reason = lifecycle.ZoneGone
	}
	w.log().Error("job disabled: its schedule cannot be evaluated", slog.String("job", w.head.Ref.String()), slog.String("reason", string(reason)), slog.Any("error", err))
	return w.Cursors.Break(ctx, w.head, reason)
}

// putOne makes the execution of one scheduled time, or finds it. covers is where
// its data interval begins, when that is not the time before.
func (w *work) putOne(ctx context.Context, at time.Time, reason job.Reason, covers time.Time) error {
	e := &job.Execution{Ref: w.head.Ref, Key: job.ScheduledKey(at), Revision: w.head.Revision, Epoch: w.head.Epoch, Status: job.Scheduled,
		Pool: w.head.Pool, Type: w.head.Type, Target: w.head.Target, CreatedAt: w.Clock.Now(), AvailableAt: at.Add(w.slot()), Slot: w.slot(), Reason: reason, Covers: covers,
		FencingToken: job.RestoreBase(w.RestoreEpoch), Schema: job.Schema}
	there, err := w.Executions.Put(ctx, e)
	switch {
	case err == nil:
		w.made, w.sends = append(w.made, e), append(w.sends, e)
	case !errors.Is(err, job.ErrLost):
		return err
	case there == nil:
		return job.ErrLost
	case there.Epoch > e.Epoch && there.Attempt == 0:
		// A newer life of the job made it: this head is out of date.
		return job.ErrLost
	case there.Epoch == e.Epoch && there.Status == job.Scheduled && there.Attempt == 0:
		// It exists and has not begun: its message may never have been sent.
		w.sends = append(w.sends, there)
	}
	return nil
}

// advance moves the cursor over what was put and sent. A lost advance leaves
// executions that another life of the job may not want: those go.
func (w *work) advance(ctx context.Context) error {
	if w.err != nil || !w.moved {
		if errors.Is(w.err, job.ErrLost) {
			w.tidy(ctx)
		}
		return nil
	}
	a := job.Advance{Head: w.head, Next: w.next, Last: w.last}
	// A look-back reads what is long past, and so need not read strongly; what a
	// plan has just made is long past too, and may not be seen yet.
	if (w.head.Advances+1)%lookBackEvery == 0 && !w.late {
		settled, err := w.lookBack(ctx)
		if err != nil {
			return err
		}
		a.SettledUpto = settled
	}
	err := w.Cursors.Advance(ctx, a)
	if errors.Is(err, job.ErrLost) {
		w.tidy(ctx)
	}
	return err
}

// tidy withdraws what this work made and what the claim rule refuses, on a
// strongly read head. It is mere tidiness: an error leaves it to the claim.
func (w *work) tidy(ctx context.Context) {
	if len(w.made) == 0 {
		return
	}
	head, err := w.Definitions.Head(ctx, w.head.Ref)
	if err != nil || head == nil || head.Epoch == w.head.Epoch {
		return
	}
	later, err := w.Definitions.Revision(ctx, w.head.Ref, w.head.Revision+1)
	if err != nil {
		return
	}
	for _, e := range w.made {
		if !lifecycle.MayBegin(head, e.Epoch, e.ScheduledAt, later.Carries()) {
			_ = w.Executions.Close(ctx, e, lifecycle.WithdrawnBy(w.Clock.Now(), "scan", lifecycle.Superseded)) // tidiness only
		}
	}
}
