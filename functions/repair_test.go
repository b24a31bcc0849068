package functions_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// lose has every write that only the owner of a lease can make fail.
func (w *town) lose(from, upto time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.decide = func(c fault.Call) fault.Action {
		now := time.Now()
		if c.Operation == "UpdateItem" && strings.Contains(string(c.Body), "lease_owner = :owner AND") && !now.Before(from) && now.Before(upto) {
			return fault.FailBefore
		}
		return fault.Pass
	}
}

func TestAnExecutionWhoseWorkerIsLostRunsAgainAloneUnderAHigherToken(t *testing.T) {
	for name, first := range map[string]func(ctx context.Context){
		"the handler ends but nobody learns of it":   func(context.Context) {},
		"the handler runs on and the lease runs out": func(ctx context.Context) { <-ctx.Done() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTown(t)
				at := time.Now().Add(30 * time.Second)
				ref := w.put(job.Definition{Job: "cut-off", Schedule: job.Schedule{At: at}}, "count")
				w.lose(at, at.Add(16*time.Second))
				var seen calls
				count := seen.handler(nil)
				w.run(5*time.Minute, map[string]worker.Handler{"count": func(ctx context.Context, a *worker.Attempt) error {
					if a.Number() == 1 {
						first(ctx)
					}
					return count(ctx, a)
				}})
				e := w.executions(ref)[0]
				if e.Status != job.Succeeded || e.Attempt != 2 || e.Lost != 1 || e.FencingToken != 2 || seen.times[at.UTC()] != 2 {
					t.Errorf("it is %s after %d attempts, %d lost, under token %d and %d calls; want it run twice, the first lost", e.Status, e.Attempt, e.Lost, e.FencingToken, seen.times[at.UTC()])
				}
				if got, want := w.timeline(e), "SCHEDULED "+strings.Repeat("RUNNING ", 2)+"SUCCEEDED"; got != want {
					t.Errorf("its timeline is %s", got)
				}
				if rescued := e.FinishedAt.Sub(at); rescued > 20*time.Second {
					t.Errorf("it ended %v after its time, want within the lease of 15s and 5s more", rescued)
				}
			})
		})
	}
}

func TestADeadLetterThatIsNotOverIsWokenAndRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		ref := w.put(job.Definition{Job: "by-hand", Schedule: job.Schedule{Every: job.Duration(240 * time.Hour)}}, "count")
		if _, err := w.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "ada"}); err != nil {
			t.Fatal(err)
		}
		w.deadLetter("fast-io")
		var seen calls
		w.run(5*time.Minute, map[string]worker.Handler{"count": seen.handler(nil)})
		e := w.executions(ref)[0]
		if e.Status != job.Succeeded || e.Redrives != 1 || e.Attempt != 1 || !e.Wake.At.IsZero() {
			t.Errorf("it is %s after %d redrives and %d attempts, its wake-up at %v; want it run once, by a redrive", e.Status, e.Redrives, e.Attempt, e.Wake.At)
		}
	})
}

// deadLetter moves a pool's one message into its dead-letter queue, as SQS does
// with one that was received too often.
func (w *town) deadLetter(pool string) {
	w.t.Helper()
	client, names := w.clients.SQS, w.Queues.Names
	var urls [2]*string
	for i, name := range []string{names.Work(pool), names.DeadLetter(pool)} {
		url, err := client.GetQueueUrl(w.t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(name)})
		if err != nil {
			w.t.Fatal(err)
		}
		urls[i] = url.QueueUrl
	}
	received, err := client.ReceiveMessage(w.t.Context(), &sqs.ReceiveMessageInput{QueueUrl: urls[0], WaitTimeSeconds: 1})
	if err != nil || len(received.Messages) != 1 {
		w.t.Fatalf("received %d messages, %v", len(received.Messages), err)
	}
	if _, err := client.SendMessage(w.t.Context(), &sqs.SendMessageInput{QueueUrl: urls[1], MessageBody: received.Messages[0].Body}); err != nil {
		w.t.Fatal(err)
	}
	if _, err := client.DeleteMessage(w.t.Context(), &sqs.DeleteMessageInput{QueueUrl: urls[0], ReceiptHandle: received.Messages[0].ReceiptHandle}); err != nil {
		w.t.Fatal(err)
	}
}

func TestThrottledListsHoldNoExecutionUpAndAreMadeGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		begin := time.Now()
		ref := w.put(job.Definition{Job: "pulse", Schedule: job.Schedule{Every: job.Duration(10 * time.Second)}}, "count")
		w.throttle("REC#", begin, begin.Add(4*time.Minute))
		var seen calls
		w.run(10*time.Minute+5*time.Second, map[string]worker.Handler{"count": seen.handler(nil)})
		if len(seen.times) != 60 || seen.lag > time.Second {
			t.Errorf("%d times ran, the latest %v late; want all 60 within a second", len(seen.times), seen.lag)
		}
		if own, recent := w.executions(ref), w.executions(job.Ref{Tenant: job.DefaultTenant}); len(own) != 60 || len(recent) != 60 {
			t.Errorf("the job lists %d executions and the recent list %d, want 60 in both", len(own), len(recent))
		}
	})
}

// throttle has writes of items whose partition begins so throttled for a while.
func (w *town) throttle(partition string, from, upto time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.decide = func(c fault.Call) fault.Action {
		now := time.Now()
		if c.Operation == "PutItem" && strings.Contains(string(c.Body), partition) && !now.Before(from) && now.Before(upto) {
			return fault.Throttle
		}
		return fault.Pass
	}
}

func TestAMessageOfANewerBuildIsNeitherLostNorDeadLettered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		names := w.Queues.Names
		url, err := w.clients.SQS.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(names.Work("fast-io"))})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.clients.SQS.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: url.QueueUrl, MessageBody: aws.String(`{"schema":2,"all":"new"}`)}); err != nil {
			t.Fatal(err)
		}
		w.run(5*time.Hour, map[string]worker.Handler{"count": func(context.Context, *worker.Attempt) error { return nil }})
		if left, dead := w.messages(names.Work("fast-io")), w.messages(names.DeadLetter("fast-io")); left != 1 || dead != 0 {
			t.Errorf("after five hours, in which it was received more often than SQS allows, %d messages are in the queue and %d dead-lettered, want 1 and 0", left, dead)
		}
	})
}
