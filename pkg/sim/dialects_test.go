package sim_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// The planes ask pkg/schedule alone, so a job of any dialect lives as every
// other: each of its times runs once.
func TestEveryDialectRunsEachScheduledTimeOfAnHourOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{})
		w.Start(t.Context())
		begun := time.Now()
		var refs []job.Ref
		for name, s := range map[string]job.Schedule{
			"quartz":        {Cron: "*/20 * * * * ?", Dialect: job.DialectQuartz, Zone: "America/New_York"},
			"quartz-by-day": {Cron: "0 0/7 * L-30W,1 JAN ? 2000", Dialect: job.DialectQuartz, Zone: "UTC"},
			"aws":           {Cron: "cron(0/5 * ? * SAT *)", Dialect: job.DialectAWS, Zone: "UTC"},
			"cronexpr":      {Cron: "15 */10 * * * * 2000", Dialect: job.DialectCronexpr, Zone: "Europe/Berlin"},
			"unix":          {Cron: "*/15 * 1W,1 * 6#1", Zone: "UTC"},
		} {
			refs = append(refs, put(t, w, job.Definition{Job: name, Schedule: s}))
		}
		time.Sleep(time.Hour)
		upto := time.Now().Add(-time.Minute)
		w.Stop()
		for _, ref := range refs {
			if err := w.Check(t.Context(), ref, begun, upto); err != nil {
				t.Errorf("%s: %v", ref, err)
			}
			if stored, err := w.Stored(t.Context(), ref); err != nil || len(stored) < 4 {
				t.Errorf("%s has %d executions, %v", ref, len(stored), err)
			}
		}
	})
}

// PB-005: where clocks go forward, a job of the time that does not exist was
// launched again and again until the cluster fell over.
func TestPB005AJobOfTheHourThatDoesNotExistFiresOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{Shards: 1})
		s := &stage{T: t, w: w, ref: job.Ref{Tenant: job.DefaultTenant, Job: "job"}}
		gap := time.Date(2000, 4, 2, 7, 0, 0, 0, time.UTC)
		time.Sleep(time.Until(gap.Add(-time.Hour)))
		s.apply(job.Definition{Schedule: job.Schedule{Cron: "0 2 * * *", Zone: "America/New_York"}})
		for range 66 {
			s.scan(s.w.Control.Trigger)
			time.Sleep(time.Minute)
		}
		stored, err := w.Stored(t.Context(), s.ref)
		s.must(err)
		if len(stored) != 1 || !stored[0].ScheduledAt.Equal(gap) {
			t.Errorf("got %+v", stored)
		}
		if head := s.head(job.Enabled); !head.NextFireAt.Equal(gap.Add(23 * time.Hour)) {
			t.Errorf("the cursor is %s", head.NextFireAt)
		}
		time.Sleep(time.Second)
	})
}
