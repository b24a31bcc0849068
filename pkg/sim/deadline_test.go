package sim_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// The workers, not the scheduler, are down for two hours. A job with a start
// deadline runs what is younger than it and misses the rest; one without runs
// everything.
func TestAfterWorkersWereDownAStartDeadlineDecidesWhatStillRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{})
		every10 := job.Schedule{Cron: "*/10 * * * *"}
		impatient := put(t, w, job.Definition{Job: "impatient", Schedule: every10, StartDeadline: job.Duration(25 * time.Minute)})
		patient := put(t, w, job.Definition{Job: "patient", Schedule: every10})
		startWorkers := w.StartWithoutWorkers(t.Context())
		time.Sleep(2*time.Hour + 4*time.Minute + 30*time.Second)
		up := time.Now()
		startWorkers()
		time.Sleep(40 * time.Minute)
		w.Stop()
		for ref, missed := range map[job.Ref]int{impatient: 9, patient: 0} { // due from 00:10 on, up at 02:04:30: 01:40 is the first that is young enough
			stored, err := w.Stored(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for _, e := range stored {
				late := e.ScheduledAt.Before(up.Add(-25 * time.Minute))
				switch {
				case e.ScheduledAt.After(up.Add(30 * time.Minute)):
				case missed > 0 && late && (e.Status != job.Missed || e.Reason != lifecycle.StartDeadline || e.Attempt > 0):
					t.Errorf("%s is %s (%s)", e.ID(), e.Status, e.Reason)
				case (missed == 0 || !late) && e.Status != job.Succeeded:
					t.Errorf("%s is %s (%s)", e.ID(), e.Status, e.Reason)
				}
				if e.Status == job.Missed {
					got++
				}
			}
			if got != missed {
				t.Errorf("%s missed %d, want %d", ref, got, missed)
			}
		}
	})
}
