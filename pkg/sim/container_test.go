package sim_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/sim"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// A job that kills its container twice a minute, beside innocents in the same
// process: all of its executions end for lost workers, and the innocents succeed as long as
// their max_lost allows for the company that they are in. A container serves its
// isolation queue in the process in which the killer's next execution begins, so
// an innocent is not alone there, unlike in a function.
func TestInnocentsBesideAJobThatKillsItsContainer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newKiller()
		pools := dispatch.Pools{{Name: "fast-io", Lease: 15 * time.Second, Ceiling: time.Hour, Slots: 16, Batch: 10}}
		w := world(t, sim.Options{Decide: k.decide, Pools: pools})
		w.StartContainers(t.Context(), 2, func(name string, made *worker.Worker) {
			worker.Handle(made, job.Target{Log: &job.LogTarget{}}.HandlerName(), func(ctx context.Context, a *worker.Attempt) error {
				if a.Job() == "killer" {
					k.kill(name)
					<-ctx.Done()
					return ctx.Err()
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(8 * time.Second):
				}
				return nil
			})
		})
		killer := put(t, w, job.Definition{Job: "killer", Schedule: job.Schedule{Every: job.Duration(30 * time.Second)}})
		var refs []job.Ref
		for i := range 6 {
			refs = append(refs, put(t, w, job.Definition{Job: fmt.Sprint("innocent-", i), Schedule: job.Schedule{Every: job.Duration(20 * time.Second)}, Retry: job.Retry{MaxLost: 20}}))
		}
		time.Sleep(40 * time.Minute)
		w.Stop()
		company := 0
		for _, ref := range append(refs, killer) {
			stored, err := w.Stored(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			want := job.Succeeded
			if ref == killer {
				want = job.Dead
			}
			for _, e := range stored {
				if e.ScheduledAt.After(time.Now().Add(-10 * time.Minute)) {
					continue
				}
				if e.Status != want || ref == killer && e.Reason != lifecycle.Poison && e.Reason != lifecycle.LeaseLost {
					t.Errorf("%s ended %s/%s after %d lost attempts", e.ID(), e.Status, e.Reason, e.Lost)
				}
				if ref != killer && e.Lost > 1 {
					company++
				}
			}
		}
		if company == 0 {
			t.Error("no innocent met the killer more than once")
		}
	})
}
