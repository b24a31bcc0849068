package execute_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

func TestTheHandlerSeesItsAttempt(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		b.runs(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
			deadline, _ := ctx.Deadline()
			if want := b.begun.Add(time.Minute); !a.Deadline.Equal(want) || !deadline.Equal(want) {
				t.Errorf("deadline %v, the context's %v; want a minute from the start", a.Deadline, deadline)
			}
			if e := a.Execution; e.Attempt != 1 || e.FencingToken != 1 || e.Status != job.Running || e.Lease.Owner != "w1" || a.Definition.Job != "nightly" {
				t.Errorf("the attempt is %+v of %q", e, a.Definition.Job)
			}
			select {
			case <-a.Canceled:
				t.Error("canceled from the start")
			default:
			}
			return nil
		})
		if got := b.Process(b.Context(), b.delivery(b.message())); !got.Delete || got.Err != nil {
			t.Errorf("disposal %+v", got)
		}
		e := b.wantStatus(job.Succeeded, lifecycle.Done)
		if !e.Lease.Until.IsZero() || e.FinishedAt.IsZero() || e.StartedAt.IsZero() || len(e.Timeline) != 3 {
			t.Errorf("ended as %+v", e)
		}
	})
}

func TestAHandlerThatKeepsItsTimeoutIsTold(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		b.runs(forAWhile(time.Hour))
		got := b.Process(b.Context(), b.delivery(b.message()))
		if b.since() != time.Minute || got.Delete || got.Hide != time.Second {
			t.Errorf("disposal %+v after %v; want it back in a second, at the timeout", got, b.since())
		}
		if e := b.wantStatus(job.RetryWait, lifecycle.TimedOut); e.ErrorCode != "TIMEOUT" {
			t.Errorf("error code %q", e.ErrorCode)
		}
	})
}

func TestAHandlerThatIgnoresItsContextIsSettledFiveSecondsAfterItsDeadline(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		release := make(chan struct{})
		defer close(release)
		b.runs(func(context.Context, *execute.Attempt) *lifecycle.Failure { <-release; return nil })
		got := b.Process(b.Context(), b.delivery(b.message()))
		if b.since() != 65*time.Second || got.Delete {
			t.Errorf("disposal %+v after %v", got, b.since())
		}
		if e := b.wantStatus(job.RetryWait, lifecycle.TimedOut); e.Attempt != 1 {
			t.Errorf("%d attempts", e.Attempt)
		}
	})
}

func TestAHandlerThatBreaksIsContained(t *testing.T) {
	for name, row := range map[string]struct {
		handler    func()
		code, text string
	}{
		"a panic":                     {func() { panic("kaboom") }, "PANIC", "kaboom"},
		"a panic with an error":       {func() { panic(errors.New("kaboom")) }, "PANIC", "kaboom"},
		"a panic with nothing":        {func() { panic(nil) }, "PANIC", "nil"},
		"a fault of the runtime":      {func() { var a *execute.Attempt; _ = a.Deadline }, "PANIC", "nil pointer"},
		"an end of its own goroutine": {runtime.Goexit, "GOEXIT", "ended its goroutine"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				b.runs(func(context.Context, *execute.Attempt) *lifecycle.Failure { row.handler(); return nil })
				if got := b.Process(b.Context(), b.delivery(b.message())); got.Delete || got.Hide != time.Second || b.since() != 0 {
					t.Errorf("disposal %+v after %v", got, b.since())
				}
				if e := b.wantStatus(job.RetryWait, lifecycle.HandlerPanic); e.ErrorCode != row.code || !strings.Contains(e.ErrorText, row.text) {
					t.Errorf("error %q %q", e.ErrorCode, e.ErrorText)
				}
			})
		})
	}
}

func TestAWorkerThatStopsGivesItsAttemptBackAtOnce(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		ctx, stop := context.WithCancel(b.Context())
		time.AfterFunc(3*time.Second, stop)
		b.runs(forAWhile(time.Minute))
		got := b.Process(ctx, b.delivery(b.message()))
		if got.Delete || got.Hide != 0 || b.since() != 3*time.Second {
			t.Errorf("disposal %+v after %v; want it visible at once", got, b.since())
		}
		e := b.wantStatus(job.RetryWait, lifecycle.WorkerStopped)
		if !e.AvailableAt.Equal(b.begun.Add(3 * time.Second)) {
			t.Errorf("available at %v", e.AvailableAt)
		}
	})
}

func TestWhatTheHandlerSaysIsSettled(t *testing.T) {
	for name, row := range map[string]struct {
		failure *lifecycle.Failure
		status  job.Status
		reason  job.Reason
		deleted bool
		hide    time.Duration
	}{
		"success":                   {nil, job.Succeeded, lifecycle.Done, true, 0},
		"a passing failure":         {http503, job.RetryWait, lifecycle.HandlerError, false, time.Second},
		"a target that is busy":     {&lifecycle.Failure{Class: lifecycle.ThrottledClass, RetryAfter: 42 * time.Second}, job.RetryWait, lifecycle.Throttled, false, 42 * time.Second},
		"a permanent failure":       {&lifecycle.Failure{Class: lifecycle.PermanentClass, Code: "HTTP_400"}, job.Failed, lifecycle.Permanent, true, 0},
		"a handler that cancels":    {&lifecycle.Failure{Class: lifecycle.CanceledClass}, job.Canceled, lifecycle.CancelRequested, true, 0},
		"a wait beyond the age":     {&lifecycle.Failure{RetryAfter: 48 * time.Hour}, job.Dead, lifecycle.MaxAge, true, 0},
		"a wait of fifteen minutes": {&lifecycle.Failure{RetryAfter: 15 * time.Minute}, job.RetryWait, lifecycle.HandlerError, false, 15 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				b.runs(func(context.Context, *execute.Attempt) *lifecycle.Failure { return row.failure })
				got := b.Process(b.Context(), b.delivery(b.message()))
				if got.Delete != row.deleted || !row.deleted && got.Hide != row.hide {
					t.Errorf("disposal %+v, want deleted %v, hidden %v", got, row.deleted, row.hide)
				}
				if e := b.wantStatus(row.status, row.reason); !e.Wake.At.IsZero() {
					t.Errorf("a wake-up at %v that nobody needs", e.Wake.At)
				}
			})
		})
	}
}

func TestTheLastAllowedAttemptEndsDead(t *testing.T) {
	inBubble(t, func(d *job.Definition) { d.Retry.MaxAttempts = 2 }, func(b *bench) {
		b.runs(func(context.Context, *execute.Attempt) *lifecycle.Failure { return http503 })
		first := b.Process(b.Context(), b.delivery(b.message()))
		time.Sleep(first.Hide)
		if second := b.Process(b.Context(), b.delivery(b.again())); !second.Delete {
			t.Errorf("disposal %+v", second)
		}
		if e := b.wantStatus(job.Dead, lifecycle.AttemptsUsedUp); e.Attempt != 2 || e.FencingToken != 2 || e.ErrorCode != "HTTP_503" {
			t.Errorf("ended as %+v", e)
		}
	})
}
