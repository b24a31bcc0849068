package worker_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// bench is an installation on a backend in memory, with one pool and one worker.
type bench struct {
	*testing.T
	*assemble.Belfry
	sqs    *sqs.Client
	worker *worker.Worker

	stop func()     // tells the worker to stop
	done chan error // Run's answer

	mu      sync.Mutex
	sqsCall func(fault.Call) fault.Action // nil = every call passes
	calls   map[string]int
	running int
	most    int // attempts that ran at once

	breakerCalls *tally
}

// setup makes the installation; the options are the worker's, with pool fast-io
// of 4 slots unless change says otherwise.
func setup(t *testing.T, change func(*worker.Options)) *bench {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	b := &bench{T: t, calls: make(map[string]int), breakerCalls: &tally{}}
	config := backend.Config()
	config.HTTPClient = fault.Wrap(backend.Client(), b.call)
	b.sqs = sqs.NewFromConfig(config)
	words := 0
	clients := assemble.Clients{DynamoDB: dynamodb.NewFromConfig(backend.Config()), SQS: b.sqs}
	b.Belfry = assemble.New(clients, assemble.Settings{Shards: 4, Owner: "worker-a",
		Pools:  dispatch.Pools{{Name: "fast-io", Lease: 15 * time.Second, Ceiling: 12 * time.Hour, Slots: 4, Batch: 10}},
		Spread: func() float64 { return 0.5 },
		Words: func() string {
			b.mu.Lock()
			defer b.mu.Unlock()
			words++
			return fmt.Sprintf("%020d", words)
		}})
	if err := b.Ensure(t.Context(), clients); err != nil {
		t.Fatal(err)
	}
	options := worker.Options{Queue: b.Queues, Execution: b.Execute(nil), Pools: []worker.Pool{{Name: "fast-io", Lease: 15 * time.Second, Slots: 4, Waiting: 8}}}
	if change != nil {
		change(&options)
	}
	if b.worker, err = worker.New(options); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) call(c fault.Call) fault.Action {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls[c.Operation]++
	if b.sqsCall == nil {
		return fault.Pass
	}
	return b.sqsCall(c)
}

// count is how many calls of an operation SQS has seen.
func (b *bench) count(operation string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls[operation]
}

// start runs the worker; quit stops it and wants a clean end.
func (b *bench) start() {
	ctx, stop := context.WithCancel(b.Context())
	b.stop, b.done = stop, make(chan error, 1)
	go func() { b.done <- b.worker.Run(ctx) }()
}

func (b *bench) quit() {
	b.Helper()
	b.stop()
	if err := <-b.done; err != nil {
		b.Errorf("Run: %v", err)
	}
}

// track counts an attempt as running until the function returned is called.
func (b *bench) track() func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running++
	b.most = max(b.most, b.running)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.running--
	}
}

// oneOff makes a job that runs handler "work" once, at a second to come.
func (b *bench) oneOff(name string, at time.Time, change func(*job.Definition)) job.Ref {
	b.Helper()
	d := job.Definition{Job: name, Schedule: job.Schedule{At: at}, Target: job.Target{Handler: &job.HandlerTarget{Name: "work"}}}
	if change != nil {
		change(&d)
	}
	ref := job.Ref{Tenant: "default", Job: name}
	if _, err := b.Control.Put(b.Context(), control.PutRequest{Ref: ref, Definition: d, Actor: "test"}); err != nil {
		b.Fatal(err)
	}
	return ref
}

// execution reads the execution of a job for the time at.
func (b *bench) execution(ref job.Ref, at time.Time) *job.Execution {
	b.Helper()
	e, err := b.Store.Execution(b.Context(), ref, job.ScheduledKey(at))
	if err != nil || e == nil {
		b.Fatalf("execution of %s at %v: %v, %v", ref, at, e, err)
	}
	return e
}

// messages counts what is visible and in flight on a queue.
func (b *bench) messages(name string) (visible, inFlight int) {
	b.Helper()
	url, err := b.sqs.GetQueueUrl(b.Context(), &sqs.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		b.Fatal(err)
	}
	out, err := b.sqs.GetQueueAttributes(b.Context(), &sqs.GetQueueAttributesInput{QueueUrl: url.QueueUrl, AttributeNames: []types.QueueAttributeName{"All"}})
	if err != nil {
		b.Fatal(err)
	}
	visible, _ = strconv.Atoi(out.Attributes["ApproximateNumberOfMessages"])
	inFlight, _ = strconv.Atoi(out.Attributes["ApproximateNumberOfMessagesNotVisible"])
	return visible, inFlight
}

// put sends a body of one's own to a queue.
func (b *bench) put(name, body string) {
	b.Helper()
	url, err := b.sqs.GetQueueUrl(b.Context(), &sqs.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := b.sqs.SendMessage(b.Context(), &sqs.SendMessageInput{QueueUrl: url.QueueUrl, MessageBody: aws.String(body)}); err != nil {
		b.Fatal(err)
	}
}

// soon is a whole second, d from now at the least.
func soon(d time.Duration) time.Time {
	return time.Now().UTC().Add(d).Truncate(time.Second).Add(time.Second)
}
