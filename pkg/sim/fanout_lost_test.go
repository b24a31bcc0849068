package sim_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// A worker dies between making a page of children and sending it, and the execution gets
// no further attempt: those children have no message, and end with it all the same.
func TestChildrenThatWereMadeAndNeverSentEndWithTheirParent(t *testing.T) {
	for name, when := range map[string]fault.Action{"died before the send": fault.CrashBefore, "died after it": fault.CrashAfter} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := world(t, sim.Options{Decide: func(process string, c fault.Call) fault.Action {
					if strings.HasPrefix(process, "worker") && c.Operation == "SendMessageBatch" && strings.Contains(string(c.Body), "#c#") {
						return when
					}
					return fault.Pass
				}, Work: func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
					if a.Execution.Kind != job.KindScheduled {
						<-ctx.Done()
						return &lifecycle.Failure{Class: lifecycle.Transient, Code: "STOPPED"}
					}
					f := families{t: t, children: 7}
					return f.work(ctx, a)
				}})
				w.Start(t.Context())
				at := newYear.Add(2 * time.Minute)
				ref := put(t, w, job.Definition{Job: "split", Schedule: job.Schedule{At: at}, Timeout: job.Duration(10 * time.Minute), Retry: job.Retry{MaxLost: 1}})
				time.Sleep(time.Hour)
				w.Stop()
				key := job.ScheduledKey(at)
				if e := stored(t, w, ref, key); e.Status != job.Dead || e.Attempt != 1 {
					t.Errorf("the parent is %+v", e)
				}
				children, err := w.Control.Store.Children(t.Context(), ref, key, 0)
				if err != nil || len(children) != 7 {
					t.Fatalf("%d children, %v", len(children), err)
				}
				for _, c := range children {
					if c.Status != job.Canceled || c.Attempt == 0 && c.Reason != lifecycle.ParentEnded {
						t.Errorf("%s is %s/%s", c.ID(), c.Status, c.Reason)
					}
				}
				if f, err := w.Control.Store.FanOut(t.Context(), ref, key); err != nil || f.OpenPages != 0 {
					t.Errorf("of the children is known %+v, %v", f, err)
				}
				if after := stored(t, w, ref, job.ReduceKey(key)); after.Status != job.Canceled {
					t.Errorf("what follows is %+v", after)
				}
				judgeRest(t, w)
			})
		})
	}
}

// A child has run for so long that its message was given up for a wake-up. Its worker dies
// right after the settle: the wake-up alone knows that the page has still to be left.
func TestWhatFollowsAChildThatWasHandedOffRunsThoughItsWorkerDiesAfterTheSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		crashed := false
		w := world(t, sim.Options{Decide: func(_ string, c fault.Call) fault.Action {
			if body := string(c.Body); !crashed && c.Operation == "UpdateItem" && strings.Contains(body, ":finished") && strings.Contains(body, "#c#") {
				crashed = true
				return fault.CrashAfter
			}
			return fault.Pass
		}, Work: func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
			if a.Execution.Kind == job.KindChild {
				time.Sleep(20 * time.Minute)
				return nil
			}
			f := families{t: t, children: 1}
			return f.work(ctx, a)
		}})
		w.Start(t.Context())
		at := newYear.Add(2 * time.Minute)
		ref := put(t, w, job.Definition{Job: "split", Schedule: job.Schedule{At: at}, Timeout: job.Duration(time.Hour)})
		time.Sleep(2 * time.Hour)
		w.Stop()
		key := job.ScheduledKey(at)
		if after, err := w.Control.Store.Execution(t.Context(), ref, job.ReduceKey(key)); err != nil || after == nil || after.Status != job.Succeeded || !crashed {
			t.Errorf("what follows is %+v, %v; a worker died: %v", after, err, crashed)
		}
		if child := stored(t, w, ref, job.ChildKey(key, 0)); child.Status != job.Succeeded {
			t.Errorf("the child is %+v", child)
		}
		judgeRest(t, w)
	})
}
