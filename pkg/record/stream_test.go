package record_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/platform"
	"github.com/belfry-scheduler/belfry/pkg/record"
)

// station is an installation in memory whose stream is recorded only when a
// test asks for it.
type station struct {
	*assemble.Belfry
	clients assemble.Clients
	streams *dynamodbstreams.Client

	mu    sync.Mutex
	units map[string]float64 // write units consumed, by operation
}

func newStation(t *testing.T) *station {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	s := &station{clients: assemble.Clients{DynamoDB: dynamodb.NewFromConfig(backend.Config()), SQS: sqs.NewFromConfig(backend.Config())},
		streams: dynamodbstreams.NewFromConfig(backend.Config()), units: map[string]float64{}}
	s.Belfry = assemble.New(s.clients, assemble.Settings{Shards: 1, Meter: s.meter})
	if err := s.Ensure(t.Context(), s.clients); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *station) meter(operation string, consumed []types.ConsumedCapacity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range consumed {
		s.units[operation] += *c.CapacityUnits
	}
}

// record passes the stream so far through the recorder.
func (s *station) record(t *testing.T, batch int) {
	t.Helper()
	out, err := s.streams.ListStreams(t.Context(), nil)
	if err != nil || len(out.Streams) != 1 {
		t.Fatalf("streams are %v, %v", out, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	recorder := &record.Recorder{Lists: s.Store}
	poller := platform.StreamPoller{Function: recorder.Handle, Client: s.streams, Stream: *out.Streams[0].StreamArn, BatchSize: batch, PartialFailures: true,
		OnError: func(err error) { t.Error(err) }}
	time.AfterFunc(time.Second, stop)
	if err := poller.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

func (s *station) put(t *testing.T, d job.Definition) job.Ref {
	t.Helper()
	ref := job.Ref{Tenant: job.DefaultTenant, Job: d.Job}
	d.Target = job.Target{Log: &job.LogTarget{}}
	if _, err := s.Control.Put(t.Context(), control.PutRequest{Ref: ref, Definition: d, Actor: "ada"}); err != nil {
		t.Fatal(err)
	}
	return ref
}

// attempt carries one delivery of the execution's message through.
func (s *station) attempt(t *testing.T, e job.Execution, receives int, work execute.Work) {
	t.Helper()
	d := execute.Delivery{Message: lifecycle.Message{Ref: e.Ref, Key: e.Key, Epoch: e.Epoch, Receives: receives}, NotBefore: e.AvailableAt}
	if disposal := s.Execute(work).Process(t.Context(), d); disposal.Err != nil {
		t.Fatal(disposal.Err)
	}
}

func (s *station) executions(t *testing.T, ref job.Ref) []job.Execution {
	t.Helper()
	list, _, err := s.Control.ListExecutions(t.Context(), control.ExecutionQuery{Ref: ref, Limit: 1000}, true)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func succeed(context.Context, *execute.Attempt) *lifecycle.Failure { return nil }

func TestTheListsCostATenthOfAWriteUnitAnExecution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		// The time of an every-second job, materialised five minutes ahead at once,
		// is the worst case of the two: its executions spread over many minutes.
		refs := []job.Ref{s.put(t, job.Definition{Job: "each-second", Schedule: job.Schedule{Every: job.Duration(time.Second)}})}
		for n := range 200 {
			refs = append(refs, s.put(t, job.Definition{Job: fmt.Sprintf("a-name-of-ordinary-length-%03d", n), Schedule: job.Schedule{Cron: "* * * * *"}}))
		}
		time.Sleep(310 * time.Second)
		done := 0
		for _, ref := range refs {
			for _, e := range s.executions(t, ref) {
				s.attempt(t, e, 1, succeed)
				done++
			}
		}
		s.record(t, 100)
		units := s.units["write recent"] + s.units["write attention"] + s.units["write history"]
		t.Logf("%d executions, %.0f write units of lists, %.3f each", done, units, units/float64(done))
		if done < 300 || units == 0 || units/float64(done) > 0.1 {
			t.Errorf("%d executions cost %.1f write units of lists, want at most 0.1 each over at least 300", done, units)
		}
		recent, _, err := s.Control.ListExecutions(t.Context(), control.ExecutionQuery{Ref: job.Ref{Tenant: job.DefaultTenant}, Limit: 5000}, true)
		if err != nil || len(recent) != done {
			t.Errorf("the recent list shows %d executions (%v), want all %d", len(recent), err, done)
		}
	})
}

func TestAnOverflowingTimelineIsShownWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStation(t)
		ref := s.put(t, job.Definition{Job: "stubborn", Schedule: job.Schedule{At: time.Now().Add(time.Second)},
			Retry: job.Retry{MaxAttempts: 40, Base: job.Duration(time.Second), Max: job.Duration(time.Second)}})
		refuse := func(context.Context, *execute.Attempt) *lifecycle.Failure { return &lifecycle.Failure{Code: "NOT_YET"} }
		for n := range 40 {
			s.attempt(t, s.executions(t, ref)[0], n+1, refuse)
			time.Sleep(2 * time.Second)
		}
		s.record(t, 7)
		view, err := s.Control.GetExecution(t.Context(), ref, s.executions(t, ref)[0].Key)
		if err != nil {
			t.Fatal(err)
		}
		if view.Execution.Dropped == 0 || view.Execution.Status != job.Dead {
			t.Fatalf("the execution is %s and dropped %d entries; the test needs DEAD and some", view.Execution.Status, view.Execution.Dropped)
		}
		if got, want := story(view.Timeline), "SCHEDULED "+strings.Repeat("RUNNING RETRY_WAIT ", 39)+"RUNNING DEAD"; got != want {
			t.Errorf("the timeline is\n%s\nwant\n%s", got, want)
		}
		for n, e := range view.Timeline[1:] {
			if e.Attempt != n/2+1 || e.At.Before(view.Timeline[n].At) {
				t.Errorf("entry %d is of attempt %d at %v, after %v", n+1, e.Attempt, e.At, view.Timeline[n].At)
			}
		}
	})
}

func story(timeline []job.Entry) string {
	words := make([]string, len(timeline))
	for i, e := range timeline {
		words[i] = string(e.To)
	}
	return strings.Join(words, " ")
}
