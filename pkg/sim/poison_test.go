package sim_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// killer ends processes from inside: the next call of a doomed one is its last.
type killer struct {
	mu     sync.Mutex
	doomed map[string]bool
}

func (k *killer) decide(process string, _ fault.Call) fault.Action {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.doomed[process] {
		return fault.Pass
	}
	delete(k.doomed, process)
	return fault.CrashBefore
}

func (k *killer) kill(process string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.doomed[process] = true
}

func newKiller() *killer { return &killer{doomed: map[string]bool{}} }

// Invariant 7: what kills its process ends DEAD/POISON, what panics, blocks or
// ignores its cancel ends by its own retries, and the rest succeeds beside them.
func TestHandlersThatKillPanicBlockAndIgnoreLeaveTheirNeighboursAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKiller()
		gate := make(chan struct{})
		w := world(t, sim.Options{Decide: k.decide, Work: func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
			switch a.Execution.Job {
			case "killer":
				k.kill(a.Execution.Lease.Owner)
				<-ctx.Done()
			case "panics":
				panic("on purpose")
			case "blocks":
				<-gate
			case "fails-late":
				<-ctx.Done()
				return &lifecycle.Failure{Class: lifecycle.Transient, Code: "LATE"}
			default:
				time.Sleep(2 * time.Second)
			}
			return nil
		}})
		w.Start(t.Context())
		begun := time.Now()
		ends := map[string]struct {
			status job.Status
			reason job.Reason
		}{"killer": {job.Dead, lifecycle.Poison}, "panics": {job.Dead, lifecycle.AttemptsUsedUp}, "blocks": {job.Dead, lifecycle.AttemptsUsedUp},
			"fails-late": {job.Dead, lifecycle.AttemptsUsedUp}}
		at := begun.Add(5 * time.Minute)
		for name := range ends {
			put(t, w, job.Definition{Job: name, Schedule: job.Schedule{At: at}, Timeout: job.Duration(10 * time.Second), Retry: job.Retry{MaxAttempts: 2, Base: job.Duration(time.Second)}})
		}
		for i := range 20 {
			put(t, w, job.Definition{Job: fmt.Sprint("innocent-", i), Schedule: job.Schedule{At: at.Add(time.Duration(i%3) * time.Second)}})
		}
		time.Sleep(30 * time.Minute)
		close(gate)
		w.Stop()
		heads, err := w.Heads(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range heads {
			want, guilty := ends[h.Job]
			if !guilty {
				want.status, want.reason = job.Succeeded, lifecycle.Done
			}
			stored, err := w.Stored(t.Context(), h.Ref)
			if err != nil || len(stored) != 1 {
				t.Fatalf("%s: %v, %d executions", h.Ref, err, len(stored))
			}
			if e := stored[0]; e.Status != want.status || e.Reason != want.reason || !guilty && e.Lost > 1 {
				t.Errorf("%s ended %s/%s after %d attempts, %d of them lost", e.ID(), e.Status, e.Reason, e.Attempt, e.Lost)
			}
		}
		judgeRest(t, w)
	})
}

// Rescue of an interrupted execution comes within the lease and five seconds,
// at every age: young, and handed off to its wake-up.
func TestAnInterruptedExecutionIsRescuedWithinItsLeaseAndFiveSeconds(t *testing.T) {
	for _, age := range []time.Duration{3 * time.Second, 14 * time.Second, 90 * time.Second, 14*time.Minute + 50*time.Second, 15*time.Minute + 40*time.Second, 22 * time.Minute, 37 * time.Minute} {
		t.Run(fmt.Sprint("at the age of ", age), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKiller()
				pools := dispatch.Pools{{Name: "fast-io", Lease: 15 * time.Second, Ceiling: time.Hour, Slots: 2, Batch: 1}}
				w := world(t, sim.Options{Decide: k.decide, Pools: pools, Second: 31, Work: func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
					if a.Execution.Attempt > 1 {
						return nil
					}
					select {
					case <-ctx.Done():
					case <-time.After(40 * time.Minute):
					}
					return &lifecycle.Failure{Class: lifecycle.Transient, Code: "STOPPED"}
				}})
				w.Start(t.Context())
				at := time.Now().Add(4 * time.Minute)
				ref := put(t, w, job.Definition{Job: "long", Schedule: job.Schedule{At: at}, Timeout: job.Duration(50 * time.Minute)})
				time.Sleep(time.Until(at) + age)
				e, err := w.Control.Store.Execution(t.Context(), ref, job.ScheduledKey(at))
				if err != nil || e == nil || e.Status != job.Running {
					t.Fatalf("it is not running: %+v, %v", e, err)
				}
				k.kill(e.Lease.Owner)
				time.Sleep(12 * time.Minute)
				until := e.Lease.Until // a call in between, if there was one, was the last and did not land
				runs := w.Runs()
				w.Stop()
				if len(runs) != 2 {
					t.Fatalf("it ran %d times", len(runs))
				}
				if late := runs[1].At.Sub(until); late > 5*time.Second || late < 0 {
					t.Errorf("rescued %s after the lease (lease left at the crash: %s)", late, until.Sub(at.Add(age)))
				}
				if e, _ := w.Control.Store.Execution(t.Context(), ref, job.ScheduledKey(at)); e.Status != job.Succeeded || e.FencingToken != 2 || e.Lost != 1 {
					t.Errorf("it ended as %+v", e)
				}
				judgeRest(t, w)
			})
		})
	}
}
