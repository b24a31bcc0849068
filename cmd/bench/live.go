package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/platform"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// live is all of Belfry in this process, in memory and in real time: ticks,
// scans, the stream consumer and a container worker run as in `belfry dev`.
type live struct {
	*functions.Installation
	backend *localaws.Backend
	clients assemble.Clients
	parts   *errgroup.Group
	stop    context.CancelFunc

	mu     sync.Mutex
	starts []start
}

// start is one call of the handler.
type start struct {
	job       string
	scheduled time.Time
	at        time.Time
}

// lag is how long after its scheduled time the handler was called.
func (s start) lag() time.Duration { return s.at.Sub(s.scheduled) }

// liveShards are as many as `belfry dev` has.
const liveShards = 16

func newLive(ctx context.Context) (*live, error) {
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		return nil, err
	}
	config := backend.Config()
	l := &live{backend: backend, clients: assemble.Clients{DynamoDB: dynamodb.NewFromConfig(config), SQS: sqs.NewFromConfig(config)}}
	l.Installation = functions.New(assemble.New(l.clients, assemble.Settings{Shards: liveShards}), assemble.Environment{Version: "bench"})
	if err := l.Ensure(ctx, l.clients); err != nil {
		return nil, errors.Join(err, backend.Close())
	}
	ctx, l.stop = context.WithCancel(ctx)
	l.parts, ctx = errgroup.WithContext(ctx)
	for _, part := range []func(context.Context) error{l.minutes, l.ticks, l.scans, l.stream, l.work} {
		l.parts.Go(func() error { return part(ctx) })
	}
	return l, nil
}

// end stops every part and returns what the first one failed with.
func (l *live) end() error {
	l.stop()
	return errors.Join(l.parts.Wait(), l.backend.Close())
}

// minutes invokes the tick at the beginning of each minute.
func (l *live) minutes(ctx context.Context) error {
	tick := functions.Tick(l.Installation)
	schedule := platform.Schedule{Runtime: platform.Runtime{Name: "tick", Timeout: 30 * time.Second},
		Function: func(ctx context.Context, _ events.EventBridgeEvent) error {
			_, err := tick(ctx, json.RawMessage(`{}`))
			return err
		}}
	schedule.Run(ctx)
	return nil
}

func (l *live) ticks(ctx context.Context) error {
	tick := functions.Tick(l.Installation)
	return l.poll(ctx, l.Queues.Names.Tick(), 1, func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		payload, err := json.Marshal(batch)
		if err != nil {
			return events.SQSEventResponse{}, err
		}
		return tick(ctx, payload)
	})
}

func (l *live) scans(ctx context.Context) error {
	return l.poll(ctx, l.Queues.Names.Scan(), 10, functions.Scan(l.Installation))
}

func (l *live) poll(ctx context.Context, name string, size int, function functions.SQSHandler) error {
	at, err := l.clients.SQS.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(name)})
	if err != nil {
		return err
	}
	poller := platform.Poller{Runtime: platform.Runtime{Name: name, Timeout: 50 * time.Second}, Function: function, Client: l.clients.SQS,
		Queue: aws.ToString(at.QueueUrl), BatchSize: size, MaxConcurrency: 4, PartialFailures: true}
	return poller.Run(ctx)
}

// stream drives the function that writes lists and history.
func (l *live) stream(ctx context.Context) error {
	table, err := l.clients.DynamoDB.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(l.Store.Tables().Executions)})
	if err != nil {
		return err
	}
	poller := platform.StreamPoller{Runtime: platform.Runtime{Name: "record", Timeout: 30 * time.Second}, Function: functions.Record(l.Installation),
		Client: dynamodbstreams.NewFromConfig(l.backend.Config()), Stream: aws.ToString(table.Table.LatestStreamArn), BatchSize: 500, PartialFailures: true}
	return poller.Run(ctx)
}

// work is the container worker, with the pools of `belfry dev`.
func (l *live) work(ctx context.Context) error {
	var pools []worker.Pool
	for _, p := range dispatch.DefaultPools() {
		pools = append(pools, worker.Pool{Name: p.Name, Lease: p.Lease, Slots: p.Slots})
	}
	w, err := worker.New(worker.Options{Queue: l.Queues, Execution: l.Execute(nil), Pools: pools, Drain: 5 * time.Second, DeadLetters: true})
	if err != nil {
		return err
	}
	worker.Handle(w, handlerName, l.handle)
	return w.Run(ctx)
}

func (l *live) handle(_ context.Context, a *worker.Attempt) error {
	at := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starts = append(l.starts, start{job: a.Job(), scheduled: a.ScheduledAt(), at: at})
	return nil
}

// put makes jobs, a few at a time.
func (l *live) put(ctx context.Context, n int, name func(int) string, d job.Definition) error {
	d.Target = job.Target{Handler: &job.HandlerTarget{Name: handlerName}}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for i := range n {
		group.Go(func() error {
			ref := job.Ref{Tenant: job.DefaultTenant, Job: name(i)}
			_, err := l.Control.Put(ctx, control.PutRequest{Ref: ref, Definition: d, Actor: "bench"})
			return err
		})
	}
	return group.Wait()
}

// startsIn are the calls for scheduled times in [from, to).
func (l *live) startsIn(from, to time.Time) []start {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []start
	for _, s := range l.starts {
		if !s.scheduled.Before(from) && s.scheduled.Before(to) {
			found = append(found, s)
		}
	}
	return found
}
