package sim_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/sim"

	"context"
)

// flaky fails the first answered attempt of every third execution.
func flaky(_ context.Context, a *execute.Attempt) *lifecycle.Failure {
	if a.Execution.ScheduledAt.Unix()%3 == 0 && a.Execution.Attempt-a.Execution.Lost == 1 {
		return &lifecycle.Failure{Class: lifecycle.Transient, Code: "FLAKY"}
	}
	return nil
}

// faults are the ways in which a call can go wrong.
var faults = []fault.Action{fault.Throttle, fault.FailBefore, fault.LoseResponse, fault.CrashBefore, fault.CrashAfter}

// everyCall decides faults so that, over many incarnations, every process has
// every fault at every one of its first calls: the n-th incarnation of a process
// has its fault at call n mod reach.
type everyCall struct {
	mu    sync.Mutex
	lives map[string]int
	calls map[string]int
	hits  map[string]int // service.operation action → how often
	reach int
	until time.Time // no faults after: the system must come to rest
}

func (e *everyCall) decide(process string, c fault.Call) fault.Action {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.N == 1 {
		e.lives[process]++
		e.calls[process] = 0
	}
	e.calls[process]++
	if !time.Now().Before(e.until) {
		return fault.Pass
	}
	life := e.lives[process]
	if e.calls[process]%e.reach != life%e.reach {
		return fault.Pass
	}
	// Faults that leave the process alive come again and again; a life ends with
	// its crash, so that the next one begins.
	action := faults[(e.calls[process]/e.reach+life)%len(faults)]
	e.hits[c.Operation+" "+action.String()]++
	return action
}

func TestNothingIsLostOverADayOfFaultsAtEveryCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		day := begun.Add(24 * time.Hour)
		if testing.Short() {
			day = begun.Add(3 * time.Hour)
		}
		e := &everyCall{lives: map[string]int{}, calls: map[string]int{}, hits: map[string]int{}, reach: 23, until: day}
		w := world(t, sim.Options{Decide: e.decide, Work: flaky})
		w.Start(t.Context())
		var refs []job.Ref
		refs = append(refs, put(t, w, job.Definition{Job: "often", Schedule: job.Schedule{Every: job.Duration(20 * time.Second)}, Retry: job.Retry{MaxAttempts: 20, MaxLost: 20}}))
		refs = append(refs, put(t, w, job.Definition{Job: "minutely", Schedule: job.Schedule{Cron: "* * * * *", Zone: "Europe/Berlin"}, Retry: job.Retry{MaxAttempts: 20, MaxLost: 20}}))
		time.Sleep(time.Until(day) + 30*time.Minute)
		w.Stop()
		for _, ref := range refs {
			if err := w.Check(t.Context(), ref, begun, day); err != nil {
				t.Errorf("%s: %.4000v", ref, err)
			}
		}
		lives := 0
		for _, n := range e.lives {
			lives += n
		}
		for _, operation := range []string{"PutItem", "UpdateItem", "GetItem", "Query", "BatchGetItem", "SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch"} {
			for _, action := range faults {
				if testing.Short() {
					continue // three hours have not every fault at every call
				}
				if e.hits[operation+" "+action.String()] == 0 {
					t.Errorf("the day had no %s at %s", action, operation)
				}
			}
		}
		t.Logf("%d attempts, %d lives, faults: %v", len(w.Runs()), lives, fmt.Sprint(e.hits))
	})
}
