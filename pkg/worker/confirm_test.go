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

// silence is a handler that does its work and never hears of it.
func silence(ran *int) worker.Handler {
	return func(ctx context.Context, _ *worker.Attempt) error {
		*ran++
		<-ctx.Done()
		return ctx.Err()
	}
}

func TestAHandlerIsAskedBeforeItIsTriedAgain(t *testing.T) {
	unanswered := errors.New("no answer")
	for sentence, row := range map[string]struct {
		answers []worker.Answer
		err     error // of every question without an answer
		ran     int
		asked   int
		status  job.Status
		reason  job.Reason
	}{
		"done: it has succeeded":                          {[]worker.Answer{worker.Done}, nil, 1, 1, job.Succeeded, lifecycle.FoundDone},
		"not done: it runs again, and is asked again":     {[]worker.Answer{worker.NotDone, worker.Done}, nil, 2, 2, job.Succeeded, lifecycle.FoundDone},
		"unknown: a person decides":                       {[]worker.Answer{worker.Unknown}, nil, 1, 1, job.NeedsReview, lifecycle.Uncertain},
		"no answer: asked until the attempts are used up": {nil, unanswered, 1, 2, job.NeedsReview, lifecycle.Uncertain},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, nil)
				ran, asked := 0, 0
				worker.Handle(b.worker, "work", silence(&ran), worker.Confirm(func(_ context.Context, key string) (worker.Answer, error) {
					asked++
					if want := "default/pay~"; len(key) < len(want) || key[:len(want)] != want {
						t.Errorf("asked for %q", key)
					}
					if asked > len(row.answers) {
						return worker.Unknown, row.err
					}
					return row.answers[asked-1], nil
				}))
				at := soon(0)
				ref := b.oneOff("pay", at, func(d *job.Definition) { d.Timeout, d.Retry.MaxAttempts = job.Duration(10*time.Second), 3 })
				b.start()
				time.Sleep(10 * time.Minute)
				b.quit()
				if e := b.execution(ref, at); ran != row.ran || asked != row.asked || e.Status != row.status || e.Reason != row.reason {
					t.Errorf("%d runs, %d questions, %s/%s; want %d, %d, %s/%s", ran, asked, e.Status, e.Reason, row.ran, row.asked, row.status, row.reason)
				}
			})
		})
	}
}

func TestAHandlerThatSaysItIsUncertain(t *testing.T) {
	for sentence, row := range map[string]struct {
		options []worker.Option
		status  job.Status
		ran     int
	}{
		"is left to a person":       {nil, job.NeedsReview, 1},
		"or asked, where it can be": {[]worker.Option{worker.Confirm(func(context.Context, string) (worker.Answer, error) { return worker.NotDone, nil })}, job.Succeeded, 2},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, nil)
				ran := 0
				worker.Handle(b.worker, "work", func(context.Context, *worker.Attempt) error {
					if ran++; ran > 1 {
						return nil
					}
					return worker.Uncertain(errors.New("the bank never answered"))
				}, row.options...)
				at := soon(0)
				ref := b.oneOff("pay", at, nil)
				b.start()
				time.Sleep(time.Minute)
				b.quit()
				if e := b.execution(ref, at); e.Status != row.status || ran != row.ran {
					t.Errorf("%s after %d runs; want %s after %d", e.Status, ran, row.status, row.ran)
				}
			})
		})
	}
}

func TestMiddlewareWrapsEveryHandlerOutermostFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		var said []string
		says := func(word string) worker.Middleware {
			return func(next worker.Handler) worker.Handler {
				return func(ctx context.Context, a *worker.Attempt) error {
					said = append(said, word)
					err := next(ctx, a)
					said = append(said, word+" again")
					return err
				}
			}
		}
		b.worker.Use(says("outer"), says("inner"))
		worker.Handle(b.worker, "work", func(context.Context, *worker.Attempt) error { said = append(said, "work"); return nil })
		at := soon(0)
		b.oneOff("wrapped", at, nil)
		b.start()
		time.Sleep(5 * time.Second)
		b.quit()
		want := []string{"outer", "inner", "work", "inner again", "outer again"}
		if len(said) != len(want) {
			t.Fatalf("heard %v, want %v", said, want)
		}
		for i := range want {
			if said[i] != want[i] {
				t.Errorf("heard %v, want %v", said, want)
			}
		}
	})
}
