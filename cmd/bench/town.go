package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// town is an installation in memory whose units and calls are counted and
// whose functions the bench invokes by hand.
type town struct {
	*functions.Installation
	backend  *localaws.Backend
	clients  assemble.Clients
	clock    *setClock
	settings assemble.Settings
	units    *tally
	billed   *tally // as the backend counts them, whoever asked
	calls    *callCounter
	failing  atomic.Bool // the handler fails while it is set
}

// begin is where a town's clock stands at first.
var begin = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)

// handlerName is what the benches' jobs run.
const handlerName = "bench"

// newTown makes a town whose units are counted.
func newTown(ctx context.Context, shards int) (*town, error) {
	t := &town{clock: newSetClock(begin), units: newTally(), billed: newTally()}
	backend, err := localaws.New(localaws.Options{Meter: t.bill})
	if err != nil {
		return nil, err
	}
	t.settings = assemble.Settings{Shards: shards, Clock: t.clock, Meter: t.units.add}
	return t, t.open(ctx, backend, backend.Config())
}

// open makes the installation on a backend that the town owns from now on.
func (t *town) open(ctx context.Context, backend *localaws.Backend, config aws.Config) error {
	t.backend = backend
	t.calls = countCalls(config.HTTPClient)
	config.HTTPClient = t.calls
	t.clients = assemble.Clients{DynamoDB: dynamodb.NewFromConfig(config), SQS: sqs.NewFromConfig(config)}
	t.Installation = functions.New(assemble.New(t.clients, t.settings), assemble.Environment{Version: "bench"})
	err := t.Ensure(ctx, t.clients)
	if err == nil {
		// An installation writes its first layout once; no figure is about that.
		_, err = t.Store.Layouts(ctx)
	}
	if err != nil {
		return errors.Join(err, backend.Close())
	}
	return nil
}

// bill is told what every operation on the backend consumed.
func (t *town) bill(c dynamo.Consumption) {
	t.billed.mu.Lock()
	defer t.billed.mu.Unlock()
	if c.Write {
		t.billed.writes[c.Operation] += c.Units
	} else {
		t.billed.reads[c.Operation] += c.Units
	}
}

// spent returns the units since the last time, and refuses them when the store
// was told of others than the backend counted.
func (t *town) spent() (reads, writes parts, tables map[string]parts, err error) {
	reads, writes, tables = t.units.take()
	billedReads, billedWrites, _ := t.billed.take()
	if reads.sum() != billedReads.sum() || writes.sum() != billedWrites.sum() {
		err = fmt.Errorf("the store was told of reads (%v) and writes (%v), the service counted reads (%v) and writes (%v): is a new reading operation missing in the list?", reads, writes, billedReads, billedWrites)
	}
	return reads, writes, tables, err
}

// forget drops what was counted so far: set-up is no part of a figure.
func (t *town) forget() {
	t.units.take()
	t.billed.take()
	t.calls.take(queues)
	t.calls.take(tables)
}

// put makes a job of the default tenant.
func (t *town) put(ctx context.Context, name string, d job.Definition) error {
	ref := job.Ref{Tenant: job.DefaultTenant, Job: name}
	d.Target = job.Target{Handler: &job.HandlerTarget{Name: handlerName}}
	_, err := t.Control.Put(ctx, control.PutRequest{Ref: ref, Definition: d, Actor: "ada@example.com"})
	return err
}

// scan scans every shard of a layout once.
func (t *town) scan(ctx context.Context) error {
	return t.Trigger.Scan(ctx, job.ShardRange{Generation: 1, From: 0, To: t.settings.Shards}, t.clock.Now())
}

// worker is the work function as a platform that has just started it has it:
// with nothing read before.
func (t *town) worker() (functions.SQSHandler, error) {
	fresh := functions.New(assemble.New(t.clients, t.settings), assemble.Environment{Version: "bench"})
	return functions.Work(fresh, func(w *worker.Worker) { worker.Handle(w, handlerName, t.handle) })
}

func (t *town) handle(context.Context, *worker.Attempt) error {
	if t.failing.Load() {
		return errors.New("the service answered 503")
	}
	return nil
}

// url finds a queue, as a poller knows it: without a request that counts.
func (t *town) url(ctx context.Context, name string) (string, error) {
	out, err := sqs.NewFromConfig(t.backend.Config()).GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		return "", err
	}
	return aws.ToString(out.QueueUrl), nil
}

// batch is what one invocation was given and gave back.
type batch struct {
	messages []types.Message
	kept     []types.Message // those that stay in the queue
}

// invoke does for one batch what the platform does: it receives, invokes the
// function, and deletes what the function did not give back.
func (t *town) invoke(ctx context.Context, name string, function functions.SQSHandler) (batch, error) {
	url, err := t.url(ctx, name)
	if err != nil {
		return batch{}, err
	}
	out, err := t.clients.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 10, VisibilityTimeout: 360,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll}})
	if err != nil || len(out.Messages) == 0 {
		return batch{}, err
	}
	b := batch{messages: out.Messages}
	response, err := function(ctx, event(name, out.Messages))
	if err != nil {
		return b, err
	}
	stays := map[string]bool{}
	for _, failure := range response.BatchItemFailures {
		stays[failure.ItemIdentifier] = true
	}
	in := &sqs.DeleteMessageBatchInput{QueueUrl: &url}
	for _, m := range out.Messages {
		if stays[*m.MessageId] {
			b.kept = append(b.kept, m)
			continue
		}
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: m.MessageId, ReceiptHandle: m.ReceiptHandle})
	}
	if len(in.Entries) > 0 {
		_, err = t.clients.SQS.DeleteMessageBatch(ctx, in)
	}
	return b, err
}

func event(name string, messages []types.Message) events.SQSEvent {
	var e events.SQSEvent
	for _, m := range messages {
		e.Records = append(e.Records, events.SQSMessage{MessageId: *m.MessageId, ReceiptHandle: *m.ReceiptHandle, Body: *m.Body, Attributes: m.Attributes,
			EventSource: "aws:sqs", EventSourceARN: "arn:aws:sqs:us-east-1:" + localaws.Account + ":" + name})
	}
	return e
}

// work has n messages carried through.
func (t *town) work(ctx context.Context, function functions.SQSHandler, n int) error {
	name := t.Queues.Names.Work(job.DefaultPool)
	for n > 0 {
		b, err := t.invoke(ctx, name, function)
		switch {
		case err != nil:
			return err
		case len(b.messages) == 0:
			return fmt.Errorf("%d messages are missing in queue %s", n, name)
		case len(b.kept) > 0:
			return fmt.Errorf("%d messages were given back", len(b.kept))
		}
		n -= len(b.messages)
	}
	return nil
}
