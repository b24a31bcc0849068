package worker_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

func TestEachExecutionStartsInItsSecondNeverEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(o *worker.Options) { o.Pools[0].Slots, o.Pools[0].Waiting = 40, 60 })
		var mu sync.Mutex
		starts := make(map[string]time.Time)
		worker.Handle(b.worker, "work", func(_ context.Context, a *worker.Attempt) error {
			mu.Lock()
			defer mu.Unlock()
			starts[a.ExecutionID()] = time.Now()
			return nil
		})
		b.start()
		defer b.quit()
		at := soon(5 * time.Second)
		var refs []job.Ref
		for i := range 100 {
			time.Sleep(7 * time.Millisecond) // so that messages arrive all over the second before
			refs = append(refs, b.oneOff(fmt.Sprintf("job-%d", i), at, nil))
		}
		time.Sleep(time.Until(at.Add(time.Second)))
		for _, ref := range refs {
			e := b.execution(ref, at)
			start, ran := starts[e.ID()]
			if !ran || start.Before(at) || start.After(at.Add(50*time.Millisecond)) || e.Status != job.Succeeded {
				t.Errorf("%s: ran %v, %v after its time, %s", e.ID(), ran, start.Sub(at), e.Status)
			}
		}
		if visible, inFlight := b.messages("belfry-fast-io"); visible+inFlight != 0 {
			t.Errorf("%d visible and %d hidden messages are left", visible, inFlight)
		}
	})
}

func TestNoMoreIsTakenThanThereIsRoomFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil) // 4 slots, 8 waiting
		release := make(chan struct{})
		worker.Handle(b.worker, "work", func(context.Context, *worker.Attempt) error {
			defer b.track()()
			<-release
			return nil
		})
		time.Sleep(300 * time.Millisecond) // so that messages arrive 700 ms before the second
		at := soon(2 * time.Second)
		for i := range 30 {
			b.oneOff(fmt.Sprintf("job-%d", i), at, func(d *job.Definition) { d.Timeout = job.Duration(time.Hour) })
		}
		b.start()
		defer b.quit()
		time.Sleep(time.Until(at) - 20*time.Millisecond)
		if visible, inFlight := b.messages("belfry-fast-io"); visible != 22 || inFlight != 8 {
			t.Errorf("before the second: %d visible, %d taken; want 22, 8", visible, inFlight)
		}
		time.Sleep(10 * time.Second) // those that found no slot have been given back
		if visible, inFlight := b.messages("belfry-fast-io"); visible != 26 || inFlight != 4 {
			t.Errorf("while all slots are taken: %d visible, %d taken; want 26, 4", visible, inFlight)
		}
		close(release)
		time.Sleep(10 * time.Second)
		if visible, inFlight := b.messages("belfry-fast-io"); visible+inFlight != 0 || b.most != 4 {
			t.Errorf("%d messages left; %d attempts at once, want 0 and 4", visible+inFlight, b.most)
		}
	})
}

func TestIsolatedExecutionsRunOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		var ran atomic.Int32
		worker.Handle(b.worker, "work", func(context.Context, *worker.Attempt) error {
			defer b.track()()
			ran.Add(1)
			<-time.After(3 * time.Second)
			return nil
		})
		var refs []job.Ref
		at := soon(300 * time.Second) // far enough for its own message to stay away
		for i := range 5 {
			ref := b.oneOff(fmt.Sprintf("job-%d", i), at, nil)
			e, err := b.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "test"})
			if err != nil {
				t.Fatal(err)
			}
			if err := b.Dispatch.Isolate(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			refs = append(refs, ref)
		}
		for _, m := range drain(t, b) {
			_ = b.Queues.Queue("belfry-fast-io").Delete(t.Context(), m.Handle)
		}
		b.start()
		defer b.quit()
		time.Sleep(20 * time.Second)
		if ran.Load() != int32(len(refs)) || b.most != 1 {
			t.Errorf("%d ran, %d at once; want 5, 1", ran.Load(), b.most)
		}
	})
}

func TestLongAttemptKeepsItsMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		ran := 0
		worker.Handle(b.worker, "work", func(context.Context, *worker.Attempt) error {
			ran++
			<-time.After(3 * time.Minute)
			return nil
		})
		at := soon(0)
		ref := b.oneOff("long", at, func(d *job.Definition) { d.Timeout = job.Duration(time.Hour) })
		b.start()
		defer b.quit()
		time.Sleep(4 * time.Minute)
		if e := b.execution(ref, at); ran != 1 || e.Status != job.Succeeded || e.Attempt != 1 {
			t.Errorf("ran %d times, %s after %d attempts; want once, SUCCEEDED, 1", ran, e.Status, e.Attempt)
		}
	})
}

func TestFailedAttemptComesBackAfterItsBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		var tokens []int64
		var starts []time.Time
		worker.Handle(b.worker, "work", func(_ context.Context, a *worker.Attempt) error {
			tokens, starts = append(tokens, a.FencingToken()), append(starts, time.Now())
			if a.Number() < 3 {
				return worker.WithCode("NOT_YET", errors.New("not yet"))
			}
			return nil
		})
		at := soon(0)
		ref := b.oneOff("flaky", at, func(d *job.Definition) { d.Retry = job.Retry{Base: job.Duration(10 * time.Second)} })
		b.start()
		defer b.quit()
		time.Sleep(time.Minute)
		e := b.execution(ref, at)
		if e.Status != job.Succeeded || e.Attempt != 3 || len(starts) != 3 {
			t.Fatalf("%s after %d attempts, want SUCCEEDED after 3", e.Status, e.Attempt)
		}
		for i, wait := range []time.Duration{10 * time.Second, 20 * time.Second} {
			if got := starts[i+1].Sub(starts[i]); got < wait || got > wait+1100*time.Millisecond {
				t.Errorf("wait %d was %v, want %v rounded up to the second", i+1, got, wait)
			}
			if tokens[i+1] <= tokens[i] {
				t.Errorf("tokens %v do not grow", tokens)
			}
		}
		if e.ErrorCode != "NOT_YET" && e.Timeline[2].ErrorCode != "NOT_YET" {
			t.Errorf("the timeline does not tell NOT_YET: %+v", e.Timeline)
		}
	})
}

func TestUnknownHandlerIsRetriedByAWorkerThatHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		worker.Handle(b.worker, "other", func(context.Context, *worker.Attempt) error { return nil })
		at := soon(0)
		ref := b.oneOff("stray", at, nil)
		b.start()
		defer b.quit()
		time.Sleep(time.Until(at) + 500*time.Millisecond)
		if e := b.execution(ref, at); e.Status != job.RetryWait || e.ErrorCode != worker.CodeHandlerUnknown {
			t.Errorf("%s, %s; want RETRY_WAIT, HANDLER_UNKNOWN", e.Status, e.ErrorCode)
		}
	})
}

func TestReceivesBackOffWhileTheQueueFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		worker.Handle(b.worker, "work", func(context.Context, *worker.Attempt) error { return nil })
		broken := true
		b.sqsCall = func(c fault.Call) fault.Action {
			if broken && c.Operation == "ReceiveMessage" {
				return fault.Throttle
			}
			return fault.Pass
		}
		b.start()
		defer b.quit()
		time.Sleep(10 * time.Minute)
		if n := b.count("ReceiveMessage"); n < 20 || n > 1000 {
			t.Errorf("%d receives in ten broken minutes, want a bounded number", n)
		}
		b.mu.Lock()
		broken = false
		b.mu.Unlock()
		at := soon(0)
		ref := b.oneOff("patient", at, nil)
		time.Sleep(time.Minute)
		if e := b.execution(ref, at); e.Status != job.Succeeded {
			t.Errorf("%s after the queue was back, want SUCCEEDED", e.Status)
		}
	})
}

func TestIdleWorkerPollsSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(o *worker.Options) { o.Pools[0].Slots, o.Pools[0].Waiting = 256, 512 })
		worker.Handle(b.worker, "work", func(context.Context, *worker.Attempt) error { return nil })
		at := soon(0)
		for i := range 200 {
			b.oneOff(fmt.Sprintf("job-%d", i), at, nil)
		}
		b.start()
		defer b.quit()
		time.Sleep(time.Minute) // the burst is over, and the polls that it called in
		before := b.count("ReceiveMessage")
		time.Sleep(10 * time.Minute)
		if n := b.count("ReceiveMessage") - before; n > 62 {
			t.Errorf("%d receives in ten idle minutes; two queues of 20 s polls need 60", n)
		}
	})
}

func TestBurstIsMetByManyPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(o *worker.Options) { o.Pools[0].Slots, o.Pools[0].Waiting = 200, 200 })
		b.sqsCall = func(c fault.Call) fault.Action {
			if c.Operation == "ReceiveMessage" {
				return fault.Delay(100 * time.Millisecond) // as far away as that
			}
			return fault.Pass
		}
		var mu sync.Mutex
		var last time.Time
		worker.Handle(b.worker, "work", func(context.Context, *worker.Attempt) error {
			mu.Lock()
			defer mu.Unlock()
			last = time.Now()
			return nil
		})
		at := soon(0)
		for i := range 200 {
			b.oneOff(fmt.Sprintf("job-%d", i), at, nil)
		}
		b.start()
		defer b.quit()
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if took := last.Sub(at); took > 700*time.Millisecond {
			t.Errorf("the last of 200 started %v after the second; one poll after the other takes 2 s", took)
		}
	})
}
