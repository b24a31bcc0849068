package sim_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/sim"
	"github.com/belfry-scheduler/belfry/pkg/trigger"
)

// PB-044: two hundred jobs of every minute on four shards come back after a week.
// The default cap holds, what it leaves out is on record, the rate that they have
// spreads what it lets run, and whoever is due now does not wait for them.
func TestPB044AWeekOfManyJobsComesBackSpreadAndDelaysNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		jobs, rate := 200, 0.05
		if testing.Short() {
			jobs = 40
		}
		w := world(t, sim.Options{Shards: 4})
		begun := time.Now()
		var refs []job.Ref
		for i := range jobs {
			refs = append(refs, put(t, w, job.Definition{Job: fmt.Sprint("minutely-", i), Schedule: job.Schedule{Cron: "* * * * *"}, Misfire: &job.Misfire{Policy: job.MisfireFireAll, Rate: rate}}))
		}
		for i := range 8 {
			refs = append(refs, put(t, w, job.Definition{Job: fmt.Sprint("punctual-", i), Schedule: job.Schedule{Every: job.Duration(10 * time.Second)}, Misfire: &job.Misfire{Policy: job.MisfireSkip}}))
		}
		time.Sleep(7 * 24 * time.Hour)
		back := time.Now()
		w.StartCrowd(t.Context(), 2, 1)
		time.Sleep(10 * time.Minute)
		pauseAll(t, w, refs)
		w.Stop()

		late := map[int]int{} // by the minute since
		for _, r := range w.Runs() {
			since := r.At.Sub(back)
			switch lag := r.At.Sub(r.Key.ScheduledAt); {
			case !r.Key.ScheduledAt.After(begun.Add(trigger.Horizon)): // made ahead a week ago
			case !r.Key.ScheduledAt.After(back.Add(-time.Minute)):
				late[int(since/time.Minute)]++
			case r.Key.ScheduledAt.After(back.Add(time.Minute)) && lag > time.Minute:
				t.Errorf("%s began %s late", r.ID, lag)
			}
		}
		for minute := range 9 {
			if most := int(rate*60+1) * jobs; late[minute] > most || minute > 1 && late[minute] < jobs {
				t.Errorf("in minute %d there began %d late executions, of at most %d", minute, late[minute], most)
			}
		}
		stored, err := w.Stored(t.Context(), refs[0])
		if err != nil {
			t.Fatal(err)
		}
		skipped := 0
		for _, e := range stored {
			if e.Range != nil {
				skipped += e.Range.Count
			}
		}
		overdue := int(back.Sub(begun.Add(trigger.Horizon)) / time.Minute)
		if left := overdue - skipped; left < job.DefaultMisfireMax-2 || left > job.DefaultMisfireMax+2 {
			t.Errorf("of %d times %d are on record as missed", overdue, skipped)
		}
	})
}
