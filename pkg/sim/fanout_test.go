package sim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// families is the work of a job that fans out: its children now and then fail once,
// and what follows them looks whether they have ended.
type families struct {
	t        *testing.T
	children int
	mu       sync.Mutex
	early    []string
}

func (f *families) work(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
	switch a.Execution.Kind {
	case job.KindChild:
		if a.Execution.Number()%5 == 0 && a.Execution.Attempt-a.Execution.Lost == 1 {
			return &lifecycle.Failure{Class: lifecycle.Transient, Code: "FLAKY"}
		}
		return nil
	case job.KindReduce:
		return f.gather(ctx, a)
	case job.KindScheduled, job.KindManual, job.KindReplay, job.KindRange:
	}
	payloads := make([]json.RawMessage, f.children)
	for i := range payloads {
		payloads[i] = json.RawMessage(fmt.Sprint(i))
	}
	if err := a.Family.FanOut(ctx, execute.Request{Payloads: payloads, Handler: "part", Reduce: "gather"}); err != nil {
		return &lifecycle.Failure{Class: lifecycle.Transient, Code: "SPLIT", Text: err.Error()}
	}
	return nil
}

// gather is what follows: every child must have ended, whoever began it.
func (f *families) gather(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
	seen := 0
	for page := range (f.children + job.PageSize - 1) / job.PageSize {
		children, err := a.Family.Children(ctx, page)
		if err != nil {
			return &lifecycle.Failure{Class: lifecycle.Transient, Code: "READ", Text: err.Error()}
		}
		for i := range children {
			if c := &children[i]; lifecycle.Terminal(c.Status) {
				seen++
			}
		}
	}
	if seen != f.children {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.early = append(f.early, fmt.Sprintf("%s began when %d of %d had ended", a.Execution.ID(), seen, f.children))
	}
	return nil
}

func TestWhatFollowsChildrenRunsAfterAllOfThemThroughFaultsAtEveryCall(t *testing.T) {
	for name, row := range map[string]struct{ children, reach int }{"a few": {7, 29}, "more than a page": {job.PageSize + 3, 431}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				until := begun.Add(8 * time.Hour)
				if testing.Short() {
					until = begun.Add(2 * time.Hour)
				}
				e := &everyCall{lives: map[string]int{}, calls: map[string]int{}, hits: map[string]int{}, reach: row.reach, until: until}
				f := &families{t: t, children: row.children}
				w := world(t, sim.Options{Decide: e.decide, Work: f.work})
				w.Start(t.Context())
				ref := put(t, w, job.Definition{Job: "split", Schedule: job.Schedule{Every: job.Duration(30 * time.Minute)}, Timeout: job.Duration(5 * time.Minute), Retry: job.Retry{MaxAttempts: 50, MaxLost: 20}})
				time.Sleep(time.Until(until) + time.Hour)
				w.Stop()
				f.check(w, ref, until, 4)
				t.Logf("%d attempts, faults: %v", len(w.Runs()), e.hits)
			})
		})
	}
}

func (f *families) check(w *sim.World, ref job.Ref, until time.Time, least int) {
	for _, early := range f.early {
		f.t.Error(early)
	}
	stored, err := w.Stored(f.t.Context(), ref)
	if err != nil {
		f.t.Fatal(err)
	}
	parents, after := 0, 0
	for _, e := range stored {
		switch {
		case e.ScheduledAt.After(until):
		case e.Kind == job.KindReduce:
			if after++; e.Status != job.Succeeded {
				f.t.Errorf("%s is %s/%s", e.ID(), e.Status, e.Reason)
			}
		case e.Kind == job.KindScheduled:
			if parents++; e.Status != job.Succeeded {
				f.t.Errorf("%s is %s/%s, %s", e.ID(), e.Status, e.Reason, e.ErrorText)
			}
			f.family(w, &e)
		}
	}
	if parents < least || after != parents {
		f.t.Errorf("%d parents, and %d executions after them", parents, after)
	}
}

func (f *families) family(w *sim.World, parent *job.Execution) {
	there, err := w.Control.Store.FanOut(f.t.Context(), parent.Ref, parent.Key)
	if err != nil || there == nil || there.OpenPages != 0 || !there.Complete() || there.Failed != 0 || there.Total != f.children {
		f.t.Errorf("of %s is known %+v, %v", parent.ID(), there, err)
		return
	}
	for page := range there.Pages() {
		children, err := w.Control.Store.Children(f.t.Context(), parent.Ref, parent.Key, page)
		if err != nil || len(children) != there.OnPage(page) {
			f.t.Errorf("%s has %d children on page %d, %v", parent.ID(), len(children), page, err)
		}
		for _, c := range children {
			if c.Status != job.Succeeded {
				f.t.Errorf("%s is %s/%s", c.ID(), c.Status, c.Reason)
			}
		}
	}
}

// What ten thousand children cost, by operation, is printed; what one costs is bounded.
func TestTenThousandChildrenAndWhatTheyCost(t *testing.T) {
	children := 10_000
	if testing.Short() {
		children = 1_000
	}
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		writes, reads := map[string]float64{}, map[string]float64{}
		f := &families{t: t, children: children}
		w := world(t, sim.Options{Work: f.work, Workers: 8, Meter: func(operation string, consumed []types.ConsumedCapacity) {
			mu.Lock()
			defer mu.Unlock()
			for _, c := range consumed {
				of := reads
				if slices.Contains([]string{"put", "put outside", "claim", "settle", "open page", "page made", "leave page", "close page", "start fan-out", "mark fan-out"}, operation) {
					of = writes
				}
				of[operation] += *c.CapacityUnits
			}
		}})
		w.Start(t.Context())
		at := time.Now().Truncate(time.Minute).Add(2 * time.Minute)
		ref := put(t, w, job.Definition{Job: "split", Schedule: job.Schedule{At: at}, Timeout: job.Duration(10 * time.Minute)})
		time.Sleep(2 * time.Hour)
		w.Stop()
		f.check(w, ref, time.Now(), 1)
		var sum float64
		for _, operation := range slices.Sorted(maps.Keys(writes)) {
			t.Logf("%-20s %9.1f write units, %5.2f a child", operation, writes[operation], writes[operation]/float64(children))
			sum += writes[operation]
		}
		for _, operation := range slices.Sorted(maps.Keys(reads)) {
			t.Logf("%-20s %9.1f read units, %5.2f a child", operation, reads[operation], reads[operation]/float64(children))
		}
		if most := 5.0; sum/float64(children) > most {
			t.Errorf("a child costs %.2f write units, more than %.0f", sum/float64(children), most)
		}
	})
}

// Tables come back from a backup of some moment, and no message does.
func TestChildrenAndWhatFollowsThemComeThroughARestore(t *testing.T) {
	for _, after := range []time.Duration{0, 100 * time.Millisecond, time.Second, 4 * time.Second, 9 * time.Second, 15 * time.Second, 21 * time.Second, 40 * time.Second} {
		t.Run(fmt.Sprint("a backup ", after, " after the start"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &families{t: t, children: 60}
				slowly := func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
					if a.Execution.Kind == job.KindChild {
						select {
						case <-time.After(5 * time.Second):
						case <-ctx.Done():
							return &lifecycle.Failure{Code: "STOPPED"}
						}
					}
					return f.work(ctx, a)
				}
				w := world(t, sim.Options{Work: slowly})
				w.Start(t.Context())
				at := time.Now().Truncate(time.Minute).Add(2 * time.Minute)
				ref := put(t, w, job.Definition{Job: "split", Schedule: job.Schedule{At: at}, Retry: job.Retry{MaxAttempts: 20, MaxLost: 20}})
				time.Sleep(time.Until(at) + after)
				var b backup
				b.definitions(t, w)
				b.executions = scanned(t, w, w.Control.Store.Tables().Executions)
				w.Stop()
				restored := restoredWorld(t, b, sim.Options{Work: slowly})
				repair(t, restored)
				restored.Start(t.Context())
				time.Sleep(2 * time.Hour)
				restored.Stop()
				f.check(restored, ref, time.Now(), 1)
			})
		})
	}
}
