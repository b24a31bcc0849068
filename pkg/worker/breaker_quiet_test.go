package worker_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

func TestABreakerCostsAHappyAttemptNoWriteAndARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resource{}
		b := guarded(t, r, nil)
		b.start()
		defer b.quit()
		at := soon(0)
		for second := range 30 {
			for i := range 10 {
				b.oneOff(fmt.Sprintf("job-%d-%d", second, i), at.Add(time.Duration(second)*time.Second), nil)
			}
		}
		time.Sleep(time.Until(at) + 40*time.Second)
		if r.since(at) != 300 {
			t.Fatalf("%d of 300 attempts ran", r.since(at))
		}
		reads := b.breakerCalls.of("read")
		for _, call := range []string{"note", "open", "probe", "pass", "close"} {
			if n := b.breakerCalls.of(call); n != 0 {
				t.Errorf("%d calls to %s where nothing failed", n, call)
			}
		}
		if reads > 11 {
			t.Errorf("%d reads for 300 attempts in thirty seconds, want one in three seconds", reads)
		}
	})
}

func TestWhatSaysNothingAboutAResourceDoesNotOpenItsBreaker(t *testing.T) {
	for says, end := range map[string]func() error{
		"an error from elsewhere":      func() error { return worker.Elsewhere(errDown) },
		"a refusal of the one request": func() error { return worker.Permanent(errDown) },
		"a handler that panics":        func() error { panic("index out of range") },
		"an error between two answers": nil,
		"a handler without a resource": func() error { return errDown },
		"breakers that are turned off": func() error { return errDown },
	} {
		t.Run(says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, nil)
				b.worker = b.another(func(o *worker.Options) {
					if says == "breakers that are turned off" {
						o.Breakers = nil
					}
				})
				var ran atomic.Int32
				options := []worker.Option{worker.Resource("payments-db")}
				if says == "a handler without a resource" {
					options = nil
				}
				worker.Handle(b.worker, "work", func(context.Context, *worker.Attempt) error {
					n := ran.Add(1)
					if end != nil {
						return end()
					}
					if n%2 == 0 {
						return errDown
					}
					return nil
				}, options...)
				b.start()
				defer b.quit()
				at := soon(0)
				b.many(60, at, func(d *job.Definition) {
					d.Retry = job.Retry{Base: job.Duration(time.Hour), Max: job.Duration(time.Hour)}
				})
				time.Sleep(time.Until(at) + 10*time.Second)
				if now := b.breaker(); now.State(time.Now()) != job.BreakerClosed || ran.Load() != 60 {
					t.Errorf("%d of 60 ran; the breaker is %+v", ran.Load(), now)
				}
			})
		})
	}
}

func TestAResourceThatCannotBeReadHoldsNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resource{}
		b := setup(t, nil)
		b.worker = b.another(func(o *worker.Options) { o.Breakers = broken{} })
		worker.Handle(b.worker, "work", r.call, worker.Resource("payments-db"))
		b.start()
		defer b.quit()
		at := soon(0)
		refs := b.many(20, at, nil)
		time.Sleep(time.Until(at) + 10*time.Second)
		for _, ref := range refs {
			if e := b.execution(ref, at); e.Status != job.Succeeded {
				t.Errorf("%s is %s, want SUCCEEDED", e.ID(), e.Status)
			}
		}
	})
}

// broken is a table that answers nothing but faults.
type broken struct{ worker.Breakers }

func (broken) Breaker(context.Context, string, string) (*job.Breaker, error) {
	return nil, &job.Error{Code: job.CodeUnavailable, Message: "the store could not read the breaker"}
}

func (broken) NoteFailure(context.Context, job.BreakerFailure) (*job.Breaker, error) {
	return nil, &job.Error{Code: job.CodeUnavailable, Message: "the store could not note the failure"}
}
