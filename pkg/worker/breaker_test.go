package worker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

func TestADeadResourceDoesNotBurnTheAttemptsOfAThousandExecutions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resource{down: errDown, takes: 50 * time.Millisecond}
		b := guarded(t, r, nil)
		at := soon(5 * time.Second)
		refs := b.many(1000, at, patient)
		b.start()
		defer b.quit()
		time.Sleep(time.Until(at) + 20*time.Minute)
		attempts, tried := 0, 0
		for _, ref := range refs {
			e := b.execution(ref, at)
			attempts += e.Attempt
			if e.Attempt > 0 {
				tried++
			}
			if e.Status != job.Scheduled && e.Status != job.RetryWait {
				t.Fatalf("%s is %s after %d attempts, want it to wait", e.ID(), e.Status, e.Attempt)
			}
		}
		// 20 in a row, those that ran beside them, and three probes each two minutes.
		if probes := attempts - 24; probes < 0 || attempts > 24+3*14 {
			t.Errorf("%d attempts of %d executions were used up in twenty minutes, want about 20 and the probes", attempts, tried)
		}
		// One row, one opening and three probes a turn; nothing for what failed beside them.
		if notes, probes := b.breakerCalls.of("note"), b.breakerCalls.of("probe"); notes > 24 || probes > 3*15 {
			t.Errorf("%d failures were told and %d probes asked for by one worker", notes, probes)
		}
		r.set(nil)
		mended := time.Now()
		time.Sleep(4 * time.Minute)
		late := 0
		for _, ref := range refs {
			if e := b.execution(ref, at); e.Status != job.Succeeded {
				late++
			}
		}
		if late != 0 {
			t.Errorf("%d of 1000 executions have not succeeded four minutes after the resource was back", late)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		seconds := map[int]int{}
		for _, c := range r.calls {
			if c.After(mended) {
				seconds[int(c.Sub(mended).Seconds())]++
			}
		}
		for s, n := range seconds {
			if n > 40 {
				t.Errorf("%d calls in second %d after the resource was back, want them spread", n, s)
			}
		}
	})
}

func TestWhatOneProcessTripsStopsTheOtherWithinFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &resource{down: errDown}, &resource{}
		b := guarded(t, first, nil)
		other := b.another(func(o *worker.Options) {
			o.Execution.Owner = "worker-b"
		})
		worker.Handle(other, "work", second.call, worker.Resource("payments-db"))
		b.start()
		defer b.quit()
		stop := b.alongside(other)
		defer stop()
		ref := job.Ref{Tenant: "default", Job: "pulse"}
		d := job.Definition{Job: "pulse", Schedule: job.Schedule{At: soon(365 * 24 * time.Hour)}, Target: job.Target{Handler: &job.HandlerTarget{Name: "work"}},
			Retry: job.Retry{Base: job.Duration(time.Minute), Max: job.Duration(time.Hour)}}
		if _, err := b.Control.Put(t.Context(), control.PutRequest{Ref: ref, Definition: d, Actor: "test"}); err != nil {
			t.Fatal(err)
		}
		var opened time.Time
		for n := 0; n < 600; n++ {
			if _, err := b.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "test"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
			if now := b.breaker(); opened.IsZero() && now.State(time.Now()) == job.BreakerOpen {
				opened = time.Now()
			}
			if !opened.IsZero() && time.Since(opened) > 12*time.Second {
				break
			}
		}
		if opened.IsZero() || second.since(time.Time{}) == 0 {
			t.Fatalf("opened at %v; the second process was called %d times", opened, second.since(time.Time{}))
		}
		if n := first.since(opened.Add(100*time.Millisecond)) + second.since(opened.Add(5*time.Second)); n != 0 {
			t.Errorf("%d calls although one process had opened the breaker, want the other to have stopped within 5 s", n)
		}
	})
}

func TestExactlyAsManyProbesBeginAsTheRulesSayWithTwentyWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resource{down: errDown}
		b := guarded(t, r, nil)
		at := soon(2 * time.Second)
		b.many(200, at, func(d *job.Definition) { d.Timeout = job.Duration(time.Minute) })
		b.start()
		defer b.quit()
		for range 19 {
			w := b.another(nil)
			worker.Handle(w, "work", r.call, worker.Resource("payments-db"))
			defer b.alongside(w)()
		}
		time.Sleep(time.Until(at) + 5*time.Second)
		open := b.breaker()
		if open.State(time.Now()) != job.BreakerOpen {
			t.Fatalf("the breaker is %+v", open)
		}
		r.mu.Lock()
		r.takes, r.down = 20*time.Second, nil
		r.mu.Unlock()
		time.Sleep(time.Until(open.Until) + 15*time.Second)
		if n := r.since(open.Until); n != 3 {
			t.Errorf("%d attempts probe, want 3", n)
		}
		time.Sleep(2 * time.Minute)
		if now := b.breaker(); now.State(time.Now()) != job.BreakerClosed || r.since(open.Until) != 200 && r.since(time.Time{}) < 200 {
			t.Errorf("after its probes were answered the breaker is %+v; %d calls", now, r.since(open.Until))
		}
	})
}

func TestOneBadJobDoesNotStopTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resource{}
		b := setup(t, nil)
		b.worker = b.another(nil)
		worker.Handle(b.worker, "work", func(ctx context.Context, a *worker.Attempt) error {
			if a.Job() == "bad" {
				return errDown
			}
			return r.call(ctx, a)
		}, worker.Resource("payments-db"))
		b.start()
		defer b.quit()
		ref := b.oneOff("bad", soon(365*24*time.Hour), func(d *job.Definition) {
			d.Retry = job.Retry{Base: job.Duration(time.Hour), Max: job.Duration(time.Hour)}
		})
		for range 30 {
			if _, err := b.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "test"}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second)
		if now := b.breaker(); now.State(time.Now()) != job.BreakerOpen || now.Wide() {
			t.Fatalf("the breaker is %+v, want it open for one job", now)
		}
		at := soon(0)
		good := b.oneOff("good", at, nil)
		time.Sleep(time.Until(at) + time.Second)
		if e := b.execution(good, at); e.Status != job.Succeeded {
			t.Errorf("the good job is %s, want SUCCEEDED", e.Status)
		}
	})
}

func TestAReceiverThatAsksToBeSparedIsSparedAsLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resource{down: worker.RetryAfter(errors.New("slow down"), 7*time.Minute)}
		b := guarded(t, r, nil)
		b.start()
		defer b.quit()
		at := soon(0)
		ref := b.oneOff("busy", soon(365*24*time.Hour), nil)
		if _, err := b.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "test"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Until(at) + time.Second)
		asked := time.Now()
		for range 10 {
			if _, err := b.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "test"}); err != nil {
				t.Fatal(err)
			}
		}
		r.set(nil)
		time.Sleep(6*time.Minute + 50*time.Second)
		if n := r.since(asked); n != 0 {
			t.Errorf("%d calls within the seven minutes that were asked for", n)
		}
		time.Sleep(2 * time.Minute)
		if n := r.since(asked); n != 11 {
			t.Errorf("%d calls after them, want 11", n)
		}
	})
}

func TestAStartDeadlineEndsWhatABreakerHoldsBackAtItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resource{down: worker.RetryAfter(errDown, time.Hour)}
		b := guarded(t, r, nil)
		b.start()
		defer b.quit()
		first := soon(0)
		for i := range 3 { // three jobs: it is about every job from then on
			b.oneOff(fmt.Sprintf("first-%d", i), first, nil)
		}
		at := first.Add(5 * time.Second)
		urgent := b.oneOff("urgent", at, func(d *job.Definition) { d.StartDeadline = job.Duration(90 * time.Second) })
		time.Sleep(time.Until(at) + 89*time.Second)
		if e := b.execution(urgent, at); e.Status != job.Scheduled || e.Attempt != 0 {
			t.Errorf("before its start deadline it is %s after %d attempts, want SCHEDULED, 0", e.Status, e.Attempt)
		}
		time.Sleep(3 * time.Second)
		if e := b.execution(urgent, at); e.Status != job.Missed || e.Reason != lifecycle.StartDeadline || e.Attempt != 0 {
			t.Errorf("after its start deadline it is %s, %s after %d attempts, want MISSED", e.Status, e.Reason, e.Attempt)
		}
	})
}

func TestTheGreatestAgeEndsWhatABreakerHoldsBackAtItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		b.worker = b.another(nil)
		worker.Handle(b.worker, "work", func(_ context.Context, a *worker.Attempt) error {
			if a.Job() == "old" {
				return errDown
			}
			return worker.RetryAfter(errDown, time.Hour)
		}, worker.Resource("payments-db"))
		b.start()
		defer b.quit()
		at := soon(0)
		ref := b.oneOff("old", at, func(d *job.Definition) {
			d.Retry = job.Retry{Base: job.Duration(2 * time.Second), MaxAge: job.Duration(10 * time.Minute)}
		})
		b.many(3, at.Add(time.Second), nil)
		time.Sleep(time.Until(at) + 10*time.Minute - time.Second)
		if e := b.execution(ref, at); e.Status != job.RetryWait || e.Attempt > 2 {
			t.Errorf("before its greatest age it is %s, want RETRY_WAIT", e.Status)
		}
		time.Sleep(3 * time.Second)
		if e := b.execution(ref, at); e.Status != job.Dead || e.Reason != lifecycle.MaxAge {
			t.Errorf("after its greatest age it is %s, %s, want DEAD", e.Status, e.Reason)
		}
	})
}

func TestMessagesHeldBackForHoursAreNotDeadLettered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &resource{down: errDown}
		b := guarded(t, r, func(o *worker.Options) { o.DeadLetters = true })
		at := soon(0)
		refs := b.many(40, at, func(d *job.Definition) {
			patient(d)
			d.Retry.MaxAge = job.Duration(72 * time.Hour)
		})
		b.start()
		defer b.quit()
		time.Sleep(5 * time.Hour)
		for _, ref := range refs {
			if e := b.execution(ref, at); e.Redrives != 0 || e.Status != job.Scheduled && e.Status != job.RetryWait {
				t.Errorf("%s is %s after %d redrives, want it to wait", e.ID(), e.Status, e.Redrives)
			}
		}
	})
}
