package trigger_test

import (
	"slices"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

func TestWhatIsLateIsDecidedByTheMisfirePolicy(t *testing.T) {
	// The scheduler is down from 00:00 to 01:00:30; the job is due each ten minutes from 00:10.
	every10 := job.Schedule{Cron: "*/10 * * * *"}
	tolerance := job.Duration(time.Minute)
	for name, row := range map[string]struct {
		misfire job.Misfire
		times   []string
		ranges  []string
	}{
		"FIRE_ONCE":                       {job.Misfire{Policy: job.MisfireFireOnce, Tolerance: tolerance}, []string{"00:50:00", "01:00:00"}, []string{"00:10:00-00:40:00 4"}},
		"no policy, as of an older build": {job.Misfire{Tolerance: tolerance}, []string{"00:50:00", "01:00:00"}, []string{"00:10:00-00:40:00 4"}},
		"SKIP":                            {job.Misfire{Policy: job.MisfireSkip, Tolerance: tolerance}, []string{"01:00:00"}, []string{"00:10:00-00:50:00 5"}},
		"FIRE_ONCE with a window that has passed": {job.Misfire{Policy: job.MisfireFireOnce, Tolerance: tolerance, Window: job.Duration(5 * time.Minute)},
			[]string{"01:00:00"}, []string{"00:10:00-00:50:00 5"}},
		"FIRE_ONCE with a window that has not":  {job.Misfire{Policy: job.MisfireFireOnce, Tolerance: tolerance, Window: job.Duration(11 * time.Minute)}, []string{"00:50:00", "01:00:00"}, []string{"00:10:00-00:40:00 4"}},
		"FIRE_ONCE without tolerance":           {job.Misfire{Policy: job.MisfireFireOnce}, []string{"01:00:00"}, []string{"00:10:00-00:50:00 5"}},
		"a tolerance of a day: nothing is late": {job.Misfire{Policy: job.MisfireSkip, Tolerance: job.Duration(24 * time.Hour)}, []string{"00:10:00", "00:20:00", "00:30:00", "00:40:00", "00:50:00", "01:00:00"}, nil},
		"FIRE_ALL":                              {job.Misfire{Policy: job.MisfireFireAll, Tolerance: tolerance}, []string{"00:10:00", "00:20:00", "00:30:00", "00:40:00", "00:50:00", "01:00:00"}, nil},
		"FIRE_ALL, two at most":                 {job.Misfire{Policy: job.MisfireFireAll, Max: 2, Tolerance: tolerance}, []string{"00:40:00", "00:50:00", "01:00:00"}, []string{"00:10:00-00:30:00 3"}},
		"FIRE_ALL with a window": {job.Misfire{Policy: job.MisfireFireAll, Tolerance: tolerance, Window: job.Duration(25 * time.Minute)},
			[]string{"00:40:00", "00:50:00", "01:00:00"}, []string{"00:10:00-00:30:00 3"}},
		"COALESCE": {job.Misfire{Policy: job.MisfireCoalesce, Tolerance: tolerance}, []string{"00:50:00", "01:00:00"}, []string{"00:10:00-00:40:00 4"}},
		"COALESCE with a window: what is too old is missed, the rest is one": {job.Misfire{Policy: job.MisfireCoalesce, Tolerance: tolerance, Window: job.Duration(25 * time.Minute)},
			[]string{"00:50:00", "01:00:00"}, []string{"00:10:00-00:30:00 3", "00:40:00-00:40:00 1"}},
		"COALESCE with a window that has passed": {job.Misfire{Policy: job.MisfireCoalesce, Tolerance: tolerance, Window: job.Duration(5 * time.Minute)},
			[]string{"01:00:00"}, []string{"00:10:00-00:50:00 5"}},
	} {
		t.Run(name, func(t *testing.T) {
			inTower(t, func(w *tower) {
				ref := w.store("job", every10, time.Now().Add(10*time.Minute), row.misfire)
				time.Sleep(time.Hour + 30*time.Second)
				w.scan()
				w.scan()
				times, ranges := w.made(ref)
				if !slices.Equal(times, row.times) || !slices.Equal(ranges, row.ranges) {
					w.Errorf("made %v and recorded %v, want %v and %v", times, ranges, row.times, row.ranges)
				}
				if n := w.queued(); n != len(row.times) {
					w.Errorf("%d messages", n)
				}
				if head := w.head(ref); head.Plan != nil || head.NextFireAt.Format(time.TimeOnly) != "01:10:00" {
					w.Errorf("the cursor is %s with plan %+v", head.NextFireAt, head.Plan)
				}
			})
		})
	}
}

// What COALESCE runs says where its data interval begins, also when its own
// time had been made before the scheduler went down.
func TestACoalescedExecutionCoversWhatWasMissed(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for says, row := range map[string]struct {
		before func(w *tower, ref job.Ref)
		covers string
	}{
		"without any success, from the time before the first missed one": {func(*tower, job.Ref) {}, "00:00:00"},
		"else from where the interval of the last success ended": {func(w *tower, ref job.Ref) {
			w.ended(ref, start.Add(-20*time.Minute), lifecycle.Settled(start, "w"))
			w.ended(ref, start.Add(-10*time.Minute), lifecycle.GivenUp(start, "w", lifecycle.AttemptsUsedUp, lifecycle.Failure{Code: "X"}))
		}, "23:40:00"},
		"also when the time that runs had been made before": {func(w *tower, ref job.Ref) {
			_, err := w.belfry.Store.Put(w.Context(), &job.Execution{Ref: ref, Key: job.ScheduledKey(start.Add(50 * time.Minute)), Revision: 1, Epoch: 1,
				Status: job.Scheduled, CreatedAt: start, AvailableAt: start.Add(50 * time.Minute), Reason: lifecycle.Materialised, Schema: job.Schema})
			w.must(err)
		}, "00:00:00"},
	} {
		t.Run(says, func(t *testing.T) {
			inTower(t, func(w *tower) {
				ref := w.store("job", job.Schedule{Cron: "*/10 * * * *"}, start.Add(10*time.Minute), job.Misfire{Policy: job.MisfireCoalesce, Tolerance: job.Duration(time.Minute)})
				row.before(w, ref)
				time.Sleep(time.Hour + 30*time.Second)
				w.scan()
				e, err := w.belfry.Store.Execution(w.Context(), ref, job.ScheduledKey(start.Add(50*time.Minute)))
				w.must(err)
				if e == nil || e.Covers.Format(time.TimeOnly) != row.covers || e.Reason != lifecycle.CaughtUp {
					w.Errorf("it is %+v", e)
				}
			})
		})
	}
}

// ended stores an execution of that time that has come to an end.
func (w *tower) ended(ref job.Ref, at time.Time, t lifecycle.Transition) {
	w.Helper()
	e := &job.Execution{Ref: ref, Key: job.ScheduledKey(at), Revision: 1, Epoch: 1, Status: job.Scheduled, CreatedAt: at, AvailableAt: at, Reason: lifecycle.Materialised, Schema: job.Schema}
	_, err := w.belfry.Store.Put(w.Context(), e)
	w.must(err)
	claimed, err := w.belfry.Store.Claim(w.Context(), job.ClaimRequest{Ref: ref, Key: e.Key, Epoch: 1, Owner: "w", Nonce: "n", Now: time.Now(), Until: time.Now().Add(time.Minute)})
	w.must(err)
	w.must(w.belfry.Store.Settle(w.Context(), claimed, t, time.Time{}))
}
