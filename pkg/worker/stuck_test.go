package worker_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// ignores is a handler of which job "stuck" ignores its context, and all others
// take two minutes.
func ignores(t *testing.T) (worker.Handler, func()) {
	t.Helper()
	released := make(chan struct{})
	return func(ctx context.Context, a *worker.Attempt) error {
		if a.Job() == "stuck" {
			<-released
			return nil
		}
		select {
		case <-time.After(2 * time.Minute):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}, func() { close(released) }
}

func aMinute(d *job.Definition) { d.Timeout = job.Duration(time.Minute) }

func TestAHandlerThatIgnoresItsContextEndsTheWorkerOnceTheOthersHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(o *worker.Options) { o.Drain = 10 * time.Second })
		h, release := ignores(t)
		defer release()
		worker.Handle(b.worker, "work", h)
		at := soon(0)
		stuck := b.oneOff("stuck", at, aMinute)
		other := b.oneOff("other", at.Add(30*time.Second), func(d *job.Definition) { d.Timeout = job.Duration(time.Hour) })
		later := b.oneOff("later", at.Add(80*time.Second), nil)
		b.start()
		if err := <-b.done; !errors.Is(err, worker.ErrStuck) {
			t.Errorf("Run answered %v", err)
		}
		if took := time.Since(at); took < 150*time.Second || took > 155*time.Second {
			t.Errorf("it ended %v after the start, want the two minutes of the other one", took)
		}
		if e := b.execution(stuck, at); e.Status != job.RetryWait || e.Reason != lifecycle.TimedOut || e.ErrorCode != "HANDLER_STUCK" {
			t.Errorf("the stuck one is %s, %s, %s", e.Status, e.Reason, e.ErrorCode)
		}
		if e := b.execution(other, at.Add(30*time.Second)); e.Status != job.Succeeded {
			t.Errorf("the other one is %s, %s", e.Status, e.Reason)
		}
		if e := b.execution(later, at.Add(80*time.Second)); e.Status != job.Scheduled || e.Attempt != 0 {
			t.Errorf("one that came after is %s after %d attempts; want it left to another worker", e.Status, e.Attempt)
		}
		b.stop()
	})
}

func TestAWorkerThatIsStuckAndToldToStopDrainsLikeAnyOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(o *worker.Options) { o.Drain = 10 * time.Second })
		h, release := ignores(t)
		defer release()
		worker.Handle(b.worker, "work", h)
		at := soon(0)
		b.oneOff("stuck", at, aMinute)
		other := b.oneOff("other", at.Add(30*time.Second), func(d *job.Definition) { d.Timeout = job.Duration(time.Hour) })
		b.start()
		time.Sleep(time.Until(at.Add(90 * time.Second)))
		told := time.Now()
		b.stop()
		if err := <-b.done; !errors.Is(err, worker.ErrStuck) || time.Since(told) > 11*time.Second {
			t.Errorf("Run answered %v after %v", err, time.Since(told))
		}
		if e := b.execution(other, at.Add(30*time.Second)); e.Status != job.RetryWait || e.Reason != lifecycle.WorkerStopped {
			t.Errorf("the other one is %s, %s", e.Status, e.Reason)
		}
	})
}

func TestAFunctionReportsTheMessageOfAHandlerThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		h, release := ignores(t)
		defer release()
		worker.Handle(b.worker, "work", h)
		at := soon(0)
		stuck := b.oneOff("stuck", at, aMinute)
		other := b.oneOff("other", at, func(d *job.Definition) { d.Timeout = job.Duration(time.Hour) })
		time.Sleep(time.Until(at))
		e := deliver(b, "belfry-fast-io", 15*time.Minute)
		failed := invoke(b, b.worker.Lambda(), e, 15*time.Minute)
		if len(e.Records) != 2 || len(failed) != 1 {
			t.Fatalf("%d records, %v stay; want one of two", len(e.Records), failed)
		}
		if got := b.execution(stuck, at); got.Status != job.RetryWait || got.ErrorCode != "HANDLER_STUCK" {
			t.Errorf("the stuck one is %s, %s", got.Status, got.ErrorCode)
		}
		if got := b.execution(other, at); got.Status != job.Succeeded {
			t.Errorf("the other one is %s", got.Status)
		}
	})
}
