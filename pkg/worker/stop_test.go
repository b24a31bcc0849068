package worker_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/queue"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// drain receives all that is visible on the pool's queue.
func drain(t *testing.T, b *bench) (all []queue.Received) {
	t.Helper()
	for {
		batch, err := b.Queues.Queue("belfry-fast-io").Receive(t.Context(), 10, 0, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if len(batch) == 0 {
			return all
		}
		all = append(all, batch...)
	}
}

func TestStopLetsRunningAttemptsFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		worker.Handle(b.worker, "work", func(ctx context.Context, _ *worker.Attempt) error {
			select {
			case <-time.After(20 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		at := soon(0)
		ref := b.oneOff("twenty", at, nil)
		b.start()
		time.Sleep(time.Until(at) + time.Second)
		told := time.Now()
		b.quit()
		if e := b.execution(ref, at); e.Status != job.Succeeded || time.Since(told) > 20*time.Second {
			t.Errorf("%s, stopped after %v; want SUCCEEDED within 20 s", e.Status, time.Since(told))
		}
	})
}

func TestStopCancelsWhatOutlastsTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(o *worker.Options) { o.Drain = 10 * time.Second })
		worker.Handle(b.worker, "work", func(ctx context.Context, _ *worker.Attempt) error {
			<-ctx.Done()
			return ctx.Err()
		})
		at := soon(0)
		ref := b.oneOff("endless", at, func(d *job.Definition) { d.Timeout = job.Duration(time.Hour) })
		b.start()
		time.Sleep(time.Until(at) + time.Second)
		told := time.Now()
		b.quit()
		took := time.Since(told)
		e := b.execution(ref, at)
		if e.Status != job.RetryWait || e.Reason != lifecycle.WorkerStopped || took < 10*time.Second || took > 11*time.Second {
			t.Errorf("%s, %s, stopped after %v; want RETRY_WAIT, WORKER_STOPPED after 10 s", e.Status, e.Reason, took)
		}
		if visible, _ := b.messages("belfry-fast-io"); visible != 1 {
			t.Errorf("%d visible messages, want the one that was given back", visible)
		}
	})
}

func TestStopGivesBackAtOnceWhatHasNotBegun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(o *worker.Options) { o.Pools[0].Slots = 1; o.Pools[0].Waiting = 5 })
		begun := 0
		worker.Handle(b.worker, "work", func(context.Context, *worker.Attempt) error { begun++; return nil })
		time.Sleep(300 * time.Millisecond)
		at := soon(2 * time.Second)
		for _, name := range []string{"a", "b", "c"} {
			b.oneOff(name, at, nil)
		}
		b.start()
		time.Sleep(time.Until(at) - 100*time.Millisecond) // received, not yet due
		if _, inFlight := b.messages("belfry-fast-io"); inFlight != 3 {
			t.Fatalf("%d messages taken before the second, want 3", inFlight)
		}
		told := time.Now()
		b.quit()
		if visible, _ := b.messages("belfry-fast-io"); visible != 3 || begun != 0 || time.Since(told) > 100*time.Millisecond {
			t.Errorf("%d visible, %d begun, after %v; want 3, 0, at once", visible, begun, time.Since(told))
		}
	})
}

func TestWorkerWithoutHandlersRefusesToRun(t *testing.T) {
	nothing := func(context.Context, *worker.Attempt) error { return nil }
	rows := map[string]struct {
		register func(*worker.Worker)
		want     string
	}{
		"none registered":     {func(*worker.Worker) {}, "no handlers"},
		"a name twice":        {func(w *worker.Worker) { worker.Handle(w, "a", nothing); worker.Handle(w, "a", nothing) }, "registered twice"},
		"a name that is none": {func(w *worker.Worker) { worker.Handle(w, "A b", nothing) }, "not a valid name"},
		"a nil handler":       {func(w *worker.Worker) { worker.Handle(w, "a", nil) }, "is nil"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, nil)
				row.register(b.worker)
				if err := b.worker.Run(t.Context()); err == nil || !strings.Contains(err.Error(), row.want) {
					t.Fatalf("Run: %v, want a refusal about %q", err, row.want)
				}
			})
		})
	}
}
