package functions_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws/platform"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// run drives every function for a while and returns when nothing is in hand.
func (w *town) run(d time.Duration, handlers map[string]worker.Handler) {
	w.t.Helper()
	ctx, stop := context.WithTimeout(w.t.Context(), d)
	defer stop()
	work, err := functions.Work(w.Installation, func(on *worker.Worker) {
		for name, h := range handlers {
			worker.Handle(on, name, h)
		}
	})
	if err != nil {
		w.t.Fatal(err)
	}
	deadLetter, err := functions.DeadLetter(w.Installation)
	if err != nil {
		w.t.Fatal(err)
	}
	tick := functions.Tick(w.Installation)
	schedule := platform.Schedule{OnError: w.failed, Runtime: platform.Runtime{Timeout: 30 * time.Second},
		Deliveries: deliveries,
		Function: func(ctx context.Context, e events.EventBridgeEvent) error {
			_, err := tick(ctx, w.encoded(e))
			return err
		}}
	names := w.Queues.Names
	var all sync.WaitGroup
	all.Go(func() { schedule.Run(ctx) })
	w.poll(ctx, &all, names.Tick(), 1, 1, func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
		return tick(ctx, w.encoded(e))
	})
	w.poll(ctx, &all, names.Scan(), 1, 4, functions.Scan(w.Installation))
	w.poll(ctx, &all, names.Work("fast-io"), 10, 20, work)
	w.poll(ctx, &all, names.Isolation("fast-io"), 1, 1, work)
	w.poll(ctx, &all, names.DeadLetter("fast-io"), 10, 1, deadLetter)
	all.Go(func() { w.stream(ctx) })
	all.Wait()
}

// deliveries are those of a schedule that loses every fifth tick, doubles every
// third, and comes at another second each time.
func deliveries(minute time.Time) []time.Duration {
	n := minute.Unix() / 60
	at := time.Duration(n*17%60) * time.Second
	switch {
	case n%5 == 4:
		return nil
	case n%3 == 0:
		return []time.Duration{at, at + 500*time.Millisecond}
	}
	return []time.Duration{at}
}

func (w *town) poll(ctx context.Context, all *sync.WaitGroup, queue string, batch, most int, function functions.SQSHandler) {
	url, err := w.clients.SQS.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &queue})
	if err != nil {
		w.t.Fatal(err)
	}
	poller := platform.Poller{Runtime: platform.Runtime{Name: queue, Timeout: time.Minute}, Function: function, Client: w.clients.SQS, Queue: *url.QueueUrl,
		BatchSize: batch, MaxConcurrency: most, PartialFailures: true, OnError: w.failed}
	all.Go(func() {
		if err := poller.Run(ctx); err != nil {
			w.t.Error(err)
		}
	})
}

func (w *town) stream(ctx context.Context) {
	client := dynamodbstreams.NewFromConfig(w.backend.Config())
	out, err := client.ListStreams(ctx, nil)
	if err != nil || len(out.Streams) != 1 {
		w.t.Errorf("streams are %v, %v", out, err)
		return
	}
	// An installation's mapping tries again for as long as the stream keeps records.
	poller := platform.StreamPoller{MaxRetries: -1, Runtime: platform.Runtime{Name: "record"}, Function: functions.Record(w.Installation), Client: client,
		Stream: *out.Streams[0].StreamArn, Interval: 2 * time.Second, PartialFailures: true, OnError: w.failed}
	if err := poller.Run(ctx); err != nil {
		w.t.Error(err)
	}
}

// executions are those of a job, or of the whole tenant, whose time has come,
// oldest first.
func (w *town) executions(ref job.Ref) []job.Execution {
	w.t.Helper()
	list, more, err := w.Control.ListExecutions(w.t.Context(), control.ExecutionQuery{Ref: ref, Limit: 1000}, false)
	if err != nil || more != "" {
		w.t.Fatalf("list: %v, more %q", err, more)
	}
	slices.Reverse(list)
	return list
}

// upcoming are a job's executions, those included whose time has not come.
func (w *town) upcoming(ref job.Ref) []job.Execution {
	w.t.Helper()
	list, _, err := w.Control.ListExecutions(w.t.Context(), control.ExecutionQuery{Ref: ref, Limit: 1000}, true)
	if err != nil {
		w.t.Fatal(err)
	}
	return list
}

func (w *town) timeline(e job.Execution) string {
	w.t.Helper()
	view, err := w.Control.GetExecution(w.t.Context(), e.Ref, e.Key)
	if err != nil {
		w.t.Fatal(err)
	}
	words := make([]string, len(view.Timeline))
	for i, entry := range view.Timeline {
		words[i] = string(entry.To)
	}
	return strings.Join(words, " ")
}

// calls counts a handler's calls by scheduled time, and notes early ones.
type calls struct {
	mu    sync.Mutex
	times map[time.Time]int
	early []time.Time
	lag   time.Duration // the longest
}

func (c *calls) handler(result error) worker.Handler {
	return func(_ context.Context, a *worker.Attempt) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.times == nil {
			c.times = map[time.Time]int{}
		}
		c.times[a.ScheduledAt()]++
		lag := time.Since(a.ScheduledAt())
		if lag < 0 {
			c.early = append(c.early, a.ScheduledAt())
		}
		if a.Number() == 1 {
			c.lag = max(c.lag, lag)
		}
		return result
	}
}

func TestAnHourOfAJobEveryThirtySeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		begin := time.Now()
		ref := w.put(job.Definition{Job: "pulse", Schedule: job.Schedule{Every: job.Duration(30 * time.Second)}}, "count")
		w.put(job.Definition{Job: "note", Schedule: job.Schedule{Every: job.Duration(10 * time.Minute)}}, "")
		var seen calls
		w.run(time.Hour+10*time.Second, map[string]worker.Handler{"count": seen.handler(nil)})

		var want []time.Time
		for at := begin.UTC().Add(30 * time.Second); !at.After(begin.Add(time.Hour)); at = at.Add(30 * time.Second) {
			want = append(want, at)
		}
		if got := slices.SortedFunc(maps.Keys(seen.times), time.Time.Compare); !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Errorf("%d scheduled times ran, want the %d of the hour: %v", len(got), len(want), got)
		}
		for at, n := range seen.times {
			if n != 1 {
				t.Errorf("%v ran %d times", at, n)
			}
		}
		if len(seen.early) > 0 || seen.lag > time.Second {
			t.Errorf("%d started early, the latest %v late; want none early and at most 1s", len(seen.early), seen.lag)
		}
		own, recent := w.executions(ref), w.executions(job.Ref{Tenant: job.DefaultTenant})
		for _, e := range recent {
			if e.Status != job.Succeeded || e.Attempt != 1 || e.StartedAt.Before(e.ScheduledAt) {
				t.Errorf("%s is %s after %d attempts, started %v", e.ID(), e.Status, e.Attempt, e.StartedAt)
			}
			if got := w.timeline(e); got != "SCHEDULED RUNNING SUCCEEDED" {
				t.Errorf("the timeline of %s is %s", e.ID(), got)
			}
		}
		if len(own) != len(want) || len(recent) != len(want)+6 {
			t.Errorf("the job lists %d executions and the tenant's recent list %d, want %d, and 6 of the other job more", len(own), len(recent), len(want))
		}
	})
}

func TestAFailingJobRetriesAndEndsBeforePeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(t)
		at := time.Now().Add(3 * time.Second)
		retry := job.Retry{MaxAttempts: 30, Base: job.Duration(time.Second), Max: job.Duration(20 * time.Second)}
		stubborn := w.put(job.Definition{Job: "stubborn", Schedule: job.Schedule{At: at}, Retry: retry}, "fail")
		hopeless := w.put(job.Definition{Job: "hopeless", Schedule: job.Schedule{At: at}}, "refuse")
		var failing, refusing calls
		w.run(20*time.Minute, map[string]worker.Handler{"fail": failing.handler(errors.New("no answer")),
			"refuse": refusing.handler(worker.Permanent(errors.New("no such account")))})

		dead := w.executions(stubborn)[0]
		if dead.Status != job.Dead || dead.Attempt != 30 || failing.times[at.UTC()] != 30 {
			t.Errorf("the failing job is %s after %d attempts and %d calls, want DEAD after 30", dead.Status, dead.Attempt, failing.times[at.UTC()])
		}
		if dead.Dropped == 0 {
			t.Error("its timeline did not overflow; the test needs that")
		}
		if got, want := w.timeline(dead), "SCHEDULED "+strings.Repeat("RUNNING RETRY_WAIT ", 29)+"RUNNING DEAD"; got != want {
			t.Errorf("its timeline is\n%s\nwant\n%s", got, want)
		}
		if failed := w.executions(hopeless)[0]; failed.Status != job.Failed || failed.Attempt != 1 {
			t.Errorf("the hopeless job is %s after %d attempts, want FAILED after 1", failed.Status, failed.Attempt)
		}
		entries, more, err := w.Store.Attention(t.Context(), job.AttentionQuery{Tenant: job.DefaultTenant, Letters: true, Limit: 100})
		if err != nil || more || len(entries) != 2 {
			t.Fatalf("the attention list is %v, %v, %v; want two entries", entries, more, err)
		}
		if newest := entries[0]; newest.Ref != stubborn || newest.Status != job.Dead || newest.Reason != dead.Reason || !newest.At.Equal(dead.FinishedAt) {
			t.Errorf("the newest entry is %+v, want the end of %s", newest, dead.ID())
		}
		if oldest := entries[1]; oldest.Ref != hopeless || oldest.Status != job.Failed {
			t.Errorf("the oldest entry is %+v, want the end of the hopeless job", oldest)
		}
		names := w.Queues.Names
		if n := w.messages(names.Work("fast-io"), names.Isolation("fast-io"), names.DeadLetter("fast-io")); n != 0 {
			t.Errorf("%d messages are left in the pool's queues", n)
		}
	})
}
