package sim_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/sim"
	"github.com/belfry-scheduler/belfry/pkg/trigger"
)

// PB-044: after an outage of ten hours a job of every minute catches up at the
// rate that its misfire policy gives, oldest first, and is on time itself at once.
func TestPB044CatchingUpKeepsToItsRateAndTheJobIsOnTimeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{})
		begun := time.Now()
		ref := put(t, w, job.Definition{Job: "minutely", Schedule: job.Schedule{Cron: "* * * * *"}, Misfire: &job.Misfire{Policy: job.MisfireFireAll, Rate: 1}})
		time.Sleep(10 * time.Hour)
		back := time.Now()
		w.StartCrowd(t.Context(), 2, 2)
		time.Sleep(30 * time.Minute)
		upto := time.Now().Add(-time.Minute)
		w.Stop()
		if err := w.Check(t.Context(), ref, begun, upto); err != nil {
			t.Error(err)
		}
		runs := w.Runs()
		slices.SortFunc(runs, func(a, b sim.Run) int { return a.At.Compare(b.At) })
		var late []sim.Run
		for _, r := range runs {
			switch lag := r.At.Sub(r.Key.ScheduledAt); {
			case r.Key.ScheduledAt.Before(begun.Add(trigger.Horizon + time.Minute)): // made ahead before the outage
			case !r.Key.ScheduledAt.After(back):
				late = append(late, r)
			case lag > time.Second && r.Key.ScheduledAt.After(back.Add(2*time.Minute)):
				t.Errorf("%s began %s late", r.ID, lag)
			}
		}
		if len(late) != 595 {
			t.Fatalf("%d of 595 late times ran", len(late))
		}
		for i := 20; i < len(late); i++ {
			if took := late[i].At.Sub(late[i-20].At); took < 19*time.Second {
				t.Fatalf("21 began within %s", took)
			}
		}
		for i := 1; i < len(late); i++ {
			if late[i].Key.ScheduledAt.Before(late[i-1].Key.ScheduledAt) {
				t.Errorf("%s at %s and then %s at %s", late[i-1].ID, late[i-1].At, late[i].ID, late[i].At)
			}
		}
		listed, _, err := w.Control.Control.ListBackfills(t.Context(), ref, "", 10)
		if err != nil || len(listed) != 1 || listed[0].State != job.BackfillDone || listed[0].Reason != lifecycle.CaughtUp || listed[0].Made != len(late) {
			for _, b := range listed {
				t.Errorf("%s %s from %s to %s, %d made", b.State, b.Reason, b.From, b.To, b.Made)
			}
			t.Errorf("%d late times in %d backfills, %v", len(late), len(listed), err)
		}
	})
}

// A scanner that dies between the backfill of a plan and the cursor leaves one
// backfill, and the next one goes on from there.
func TestACrashAfterADrainWasMadeMakesNoSecondOne(t *testing.T) {
	d := job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *"}, Misfire: &job.Misfire{Policy: job.MisfireFireAll, Rate: 10}}
	onStage(t, d, func(s *stage) {
		time.Sleep(61*time.Minute + 30*time.Second)
		s.scan(s.scanner(hooks{beforeAdvance: func() error { return errCrash }}))
		time.Sleep(time.Minute)
		runs := times(s.workOff())
		if want := []string{"00:10", "00:20", "00:30", "00:40", "00:50", "01:00"}; fmt.Sprint(runs) != fmt.Sprint(want) {
			t.Errorf("%v ran, want %v", runs, want)
		}
		listed, _, err := s.planes().Store.Backfills(s.Context(), s.ref, "", 10)
		s.must(err)
		if len(listed) != 1 || listed[0].State != job.BackfillDone {
			t.Errorf("the backfills are %+v", listed)
		}
	})
}

// A job that is resumed with CATCH_UP under a rate catches the pause up at it.
func TestAPauseIsCaughtUpAtTheRate(t *testing.T) {
	d := job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *"}, Misfire: &job.Misfire{Policy: job.MisfireFireAll, Rate: 0.1}}
	onStage(t, d, func(s *stage) {
		time.Sleep(25 * time.Minute)
		s.scan(s.planes().Trigger)
		_, err := s.planes().Control.Pause(s.Context(), s.ref, "test")
		s.must(err)
		time.Sleep(40*time.Minute + 30*time.Second)
		_, err = s.planes().Control.Resume(s.Context(), s.ref, "test", job.ResumeCatchUp)
		s.must(err)
		if made, missed := s.pauseTimes(); !slices.Equal(made, []string{"00:30", "00:40", "00:50", "01:00"}) || missed != 0 {
			t.Errorf("%v were made, %d missed", made, missed)
		}
		first, last := s.execution(newYear.Add(30*time.Minute)), s.execution(newYear.Add(time.Hour))
		if apart := last.AvailableAt.Sub(first.AvailableAt); apart != 30*time.Second {
			t.Errorf("the first and the fourth are %s apart", apart)
		}
	})
}
