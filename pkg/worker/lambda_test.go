package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/queue"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

const arn = "arn:aws:sqs:us-east-1:000000000000:"

// deliver receives a batch as the platform does: hidden for six times the
// function's timeout.
func deliver(b *bench, name string, function time.Duration) (e events.SQSEvent) {
	b.Helper()
	received, err := b.Queues.Queue(name).Receive(b.Context(), 10, 20*time.Second, 6*function)
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range received {
		e.Records = append(e.Records, record(name, m))
	}
	return e
}

func record(name string, m queue.Received) events.SQSMessage {
	return events.SQSMessage{MessageId: m.ID, ReceiptHandle: m.Handle, Body: m.Body, EventSourceARN: arn + name,
		Attributes: map[string]string{"ApproximateReceiveCount": strconv.Itoa(m.Receives), "MessageGroupId": m.Group}}
}

// invoke runs the function for at most its timeout, and deletes what it did not
// return, as the platform does.
func invoke(b *bench, f func(context.Context, events.SQSEvent) (events.SQSEventResponse, error), e events.SQSEvent, timeout time.Duration) []string {
	b.Helper()
	ctx, stop := context.WithTimeout(b.Context(), timeout)
	defer stop()
	response, err := f(ctx, e)
	if err != nil || ctx.Err() != nil {
		b.Fatalf("the function ended with %v, %v", err, ctx.Err())
	}
	var failed []string
	stays := make(map[string]bool)
	for _, f := range response.BatchItemFailures {
		failed = append(failed, f.ItemIdentifier)
		stays[f.ItemIdentifier] = true
	}
	for _, r := range e.Records {
		if !stays[r.MessageId] {
			name := r.EventSourceARN[len(arn):]
			_ = b.Queues.Queue(name).Delete(b.Context(), r.ReceiptHandle)
		}
	}
	return failed
}

func TestFunctionAnswersWhichMessagesStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		worker.Handle(b.worker, "work", func(_ context.Context, a *worker.Attempt) error {
			defer b.track()()
			<-time.After(time.Second)
			switch a.Job() {
			case "job-3":
				return errors.New("not now")
			case "job-4":
				return worker.Permanent(errors.New("never"))
			}
			return nil
		})
		at := soon(0)
		var refs []job.Ref
		for i := range 10 {
			refs = append(refs, b.oneOff(fmt.Sprintf("job-%d", i), at, nil))
		}
		time.Sleep(time.Until(at))
		e := deliver(b, "belfry-fast-io", 15*time.Minute)
		failed := invoke(b, b.worker.Lambda(), e, 15*time.Minute)
		if len(e.Records) != 10 || len(failed) != 1 || failed[0] != e.Records[3].MessageId {
			t.Errorf("%d records, %v stay; want job-3's alone", len(e.Records), failed)
		}
		if b.most != 10 || b.count("ChangeMessageVisibilityBatch") != 2 {
			t.Errorf("%d at once, %d changes of visibility; want 10, and 2: one for the batch, one for the retry", b.most, b.count("ChangeMessageVisibilityBatch"))
		}
		for i, want := range map[int]job.Status{0: job.Succeeded, 3: job.RetryWait, 4: job.Failed} {
			if got := b.execution(refs[i], at); got.Status != want {
				t.Errorf("job-%d is %s, want %s", i, got.Status, want)
			}
		}
		time.Sleep(2 * time.Second)
		if visible, inFlight := b.messages("belfry-fast-io"); visible != 1 || inFlight != 0 {
			t.Errorf("%d visible, %d hidden after the back-off; want the one to be retried", visible, inFlight)
		}
	})
}

func TestFunctionThatDiesLeavesItsMessagesForALeaseOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		began := make(chan struct{})
		worker.Handle(b.worker, "work", func(ctx context.Context, _ *worker.Attempt) error {
			close(began)
			<-ctx.Done()
			return ctx.Err()
		})
		at := soon(0)
		b.oneOff("doomed", at, func(d *job.Definition) { d.Timeout = job.Duration(time.Hour) })
		time.Sleep(time.Until(at))
		e := deliver(b, "belfry-fast-io", 15*time.Minute)
		ctx, kill := context.WithCancel(t.Context())
		go func() { _, _ = b.worker.Lambda()(ctx, e) }()
		<-began
		time.Sleep(time.Second)
		_, hidden := b.messages("belfry-fast-io")
		time.Sleep(3 * time.Second) // before the first heartbeat
		kill()
		time.Sleep(22 * time.Second)
		if visible, _ := b.messages("belfry-fast-io"); hidden != 1 || visible != 1 {
			t.Errorf("%d hidden at first, %d visible after a lease; want 1, 1", hidden, visible)
		}
	})
}

func TestFunctionWindsDownBeforeItsTimeRunsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		worker.Handle(b.worker, "work", func(ctx context.Context, a *worker.Attempt) error {
			if a.Job() == "stubborn" {
				<-time.After(time.Hour)
			}
			<-ctx.Done()
			return ctx.Err()
		})
		at := soon(0)
		var refs []job.Ref
		for _, name := range []string{"polite", "stubborn"} {
			refs = append(refs, b.oneOff(name, at, func(d *job.Definition) { d.Timeout = job.Duration(2 * time.Minute) }))
		}
		time.Sleep(time.Until(at))
		e := deliver(b, "belfry-fast-io", time.Minute)
		begun := time.Now()
		failed := invoke(b, b.worker.Lambda(), e, time.Minute)
		if took := time.Since(begun); took < 53*time.Second || took > 59*time.Second || len(failed) != 2 {
			t.Errorf("ended after %v with %d messages that stay; want within the last seconds, 2", took, len(failed))
		}
		for _, ref := range refs {
			if got := b.execution(ref, at); got.Status != job.RetryWait || got.Reason != lifecycle.WorkerStopped {
				t.Errorf("%s is %s, %s; want RETRY_WAIT, WORKER_STOPPED", ref, got.Status, got.Reason)
			}
		}
		if visible, _ := b.messages("belfry-fast-io"); visible != 2 {
			t.Errorf("%d visible, want both", visible)
		}
		time.Sleep(time.Hour)
	})
}

func TestFunctionGivesBackWhatItHasNoTimeToBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		worker.Handle(b.worker, "work", func(context.Context, *worker.Attempt) error {
			t.Error("it began")
			return nil
		})
		time.Sleep(100 * time.Millisecond)
		b.oneOff("late", soon(time.Second), nil)
		e := deliver(b, "belfry-fast-io", time.Minute)
		if failed := invoke(b, b.worker.Lambda(), e, 600*time.Millisecond); len(failed) != 1 {
			t.Errorf("%v stay, want the message that had not begun", failed)
		}
		if visible, _ := b.messages("belfry-fast-io"); visible != 1 {
			t.Errorf("%d visible, want 1", visible)
		}
	})
}

func TestSettledMessagesAreDeletedBeforeASlowBatchMateEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		worker.Handle(b.worker, "work", func(_ context.Context, a *worker.Attempt) error {
			if a.Job() == "slow" {
				<-time.After(2 * time.Minute)
			}
			return nil
		})
		at := soon(0)
		for _, name := range []string{"quick-1", "quick-2", "slow"} {
			b.oneOff(name, at, func(d *job.Definition) { d.Timeout = job.Duration(5 * time.Minute) })
		}
		time.Sleep(time.Until(at))
		e := deliver(b, "belfry-fast-io", 15*time.Minute)
		go func() {
			time.Sleep(10 * time.Second)
			if visible, inFlight := b.messages("belfry-fast-io"); visible != 0 || inFlight != 1 || b.count("DeleteMessageBatch") != 1 {
				t.Errorf("%d visible, %d hidden after 10 s, %d deletes; want the slow one alone and one request", visible, inFlight, b.count("DeleteMessageBatch"))
			}
		}()
		if failed := invoke(b, b.worker.Lambda(), e, 15*time.Minute); len(failed) != 0 {
			t.Errorf("%v stay, want none", failed)
		}
	})
}

func TestFunctionKeepsTheMessageOfALongAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		worker.Handle(b.worker, "work", func(context.Context, *worker.Attempt) error {
			for range 20 {
				time.Sleep(10 * time.Second)
				if visible, inFlight := b.messages("belfry-fast-io"); visible != 0 || inFlight != 1 {
					t.Errorf("%d visible, %d hidden while it runs; want 0, 1", visible, inFlight)
				}
			}
			return nil
		})
		at := soon(0)
		b.oneOff("long", at, func(d *job.Definition) { d.Timeout = job.Duration(5 * time.Minute) })
		time.Sleep(time.Until(at))
		if failed := invoke(b, b.worker.Lambda(), deliver(b, "belfry-fast-io", 15*time.Minute), 15*time.Minute); len(failed) != 0 {
			t.Errorf("%v stay, want none", failed)
		}
	})
}

func TestFunctionRefusesAQueueOfNoPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		worker.Handle(b.worker, "work", func(context.Context, *worker.Attempt) error { return nil })
		b.put("belfry-scan", "{}")
		_, err := b.worker.Lambda()(t.Context(), deliver(b, "belfry-scan", time.Minute))
		if err == nil {
			t.Error("messages of a queue that is no pool's were accepted")
		}
	})
}
