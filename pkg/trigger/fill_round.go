package trigger

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// fillLooksBack is how long after the last time a backfill makes good again
// what a queue may have lost.
const fillLooksBack = 15 * time.Minute

// keep looks after the times behind the cursor until the executions there have
// begun. What a verb withdrew is made again: it took it off a job that was to
// stop, and the job goes on.
func (f *filling) keep(ctx context.Context, window []time.Time) error {
	settled := true
	cut := f.now.Add(-overdueAfter)
	for _, at := range window {
		d, err := f.judge(ctx, at, true)
		if err != nil {
			return err
		}
		switch d.Act {
		case lifecycle.Pass:
			if settled {
				f.next.Settled = at
			}
			continue
		case lifecycle.Wait:
			if d.Mine && len(f.lost) < mostResent && forgotten(d.Item, cut) {
				f.lost = append(f.lost, d.Item)
			}
		case lifecycle.Fill, lifecycle.Repeat:
			if f.mayMake() {
				if err := f.make(at, d); err != nil {
					return err
				}
			}
		}
		f.waiting++
		settled = false
	}
	return nil
}

// goOn takes the cursor over the times that come next, as far as the rate, the
// budget and what waits already allow.
func (f *filling) goOn(ctx context.Context, fresh []time.Time) error {
	settled := f.waiting == 0
	for i, at := range fresh {
		d, err := f.judge(ctx, at, false)
		if err != nil {
			return err
		}
		again := d.Act == lifecycle.Fill || d.Act == lifecycle.Repeat
		if again && (f.waiting >= mostWaiting || !f.mayMake()) {
			f.next.Cursor = at
			return nil
		}
		switch {
		case again:
			if err := f.make(at, d); err != nil {
				return err
			}
			f.next.Made++
		case d.Mine: // put by a scan that did not come to write so
			f.found(d)
			f.next.Made++
		default:
			f.next.Skipped++
		}
		if d.Act != lifecycle.Pass {
			f.waiting, settled = f.waiting+1, false
		}
		if settled {
			f.next.Settled = at
		}
		f.next.Cursor = f.after(fresh, i)
	}
	return nil
}

// found is what an earlier round put and did not write down: its message may never
// have been sent.
func (f *filling) found(d lifecycle.Filling) {
	if d.Act != lifecycle.Wait {
		return
	}
	f.sends = append(f.sends, d.Item)
	if next := d.Item.AvailableAt.Add(f.apart()); next.After(f.next.Paced) {
		f.next.Paced = next
	}
}

// after is the time that follows the i-th one; zero after the last of the range.
func (f *filling) after(fresh []time.Time, i int) time.Time {
	if i+1 < len(fresh) {
		return fresh[i+1]
	}
	next, ok := f.plan.Next(fresh[i])
	if !ok || next.After(f.seen.To) {
		return time.Time{}
	}
	return next
}

// pace is when the next execution may begin. What a scan missed is not made up
// for: the rate is a bound, not an average.
func (f *filling) pace() time.Time {
	if f.next.Paced.After(f.now) {
		return f.next.Paced
	}
	return f.now
}

// apart is the time between two executions.
func (f *filling) apart() time.Duration {
	return time.Duration(float64(time.Second) / f.seen.Rate)
}

// mayMake reports whether the rate and the budget allow one more in this round.
func (f *filling) mayMake() bool {
	return len(f.made) < f.budget && !f.pace().After(f.now.Add(Horizon))
}

// make readies the execution of one time under the job's current epoch: the
// backfill's revision, the time's own key, or a replay beside it.
func (f *filling) make(at time.Time, d lifecycle.Filling) error {
	definition := f.revision.Definition.WithDefaults()
	e := &job.Execution{Ref: f.seen.Ref, Key: job.ScheduledKey(at), Revision: f.seen.Revision, Epoch: f.head.Epoch, Status: job.Scheduled,
		Pool: definition.Pool, Type: definition.Type, Target: definition.Target.Kind(), CreatedAt: f.now, AvailableAt: f.pace(), Reason: f.seen.Reason,
		FencingToken: job.RestoreBase(f.RestoreEpoch), Backfill: f.seen.ID, Actor: f.seen.Actor, Schema: job.Schema}
	if d.Act == lifecycle.Repeat {
		key, err := job.ReplayKey(at, f.serial)
		if err != nil {
			return err
		}
		e.ReplayOf = job.ID(e.Job, e.Key, e.Revision)
		e.Key, e.FencingToken = key, max(e.FencingToken, d.Token)
	}
	f.made = append(f.made, e)
	f.next.Paced = f.pace().Add(f.apart())
	return nil
}

// put stores what was readied, several at a time. What is there already under
// the same epoch is sent; what has begun meanwhile is left to itself.
func (f *filling) put(ctx context.Context) error {
	errs := make([]error, len(f.made))
	sends := make([]*job.Execution, len(f.made))
	f.each(len(f.made), func(i int) {
		e := f.made[i]
		there, err := f.Executions.Put(ctx, e)
		switch {
		case err == nil:
			sends[i] = e
		case !errors.Is(err, job.ErrLost) || there == nil || there.Epoch > e.Epoch && there.Attempt == 0:
			errs[i] = err
		case there.Epoch == e.Epoch && there.Status == job.Scheduled && there.Attempt == 0:
			sends[i] = there
		}
	})
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, e := range sends {
		if e != nil {
			f.sends = append(f.sends, e)
		}
	}
	return nil
}

func (f *filling) sendAll(ctx context.Context) error {
	if len(f.lost) > 0 && f.now.Sub(f.seen.LookedBack) >= fillLooksBack {
		f.log().Warn("backfilled executions found without a message; sent again", slog.String("job", f.seen.Ref.String()), slog.Int("count", len(f.lost)))
		f.sends, f.next.LookedBack = append(f.sends, f.lost...), f.now
	}
	if len(f.sends) == 0 {
		return nil
	}
	err := errors.Join(f.Admission.Admit(ctx, f.sends)...)
	if f.Tracer != nil {
		for _, e := range f.made {
			f.Tracer.Materialised(ctx, e, f.now, err)
		}
	}
	return err
}

// save writes how far the round came, unless that is nowhere. A lost write is
// another scan's round; after a cancel, what this one has made is canceled too.
func (f *filling) save(ctx context.Context) error {
	b := &f.next
	switch {
	case b.Cursor.IsZero() && b.Settled.Equal(b.To):
		b.State, b.DoneAt, b.NextFireAt = job.BackfillDone, f.now, time.Time{}
	case b.Cursor.IsZero():
		b.NextFireAt = f.now.Add(Horizon).Truncate(time.Second) // each scan looks whether all has begun
	case f.pace().After(f.now.Add(Horizon)):
		b.NextFireAt = f.pace().Truncate(time.Second)
	default:
		b.NextFireAt = f.now.Truncate(time.Second)
	}
	same := *b
	same.NextFireAt = f.seen.NextFireAt
	if same == *f.seen {
		return nil
	}
	err := f.Backfills.SaveBackfill(ctx, job.BackfillChange{Old: f.seen, New: *b})
	if errors.Is(err, job.ErrLost) {
		f.tidyFilling(ctx)
	}
	return err
}

// tidyFilling cancels what this round put although the backfill was canceled
// meanwhile. It is mere tidiness: an error leaves up to one round that still runs.
func (f *filling) tidyFilling(ctx context.Context) {
	now, err := f.Backfills.Backfill(ctx, f.seen.Ref, f.seen.ID)
	if err != nil || now == nil || now.State != job.BackfillCanceled {
		return
	}
	for _, e := range f.made {
		_ = f.Executions.Close(ctx, e, lifecycle.CanceledBy(f.now, now.EndedBy)) // tidiness only
	}
}
