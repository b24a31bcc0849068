package workertest_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

var errDown = errors.New("the bank is down")

// register adds one handler of that name.
func register(name string, h worker.Handler, options ...worker.Option) func(*worker.Worker) {
	return func(w *worker.Worker) { worker.Handle(w, name, h, options...) }
}

// ends are how attempts ended.
func ends(e workertest.Execution) []string {
	var all []string
	for _, a := range e.Attempts {
		end := string(a.Outcome)
		if a.Code != "" {
			end += " " + a.Code
		}
		all = append(all, end)
	}
	return all
}

func TestWhatBecomesOfAnError(t *testing.T) {
	for sentence, row := range map[string]struct {
		answers []error // by attempt; nil beyond
		status  job.Status
		ends    []string
		waits   []time.Duration // before each attempt but the first
	}{
		"success is one attempt":                      {nil, job.Succeeded, []string{"SUCCEEDED"}, nil},
		"an error is tried again, each time later":    {[]error{errDown, errDown}, job.Succeeded, []string{"RETRY_WAIT HANDLER_ERROR", "RETRY_WAIT HANDLER_ERROR", "SUCCEEDED"}, []time.Duration{10 * time.Second, 20 * time.Second}},
		"too many errors are the end":                 {[]error{errDown, errDown, errDown}, job.Dead, []string{"RETRY_WAIT HANDLER_ERROR", "RETRY_WAIT HANDLER_ERROR", "DEAD HANDLER_ERROR"}, nil},
		"a permanent one is the end at once":          {[]error{worker.Permanent(errDown)}, job.Failed, []string{"FAILED HANDLER_ERROR"}, nil},
		"who asks to be left alone is":                {[]error{worker.RetryAfter(errDown, time.Hour)}, job.Succeeded, []string{"RETRY_WAIT HANDLER_ERROR", "SUCCEEDED"}, []time.Duration{time.Hour}},
		"whoever does not know leaves it to a person": {[]error{worker.Uncertain(errDown)}, job.NeedsReview, []string{"NEEDS_REVIEW HANDLER_ERROR"}, nil},
		"a code is kept":                              {[]error{worker.WithCode("BANK_DOWN", errDown)}, job.Succeeded, []string{"RETRY_WAIT BANK_DOWN", "SUCCEEDED"}, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			answer := func(_ context.Context, a *worker.Attempt) error {
				if n := a.Number() - 1; n < len(row.answers) {
					return row.answers[n]
				}
				return nil
			}
			workertest.Test(t, register("work", answer), func(t *testing.T, b *workertest.Bench) {
				run := b.Run("work", nil, workertest.Retry(job.Retry{MaxAttempts: 3, Base: job.Duration(10 * time.Second)}))
				if run.Status != row.status || !slices.Equal(ends(run), row.ends) {
					t.Errorf("%v, want %s by %q", run, row.status, row.ends)
				}
				for i, want := range row.waits {
					if waited := run.Attempts[i+1].Waited; waited < want || waited > want+time.Minute {
						t.Errorf("attempt %d came %v after the one before, want %v", i+2, waited, want)
					}
				}
			})
		})
	}
}

func TestAPanicAndATimeoutAreFailures(t *testing.T) {
	h := func(ctx context.Context, a *worker.Attempt) error {
		switch a.Number() {
		case 1:
			panic("no such row")
		case 2:
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
	workertest.Test(t, register("work", h), func(t *testing.T, b *workertest.Bench) {
		run := b.Run("work", nil, workertest.Timeout(time.Minute))
		if want := []string{"RETRY_WAIT PANIC", "RETRY_WAIT TIMEOUT", "SUCCEEDED"}; !slices.Equal(ends(run), want) || run.Attempts[1].Took != time.Minute {
			t.Errorf("%v, want %q", run, want)
		}
	})
}

func TestACrashIsTakenOverByAnotherWorkerUnderAHigherToken(t *testing.T) {
	h := func(ctx context.Context, a *worker.Attempt) error {
		if a.Number() == 1 {
			<-ctx.Done()
		}
		return ctx.Err()
	}
	workertest.Test(t, register("work", h), func(t *testing.T, b *workertest.Bench) {
		run := b.Start("work", nil, workertest.Timeout(time.Hour))
		b.Advance(5 * time.Second)
		if now := b.Look(run); now.Status != job.Running {
			t.Fatalf("%v, want it to run", now)
		}
		b.Crash()
		run = b.Wait(run)
		if len(run.Attempts) != 2 || run.Status != job.Succeeded || !run.Attempts[0].Lost || run.Attempts[1].Worker != "worker-2" || run.Attempts[1].Token <= run.Attempts[0].Token {
			t.Fatalf("%+v", run)
		}
		if waited := run.Attempts[1].Waited; waited > workertest.Lease+10*time.Second+5*time.Second {
			t.Errorf("taken over %v after the lost attempt began", waited)
		}
	})
}

// What a frozen worker does after it was taken over is refused, and its handler is
// told before it does anything.
func TestAFrozenWorkerLosesWhatWasTakenOver(t *testing.T) {
	saved, cause := make(chan error, 1), make(chan error, 1)
	h := func(ctx context.Context, a *worker.Attempt) error {
		var done int
		if _, err := a.Load(ctx, &done); err != nil {
			return err
		}
		if a.Number() > 1 {
			return a.Save(ctx, done+10)
		}
		if err := a.Save(ctx, 1); err != nil {
			return err
		}
		<-ctx.Done()
		cause <- context.Cause(ctx)
		saved <- a.Save(context.WithoutCancel(ctx), 2)
		return nil
	}
	workertest.Test(t, register("work", h), func(t *testing.T, b *workertest.Bench) {
		saved, cause = make(chan error, 1), make(chan error, 1)
		run := b.Start("work", nil, workertest.Timeout(time.Hour))
		b.Advance(2 * time.Second)
		b.Freeze()
		b.Advance(time.Minute)
		if now := b.Look(run); now.Status != job.Succeeded || now.Attempts[1].Worker != "worker-2" {
			t.Fatalf("%v, want the other worker to have ended it", now)
		}
		b.Thaw()
		if err := <-cause; !errors.Is(err, worker.ErrLeaseLost) {
			t.Errorf("the context ended by %v", err)
		}
		if err := <-saved; !errors.Is(err, worker.ErrLeaseLost) {
			t.Errorf("the old worker saved: %v", err)
		}
		if now := b.Look(run); now.Status != job.Succeeded || len(now.Attempts) != 2 {
			t.Errorf("%v after the thaw", now)
		}
	})
}
