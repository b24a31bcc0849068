package sim_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// Jobs of one second start apart, each as far from its scheduled time as its
// slot says, every time, and keep their scheduled times.
func TestJobsWithJitterStartInTheirSlots(t *testing.T) {
	const width = job.Duration(10 * time.Minute)
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{})
		w.Start(t.Context())
		begun := time.Now()
		slots := map[job.Ref]time.Duration{}
		for i := range 6 {
			ref := put(t, w, job.Definition{Job: fmt.Sprintf("report-%d", i), Schedule: job.Schedule{Cron: "0,30 * * * *", Zone: "UTC", Jitter: width}})
			slots[ref] = schedule.Slot(width, ref)
		}
		time.Sleep(3*time.Hour + 20*time.Minute)
		w.Stop()
		started := map[job.Ref]int{}
		for _, run := range w.Runs() {
			started[run.Ref]++
			if late := run.At.Sub(run.Key.ScheduledAt.Add(slots[run.Ref])); late < 0 || late > 2*time.Second {
				t.Errorf("%s of %s started %s from its slot of %s", run.Ref, run.Key.ScheduledAt, late, slots[run.Ref])
			}
		}
		apart := map[time.Duration]bool{}
		for ref, slot := range slots {
			apart[slot] = true
			if started[ref] != 6 {
				t.Errorf("%s started %d times", ref, started[ref])
			}
			if err := w.Check(t.Context(), ref, begun, begun.Add(3*time.Hour)); err != nil {
				t.Errorf("%s: %v", ref, err)
			}
		}
		if len(apart) < 5 {
			t.Errorf("the slots are %v", slots)
		}
	})
}
