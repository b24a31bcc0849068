package sim_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

func put(t *testing.T, w *sim.World, d job.Definition) job.Ref {
	t.Helper()
	ref := job.Ref{Tenant: job.DefaultTenant, Job: d.Job}
	if d.Target.Kind() == "" {
		d.Target.Log = &job.LogTarget{}
	}
	if _, err := w.Control.Control.Put(t.Context(), control.PutRequest{Ref: ref, Definition: d, Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	return ref
}

func world(t *testing.T, o sim.Options) *sim.World {
	t.Helper()
	w, err := sim.NewWorld(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestEveryScheduledTimeOfAnHourRunsExactlyOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{})
		w.Start(t.Context())
		begun := time.Now()
		second := put(t, w, job.Definition{Job: "each-second", Schedule: job.Schedule{Every: job.Duration(time.Second)}})
		minute := put(t, w, job.Definition{Job: "each-minute", Schedule: job.Schedule{Cron: "* * * * *", Zone: "America/New_York"}})
		time.Sleep(time.Hour)
		upto := time.Now().Add(-time.Minute)
		w.Stop()
		for _, ref := range []job.Ref{second, minute} {
			if err := w.Check(t.Context(), ref, begun, upto); err != nil {
				t.Errorf("%s: %v", ref, err)
			}
		}
	})
}
