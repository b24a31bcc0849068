package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// part is the payload of a child, and what it saves as its result.
type part struct{ Number int }

func parts(n int) (all []worker.Child) {
	for i := range n {
		all = append(all, worker.Child{Payload: part{i}})
	}
	return all
}

// splits registers a parent, its children and what runs after them.
type splits struct {
	*bench
	mu     sync.Mutex
	ran    map[int]int // by child
	after  int
	told   worker.Family
	result []int
}

func split(b *bench, n int, o worker.FanOut, child func(ctx context.Context, a *worker.Attempt, p part) error) *splits {
	s := &splits{bench: b, ran: map[int]int{}}
	o.Handler, o.Reduce = "part", "gather"
	worker.Handle(b.worker, "work", func(ctx context.Context, a *worker.Attempt) error { return a.FanOut(ctx, parts(n), o) })
	worker.HandleTyped(b.worker, "part", func(ctx context.Context, a *worker.Attempt, p part) error {
		s.mu.Lock()
		s.ran[p.Number]++
		s.mu.Unlock()
		if number, is := a.ChildNumber(); !is || number != p.Number {
			b.Errorf("child %d is handed %d", number, p.Number)
		}
		return child(ctx, a, p)
	})
	worker.Handle(b.worker, "gather", func(ctx context.Context, a *worker.Attempt) (err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.after++
		if s.told, err = a.Outcome(); err != nil {
			return err
		}
		s.result = nil
		for c, err := range a.Children(ctx) {
			if err != nil {
				return err
			}
			var p part
			if found, err := c.Load(ctx, &p); err != nil {
				return err
			} else if found {
				s.result = append(s.result, p.Number)
			}
		}
		return nil
	})
	return s
}

// squares saves its square, which is its result.
func squares(ctx context.Context, a *worker.Attempt, p part) error {
	return a.Save(ctx, part{p.Number * p.Number})
}

func (s *splits) reduced(ref job.Ref, at time.Time) *job.Execution {
	s.Helper()
	e, err := s.Store.Execution(s.Context(), ref, job.ReduceKey(job.ScheduledKey(at)))
	if err != nil {
		s.Fatal(err)
	}
	return e
}

func TestAnExecutionFansOutAndWhatFollowsRunsOnce(t *testing.T) {
	for _, n := range []int{0, 1, 7, job.PageSize, job.PageSize + 1} {
		t.Run(fmt.Sprint(n, " children"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, func(o *worker.Options) { o.Pools[0].Slots, o.Pools[0].Waiting = 64, 128 })
				s := split(b, n, worker.FanOut{}, squares)
				at := soon(0)
				ref := b.oneOff("split", at, nil)
				b.start()
				time.Sleep(5 * time.Minute)
				b.quit()
				if e := b.execution(ref, at); e.Status != job.Succeeded || e.Attempt != 1 {
					t.Errorf("the parent is %s after %d attempts", e.Status, e.Attempt)
				}
				if e := s.reduced(ref, at); e == nil || e.Status != job.Succeeded || s.after != 1 || s.told != (worker.Family{Children: n}) {
					t.Errorf("what follows is %+v, ran %d times and was told %+v", e, s.after, s.told)
				}
				for i := range n {
					if s.ran[i] != 1 || s.result[i] != i*i {
						t.Fatalf("child %d ran %d times; results %v", i, s.ran[i], s.result)
					}
				}
				if visible, inFlight := b.messages("belfry-fast-io"); visible+inFlight != 0 {
					t.Errorf("%d and %d messages are left", visible, inFlight)
				}
			})
		})
	}
}

func TestAChildIsRetriedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		s := split(b, 5, worker.FanOut{Retry: &job.Retry{MaxAttempts: 3, Base: job.Duration(time.Second), Max: job.Duration(time.Second), MaxAge: job.Duration(time.Hour), MaxLost: 3}},
			func(ctx context.Context, a *worker.Attempt, p part) error {
				if p.Number == 2 && a.Number() < 3 {
					return errors.New("not yet")
				}
				return squares(ctx, a, p)
			})
		at := soon(0)
		ref := b.oneOff("split", at, nil)
		b.start()
		time.Sleep(time.Minute)
		b.quit()
		if e := s.reduced(ref, at); e == nil || e.Status != job.Succeeded || s.ran[2] != 3 || s.ran[1] != 1 || s.told.Failed != 0 {
			t.Errorf("what follows is %+v; the children ran %v", e, s.ran)
		}
	})
}

func TestWhatBecomesOfChildrenThatFail(t *testing.T) {
	for sentence, row := range map[string]struct {
		allow  worker.FanOut
		status job.Status
		after  int
	}{
		"one is one too many":           {worker.FanOut{}, job.Failed, 0},
		"as many as may are told of":    {worker.FanOut{MaxFailed: 2}, job.Succeeded, 1},
		"one more is too many":          {worker.FanOut{MaxFailed: 1}, job.Failed, 0},
		"of a hundred, too":             {worker.FanOut{MaxFailedPercent: 20}, job.Succeeded, 1},
		"and one more than that is not": {worker.FanOut{MaxFailedPercent: 19}, job.Failed, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, nil)
				s := split(b, 10, row.allow, func(_ context.Context, _ *worker.Attempt, p part) error {
					if p.Number == 3 || p.Number == 8 {
						return worker.Permanent(errors.New("broken"))
					}
					return nil
				})
				at := soon(0)
				ref := b.oneOff("split", at, nil)
				b.start()
				time.Sleep(2 * time.Minute)
				b.quit()
				e := s.reduced(ref, at)
				if e == nil || e.Status != row.status || s.after != row.after {
					t.Fatalf("what follows is %+v, ran %d times", e, s.after)
				}
				if row.after == 1 && s.told != (worker.Family{Children: 10, Failed: 2}) {
					t.Errorf("it was told %+v", s.told)
				}
				if row.after == 0 && e.ErrorCode != worker.CodeChildrenFailed {
					t.Errorf("it failed with %s, %s", e.ErrorCode, e.ErrorText)
				}
			})
		})
	}
}

func TestOnceTooManyFailedTheRestNeverBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, func(o *worker.Options) { o.Pools[0].Slots, o.Pools[0].Waiting = 1, 1 })
		s := split(b, 40, worker.FanOut{}, func(ctx context.Context, _ *worker.Attempt, _ part) error {
			<-time.After(time.Second)
			return worker.Permanent(errors.New("broken"))
		})
		at := soon(0)
		ref := b.oneOff("split", at, nil)
		b.start()
		time.Sleep(20 * time.Minute)
		b.quit()
		if e := s.reduced(ref, at); e == nil || e.Status != job.Failed || len(s.ran) > 3 {
			t.Errorf("what follows is %+v; %d children ran", e, len(s.ran))
		}
		children, err := b.Store.Children(t.Context(), ref, job.ScheduledKey(at), 0)
		if err != nil || len(children) != 40 {
			t.Fatalf("%d children, %v", len(children), err)
		}
		for _, c := range children {
			if c.Status != job.Failed && (c.Status != job.Canceled || c.Reason != lifecycle.ChildrenFailed || c.Attempt != 0) {
				t.Errorf("%s is %s/%s after %d attempts", c.ID(), c.Status, c.Reason, c.Attempt)
			}
		}
	})
}

func TestChildrenEndWithAParentThatDoesNotSucceed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		var told []error
		var mu sync.Mutex
		worker.Handle(b.worker, "part", func(ctx context.Context, a *worker.Attempt) error {
			<-ctx.Done()
			mu.Lock()
			defer mu.Unlock()
			told = append(told, context.Cause(ctx))
			return ctx.Err()
		})
		worker.Handle(b.worker, "work", func(ctx context.Context, a *worker.Attempt) error {
			if err := a.FanOut(ctx, parts(8), worker.FanOut{Handler: "part", Reduce: "part", Timeout: job.Duration(time.Hour)}); err != nil {
				return err
			}
			<-time.After(30 * time.Second)
			return worker.Permanent(errors.New("it was all a mistake"))
		})
		at := soon(0)
		ref := b.oneOff("split", at, func(d *job.Definition) { d.Timeout = job.Duration(time.Hour) })
		b.start()
		time.Sleep(10 * time.Minute)
		b.quit()
		children, err := b.Store.Children(t.Context(), ref, job.ScheduledKey(at), 0)
		if err != nil || len(children) != 8 || len(told) != 3 { // of four slots the parent had one
			t.Errorf("%d children, %v; told %v", len(children), err, told)
		}
		for _, c := range children {
			if c.Status != job.Canceled {
				t.Errorf("%s is %s/%s", c.ID(), c.Status, c.Reason)
			}
		}
		e, err := b.Store.Execution(t.Context(), ref, job.ReduceKey(job.ScheduledKey(at)))
		if err != nil || e == nil || e.Status != job.Canceled || e.Attempt != 0 {
			t.Errorf("what follows is %+v, %v", e, err)
		}
	})
}

func TestAnAttemptThatAsksForOtherChildrenFailsForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		worker.Handle(b.worker, "part", func(context.Context, *worker.Attempt) error { return nil })
		worker.Handle(b.worker, "work", func(ctx context.Context, a *worker.Attempt) error {
			if err := a.FanOut(ctx, parts(a.Number()), worker.FanOut{Handler: "part"}); err != nil {
				return err
			}
			return errors.New("once more")
		})
		at := soon(0)
		ref := b.oneOff("split", at, nil)
		b.start()
		time.Sleep(time.Minute)
		b.quit()
		if e := b.execution(ref, at); e.Status != job.Failed || e.ErrorCode != worker.CodeFanOutChanged || e.Attempt != 2 {
			t.Errorf("it is %s, %s after %d attempts", e.Status, e.ErrorCode, e.Attempt)
		}
	})
}

func TestWhatAFanOutRefuses(t *testing.T) {
	for sentence, row := range map[string]struct {
		children []worker.Child
		o        worker.FanOut
		code     string
	}{
		"no handler":           {parts(1), worker.FanOut{}, "INVALID"},
		"a handler of no name": {parts(1), worker.FanOut{Handler: "No Name"}, "INVALID"},
		"failures below none":  {parts(1), worker.FanOut{Handler: "part", MaxFailed: -1}, "INVALID"},
		"more than a hundred":  {parts(1), worker.FanOut{Handler: "part", MaxFailedPercent: 101}, "INVALID"},
		"a payload of a novel": {[]worker.Child{{Payload: string(make([]byte, job.MaxPayload))}}, worker.FanOut{Handler: "part"}, "TOO_LARGE"},
		"too many":             {make([]worker.Child, job.MaxChildren+1), worker.FanOut{Handler: "part"}, "INVALID"},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, nil)
				worker.Handle(b.worker, "work", func(ctx context.Context, a *worker.Attempt) error { return a.FanOut(ctx, row.children, row.o) })
				at := soon(0)
				ref := b.oneOff("split", at, nil)
				b.start()
				time.Sleep(10 * time.Second)
				b.quit()
				if e := b.execution(ref, at); e.Status != job.Failed || e.ErrorCode != row.code || e.Attempt != 1 {
					t.Errorf("it is %s, %s after %d attempts", e.Status, e.ErrorCode, e.Attempt)
				}
			})
		})
	}
}

func TestAHandlerThatEndsWellAlthoughItsFanOutDidNotIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		var codes []string
		worker.Handle(b.worker, "part", func(context.Context, *worker.Attempt) error { return nil })
		worker.Handle(b.worker, "work", func(ctx context.Context, a *worker.Attempt) error {
			asked := ctx
			if a.Number() == 1 {
				gone, stop := context.WithCancel(ctx)
				stop()
				asked = gone
			}
			_ = a.FanOut(asked, parts(3), worker.FanOut{Handler: "part"})
			return nil
		})
		at := soon(0)
		ref := b.oneOff("split", at, nil)
		b.start()
		time.Sleep(time.Minute)
		b.quit()
		e := b.execution(ref, at)
		for _, entry := range e.Timeline {
			codes = append(codes, entry.ErrorCode)
		}
		if e.Status != job.Succeeded || e.Attempt != 2 || !slices.Contains(codes, "FAN_OUT_INCOMPLETE") {
			t.Errorf("it is %s after %d attempts, with %v", e.Status, e.Attempt, codes)
		}
	})
}

func TestChildrenAreCanceledWithAParentThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		s := split(b, 12, worker.FanOut{Timeout: job.Duration(time.Hour)}, func(ctx context.Context, _ *worker.Attempt, _ part) error {
			<-ctx.Done()
			return ctx.Err()
		})
		at := soon(0)
		ref := b.oneOff("split", at, nil)
		b.start()
		time.Sleep(time.Minute)
		if e, err := b.Control.Cancel(t.Context(), ref, job.ScheduledKey(at), "ada"); err != nil || e.Status != job.Succeeded {
			t.Errorf("the cancel answers %+v, %v", e, err)
		}
		time.Sleep(5 * time.Minute)
		children, next, err := b.Control.Children(t.Context(), ref, job.ScheduledKey(at), 0)
		if err != nil || len(children) != 12 || next != 0 || len(s.ran) != 4 {
			t.Errorf("%d children, %d, %v; %d began", len(children), next, err, len(s.ran))
		}
		for _, c := range children {
			if c.Status != job.Canceled || c.Reason != lifecycle.CancelRequested {
				t.Errorf("%s is %s/%s", c.ID(), c.Status, c.Reason)
			}
		}
		if e := s.reduced(ref, at); e == nil || e.Status != job.Canceled || s.after != 0 {
			t.Errorf("what follows is %+v, ran %d times", e, s.after)
		}
		if _, err := b.Control.Cancel(t.Context(), ref, job.ScheduledKey(at), "ada"); job.CodeOf(err) != job.CodeStateConflict {
			t.Errorf("a cancel once all have ended: %v", err)
		}
		b.quit()
	})
}

func TestWhatFollowsCanBeReplayedAlthoughTooManyFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		s := split(b, 4, worker.FanOut{}, func(ctx context.Context, a *worker.Attempt, p part) error {
			if p.Number == 3 {
				<-time.After(10 * time.Second)
				return worker.Permanent(errors.New("broken"))
			}
			return squares(ctx, a, p)
		})
		at := soon(0)
		ref := b.oneOff("split", at, nil)
		b.start()
		time.Sleep(time.Minute)
		if e := s.reduced(ref, at); e == nil || e.Status != job.Failed || s.after != 0 {
			t.Fatalf("what follows is %+v", e)
		}
		if _, err := b.Control.Replay(t.Context(), control.ReplayRequest{Ref: ref, Key: job.ReduceKey(job.ScheduledKey(at)), Actor: "ada"}); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Control.Replay(t.Context(), control.ReplayRequest{Ref: ref, Key: job.ChildKey(job.ScheduledKey(at), 3), Actor: "ada"}); job.CodeOf(err) != job.CodeStateConflict {
			t.Errorf("a child is replayed: %v", err)
		}
		time.Sleep(time.Minute)
		b.quit()
		if s.after != 1 || s.told != (worker.Family{Children: 4, Failed: 1}) || !slices.Equal(s.result, []int{0, 1, 4}) {
			t.Errorf("it ran %d times, was told %+v and read %v", s.after, s.told, s.result)
		}
	})
}
