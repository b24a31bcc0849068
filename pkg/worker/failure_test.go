package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

var errUsual = errors.New("it broke")

func TestWhatBecomesOfAnAttemptThatFails(t *testing.T) {
	rows := map[string]struct {
		fail   func(context.Context) error
		status job.Status
		reason job.Reason
		code   string
	}{
		"an error without a class is retried": {func(context.Context) error { return errUsual },
			job.RetryWait, lifecycle.HandlerError, worker.CodeHandlerError},
		"Retry is retried": {func(context.Context) error { return worker.Retry(errUsual) },
			job.RetryWait, lifecycle.HandlerError, worker.CodeHandlerError},
		"RetryAfter is throttled": {func(context.Context) error { return worker.RetryAfter(errUsual, time.Minute) },
			job.RetryWait, lifecycle.Throttled, worker.CodeHandlerError},
		"Permanent fails for good": {func(context.Context) error { return worker.Permanent(errUsual) },
			job.Failed, lifecycle.Permanent, worker.CodeHandlerError},
		"TimedOut is a timeout": {func(context.Context) error { return worker.TimedOut(errUsual) },
			job.RetryWait, lifecycle.TimedOut, worker.CodeTimeout},
		"a code is kept around a class": {func(context.Context) error { return worker.WithCode("NO_SUCH_ACCOUNT", worker.Permanent(errUsual)) },
			job.Failed, lifecycle.Permanent, "NO_SUCH_ACCOUNT"},
		"a code is kept inside a class": {func(context.Context) error { return worker.Permanent(worker.WithCode("NO_SUCH_ACCOUNT", errUsual)) },
			job.Failed, lifecycle.Permanent, "NO_SUCH_ACCOUNT"},
		"class and code survive wrapping": {func(context.Context) error {
			return fmt.Errorf("step 3: %w", worker.WithCode("A", worker.Permanent(errUsual)))
		}, job.Failed, lifecycle.Permanent, "A"},
		"the outermost class wins": {func(context.Context) error { return worker.Permanent(worker.Retry(errUsual)) },
			job.Failed, lifecycle.Permanent, worker.CodeHandlerError},
		"a code that is no word is not kept": {func(context.Context) error { return worker.WithCode("oh dear", errUsual) },
			job.RetryWait, lifecycle.HandlerError, worker.CodeHandlerError},
		"nil in a constructor is success": {func(context.Context) error { return worker.WithCode("A", worker.Permanent(nil)) },
			job.Succeeded, lifecycle.Done, ""},
		"a deadline of the handler's own is a timeout": {func(ctx context.Context) error {
			own, stop := context.WithTimeout(ctx, time.Second)
			defer stop()
			<-own.Done()
			return own.Err()
		}, job.RetryWait, lifecycle.TimedOut, worker.CodeTimeout},
		"the attempt's deadline is a timeout whatever the handler says": {func(ctx context.Context) error {
			<-ctx.Done()
			return errUsual
		}, job.RetryWait, lifecycle.TimedOut, worker.CodeTimeout},
		"a panic is retried": {func(context.Context) error { panic("no such luck") },
			job.RetryWait, lifecycle.HandlerPanic, worker.CodeHandlerPanic},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := attempted(t, nil, func(ctx context.Context, _ *worker.Attempt) error { return row.fail(ctx) })
				if e.Status != row.status || e.Reason != row.reason || e.ErrorCode != row.code {
					t.Errorf("%s, %s, %q; want %s, %s, %q", e.Status, e.Reason, e.ErrorCode, row.status, row.reason, row.code)
				}
			})
		})
	}
}

// attempted is the execution after the first attempt of a one-off with a
// timeout of 5 s and a first back-off of 10 s.
func attempted(t *testing.T, change func(*job.Definition), h worker.Handler) *job.Execution {
	t.Helper()
	b := setup(t, nil)
	worker.Handle(b.worker, "work", h)
	at := soon(0)
	ref := b.oneOff("one", at, func(d *job.Definition) {
		d.Timeout, d.Retry.Base = job.Duration(5*time.Second), job.Duration(10*time.Second)
		if change != nil {
			change(d)
		}
	})
	b.start()
	defer b.quit()
	time.Sleep(time.Until(at) + 7*time.Second)
	return b.execution(ref, at)
}

func TestThrottledAttemptComesBackNoSoonerThanAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		e := attempted(t, nil, func(context.Context, *worker.Attempt) error { return worker.RetryAfter(errUsual, 2*time.Minute) })
		if wait := e.AvailableAt.Sub(begun); wait < 2*time.Minute || wait > 2*time.Minute+2*time.Second {
			t.Errorf("available again after %v, want two minutes", wait)
		}
	})
}

func TestTextOfAPanicBeginsWhereItHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := attempted(t, nil, func(context.Context, *worker.Attempt) error { return fallOver() })
		lines := strings.Split(e.ErrorText, "\n")
		if len(lines) < 2 || lines[0] != "no such luck" || !strings.Contains(lines[1], "worker_test.fallOver") || len(e.ErrorText) > 2048 {
			t.Errorf("text of %d bytes:\n%s\nwant the panic, then the function that panicked", len(e.ErrorText), e.ErrorText)
		}
	})
}

func fallOver() error { panic("no such luck") }

func TestPayloadIsReadIntoTheHandlersType(t *testing.T) {
	type order struct {
		Item  string `json:"item"`
		Count int    `json:"count"`
	}
	rows := map[string]struct {
		payload string
		want    order
		status  job.Status
		code    string
	}{
		"an object":               {`{"item":"tea","count":3}`, order{"tea", 3}, job.Succeeded, ""},
		"no payload is the zero":  {``, order{}, job.Succeeded, ""},
		"one that does not fit":   {`{"item":7}`, order{}, job.Failed, worker.CodePayloadInvalid},
		"one of another kind yet": {`[1]`, order{}, job.Failed, worker.CodePayloadInvalid},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, nil)
				var got order
				worker.HandleTyped(b.worker, "work", func(_ context.Context, _ *worker.Attempt, o order) error { got = o; return nil })
				at := soon(0)
				ref := b.oneOff("typed", at, func(d *job.Definition) { d.Payload = json.RawMessage(row.payload) })
				b.start()
				defer b.quit()
				time.Sleep(time.Until(at) + time.Second)
				if e := b.execution(ref, at); got != row.want || e.Status != row.status || e.ErrorCode != row.code {
					t.Errorf("handler got %+v, %s, %q; want %+v, %s, %q", got, e.Status, e.ErrorCode, row.want, row.status, row.code)
				}
			})
		})
	}
}

func TestAttemptTellsTheHandlerContract(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type told struct {
			id, key, tenant, job, payload string
			revision, number              int
			deadlineIn                    time.Duration
			scheduled, start, end         time.Time
		}
		var got []told
		var traces []string
		attempted(t, func(d *job.Definition) {
			d.Payload, d.Retry.Base = json.RawMessage(`{"a":1}`), job.Duration(time.Second)
		},
			func(_ context.Context, a *worker.Attempt) error {
				start, end := a.Interval()
				got = append(got, told{a.ExecutionID(), a.IdempotencyKey(), a.Tenant(), a.Job(), string(a.Payload()), a.Revision(), a.Number(),
					time.Until(a.Deadline()), a.ScheduledAt(), start, end})
				traces = append(traces, a.Traceparent())
				if a.Number() == 1 {
					return errUsual
				}
				return nil
			})
		at := got[0].scheduled
		stamp := at.Format(job.KeyTimeLayout)
		want := told{"one~" + stamp + "~v1", "default/one~" + stamp, "default", "one", `{"a":1}`, 1, 1, 5 * time.Second, at, time.Time{}, at}
		if got[0] != want {
			t.Errorf("first attempt was told\n%+v, want\n%+v", got[0], want)
		}
		want.number = 2
		if len(got) != 2 || got[1] != want {
			t.Errorf("second attempt was told\n%+v, want\n%+v", got[1:], want)
		}
		first, second := strings.Split(traces[0], "-"), strings.Split(traces[1], "-")
		if len(first) != 4 || len(first[1]) != 32 || len(first[2]) != 16 || first[1] == second[1] || first[1][16:] != second[1][16:] || first[2] == second[2] {
			t.Errorf("traces %q: want a trace for each attempt, alike in what samplers go by", traces)
		}
	})
}

func TestCancelReachesTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		noticed := false
		worker.Handle(b.worker, "work", func(ctx context.Context, a *worker.Attempt) error {
			<-a.Canceled()
			noticed = true
			<-ctx.Done()
			return ctx.Err()
		})
		at := soon(0)
		ref := b.oneOff("endless", at, nil)
		b.start()
		defer b.quit()
		time.Sleep(time.Until(at) + time.Second)
		if _, err := b.Control.Cancel(t.Context(), ref, job.ScheduledKey(at), "test"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(6 * time.Second) // a heartbeat brings it
		if e := b.execution(ref, at); !noticed || e.Status != job.Canceled {
			t.Errorf("noticed %v, %s; want CANCELED", noticed, e.Status)
		}
	})
}
