package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
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

// Field reports about retries, each by its id; docs/field-reports.md lists them with what
// else shows them.

// TestPB092AReaperThatLooksEachMinutePutsNoRetryOff has the dead-letter consumer be given
// the message of what waits for its retry each minute.
func TestPB092AReaperThatLooksEachMinutePutsNoRetryOff(t *testing.T) {
	for _, wait := range []time.Duration{10 * time.Minute, 25 * time.Minute} {
		t.Run(fmt.Sprint("due in ", wait), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := world(t, sim.Options{Work: func(_ context.Context, a *execute.Attempt) *lifecycle.Failure {
					if a.Execution.Attempt == 1 {
						return &lifecycle.Failure{Class: lifecycle.ThrottledClass, Code: "LATER", RetryAfter: wait}
					}
					return nil
				}})
				w.Start(t.Context())
				at := newYear.Add(2 * time.Minute)
				ref := put(t, w, job.Definition{Job: "job", Schedule: job.Schedule{At: at}})
				time.Sleep(time.Until(at) + 30*time.Second)
				due := stored(t, w, ref, job.ScheduledKey(at)).AvailableAt
				reaper := w.Control.Execute(nil)
				for range 30 {
					reaper.Redrive(t.Context(), lifecycle.Message{Ref: ref, Key: job.ScheduledKey(at), Epoch: 1, Receives: 50})
					if e := stored(t, w, ref, job.ScheduledKey(at)); e.Status == job.RetryWait && !e.AvailableAt.Equal(due) {
						t.Fatalf("the retry was moved from %s to %s", due, e.AvailableAt)
					}
					time.Sleep(time.Minute)
				}
				w.Stop()
				runs := w.Runs()
				if len(runs) != 2 || runs[1].At.Before(due) || runs[1].At.Sub(due) > time.Minute || stored(t, w, ref, job.ScheduledKey(at)).Status != job.Succeeded {
					t.Errorf("due at %s it ran %+v", due, runs)
				}
			})
		})
	}
}

// TestPB108ALostWorkerAndADeploymentUseNoAttemptUp kills the worker in the middle of the
// only attempt that a job allows, and stops it as a deployment does; then with three.
func TestPB108ALostWorkerAndADeploymentUseNoAttemptUp(t *testing.T) {
	for _, most := range []int{1, 3} {
		for _, how := range []string{"killed", "told to stop"} {
			t.Run(fmt.Sprintf("%s, of %d attempts", how, most), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { playLostWorker(t, most, how) })
			})
		}
	}
}

func playLostWorker(t *testing.T, most int, how string) {
	k := newKiller()
	w := world(t, sim.Options{Decide: k.decide, Work: func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
		switch {
		case a.Execution.Attempt > 1:
			return &lifecycle.Failure{Class: lifecycle.Transient, Code: "ITS_OWN"}
		case how == "killed":
			k.kill(a.Execution.Lease.Owner)
			<-ctx.Done()
			return nil
		}
		return &lifecycle.Failure{Class: lifecycle.StoppedClass, Code: "WORKER_STOPPED"}
	}})
	w.Start(t.Context())
	at := newYear.Add(2 * time.Minute)
	ref := put(t, w, job.Definition{Job: "job", Schedule: job.Schedule{At: at}, Retry: job.Retry{MaxAttempts: most, Base: job.Duration(time.Second)}})
	time.Sleep(30 * time.Minute)
	w.Stop()
	e := stored(t, w, ref, job.ScheduledKey(at))
	if e.Status != job.Dead || e.Reason != lifecycle.AttemptsUsedUp || e.ErrorCode != "ITS_OWN" || e.Attempt != most+1 || e.Lost+e.Released != 1 {
		t.Errorf("it ended as %+v", e)
	}
	want := map[string]job.Reason{"killed": lifecycle.TakenOver, "told to stop": lifecycle.WorkerStopped}[how]
	seen := false
	for _, entry := range e.Timeline {
		seen = seen || entry.Reason == want
	}
	if !seen {
		t.Errorf("its history does not tell %s: %+v", want, e.Timeline)
	}
	judgeRest(t, w)
}

// sends notes how long messages to a work queue were to be delayed.
type sends struct {
	mu     sync.Mutex
	delays []int
}

func (s *sends) decide(_ string, c fault.Call) fault.Action {
	if c.Operation != "SendMessageBatch" || strings.Contains(string(c.Body), "belfry-scan") || strings.Contains(string(c.Body), "belfry-tick") {
		return fault.Pass
	}
	var body struct{ Entries []struct{ DelaySeconds int } }
	if json.Unmarshal(c.Body, &body) == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, e := range body.Entries {
			s.delays = append(s.delays, e.DelaySeconds)
		}
	}
	return fault.Pass
}

// TestPB111AWaitLongerThanAQueuesDelayLiesInTheTable has retries due after 15 minutes and
// a second, an hour and a day, and a one-off in 30 days.
func TestPB111AWaitLongerThanAQueuesDelayLiesInTheTable(t *testing.T) {
	for _, wait := range []time.Duration{15*time.Minute + time.Second, time.Hour, 24 * time.Hour} {
		if wait > time.Hour && !prove() { // a day of ticks
			continue
		}
		t.Run(fmt.Sprint("a retry after ", wait), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &sends{}
				w := world(t, sim.Options{Decide: s.decide, Work: func(_ context.Context, a *execute.Attempt) *lifecycle.Failure {
					if a.Execution.Attempt == 1 {
						return &lifecycle.Failure{Class: lifecycle.Transient, Code: "X"}
					}
					return nil
				}})
				w.Start(t.Context())
				at := newYear.Add(2 * time.Minute)
				ref := put(t, w, job.Definition{Job: "job", Schedule: job.Schedule{At: at}, Retry: job.Retry{MaxAttempts: 2, Base: job.Duration(wait), Max: job.Duration(wait), MaxAge: job.Duration(48 * time.Hour)}})
				time.Sleep(time.Until(at) + wait + 5*time.Minute)
				w.Stop()
				judgeLongWait(t, w, s, at.Add(wait), 2)
				if e := stored(t, w, ref, job.ScheduledKey(at)); e.Status != job.Succeeded {
					t.Errorf("it is %+v", e)
				}
			})
		})
	}
	t.Run("a one-off in 30 days", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := &sends{}
			w := world(t, sim.Options{Decide: s.decide})
			at := newYear.Add(30 * 24 * time.Hour)
			put(t, w, job.Definition{Job: "job", Schedule: job.Schedule{At: at}})
			if n := queued(t, w, work); n != 0 {
				t.Errorf("%d messages wait for 30 days", n)
			}
			time.Sleep(time.Until(at) - 20*time.Minute)
			w.Start(t.Context())
			time.Sleep(30 * time.Minute)
			w.Stop()
			judgeLongWait(t, w, s, at, 1)
		})
	})
}

// judgeLongWait wants the last of so many attempts within a minute of when it was due,
// and few messages, none of which was to be delayed for longer than a queue can.
func judgeLongWait(t *testing.T, w *sim.World, s *sends, due time.Time, attempts int) {
	t.Helper()
	runs := w.Runs()
	if len(runs) != attempts || runs[attempts-1].At.Before(due) || runs[attempts-1].At.Sub(due) > time.Minute {
		t.Errorf("due at %s it ran %+v", due, runs)
	}
	if len(s.delays) > 3 {
		t.Errorf("%d messages were sent", len(s.delays))
	}
	for _, delay := range s.delays {
		if delay > 900 {
			t.Errorf("a message was to be delayed for %d s", delay)
		}
	}
	judgeRest(t, w)
}

// TestPB114WhatRanWhenEverythingStoppedEndsByItsOwnReport has every process away for 90 s
// with 127 executions running, each with one retry left.
func TestPB114WhatRanWhenEverythingStoppedEndsByItsOwnReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := newYear.Add(3 * time.Minute)
		var mu sync.Mutex
		reported := map[string]int{}
		w := world(t, sim.Options{Pools: dispatch.Pools{{Name: "fast-io", Lease: 15 * time.Second, Ceiling: time.Hour, Slots: 100, Batch: 10}},
			Decide: func(_ string, c fault.Call) fault.Action {
				if now := time.Now(); !now.Before(from) && now.Before(from.Add(90*time.Second)) {
					return fault.CrashBefore
				}
				return fault.Pass
			},
			Work: func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
				select {
				case <-time.After(90 * time.Second):
				case <-ctx.Done():
					return &lifecycle.Failure{Class: lifecycle.Transient, Code: "STOPPED"}
				}
				mu.Lock()
				defer mu.Unlock()
				reported[a.Execution.Job] = a.Execution.Attempt
				return nil
			}})
		w.Start(t.Context())
		var refs []job.Ref
		for n := range 127 {
			refs = append(refs, put(t, w, job.Definition{Job: fmt.Sprint("job-", n), Timeout: job.Duration(5 * time.Minute), Schedule: job.Schedule{At: newYear.Add(2 * time.Minute)}, Retry: job.Retry{MaxAttempts: 2}}))
		}
		time.Sleep(time.Until(from) - time.Second)
		if n := len(w.Runs()); n != 127 {
			t.Fatalf("%d run when everything stops", n)
		}
		time.Sleep(6 * time.Hour)
		w.Stop()
		for _, ref := range refs {
			e := stored(t, w, ref, job.ScheduledKey(newYear.Add(2*time.Minute)))
			if e.Status != job.Succeeded || e.Attempt != reported[ref.Job] || e.Lost != 1 {
				t.Errorf("%s is %s after %d attempts, %d of them lost; attempt %d reported", e.ID(), e.Status, e.Attempt, e.Lost, reported[ref.Job])
			}
		}
		judgeRest(t, w)
	})
}
