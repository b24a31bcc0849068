package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws/platform"
)

const (
	// period is longer than the horizon, so that each time has an advance of its own.
	period = 400 * time.Second
	// herd is how many jobs are due together: a page of the scan.
	herd = 100
	// cycle is how many advances lie between two look-backs: so many rounds
	// have exactly one of each job.
	cycle = 16
)

// recurring measures executions of jobs that are due again and again.
type recurring struct {
	*town
	begun  time.Time
	rounds int // carried through so far
}

func newRecurring(ctx context.Context) (*recurring, error) {
	t, err := newTown(ctx, 1)
	if err != nil {
		return nil, err
	}
	r := &recurring{town: t, begun: t.clock.Now()}
	for n := range herd {
		if err := r.put(ctx, fmt.Sprintf("billing-report-%04d", n), job.Definition{Schedule: job.Schedule{Every: job.Duration(period)}}); err != nil {
			return nil, errors.Join(err, t.backend.Close())
		}
	}
	return r, nil
}

// round sets the clock to the jobs' next time and carries all of it through:
// scan, then so many batches.
func (r *recurring) round(ctx context.Context, work functions.SQSHandler) error {
	r.rounds++
	r.clock.set(r.begun.Add(time.Duration(r.rounds) * period))
	if err := r.scan(ctx); err != nil {
		return err
	}
	return r.work(ctx, work, herd)
}

// executions is how many one cycle makes.
const executions = herd * cycle

// warm measures a cycle with one worker that has run before.
func (r *recurring) warm(ctx context.Context, to *report) error {
	work, err := r.worker()
	if err != nil {
		return err
	}
	if err := r.round(ctx, work); err != nil {
		return err
	}
	r.forget()
	for range cycle {
		if err := r.round(ctx, work); err != nil {
			return err
		}
	}
	reads, writes, _, err := r.spent()
	to.share("recurring_wru", writes, executions)
	to.share("recurring_warm_rru", reads, executions)
	to.share("recurring_sqs", r.calls.take(queues), executions)
	return err
}

// cold measures a cycle in which every round has a worker that has just started.
func (r *recurring) cold(ctx context.Context, to *report) error {
	r.forget()
	for range cycle {
		work, err := r.worker()
		if err != nil {
			return err
		}
		if err := r.round(ctx, work); err != nil {
			return err
		}
	}
	reads, _, _, err := r.spent()
	to.share("recurring_rru", reads, executions)
	return err
}

// changesEach is how many stream records a happy execution leaves: made,
// claimed, settled.
const changesEach = 3

// record has the stream of all that ran dealt with in full batches.
func (r *recurring) record(ctx context.Context, to *report) error {
	r.forget()
	client := dynamodbstreams.NewFromConfig(r.backend.Config())
	streams, err := client.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{})
	if err != nil {
		return err
	}
	if len(streams.Streams) != 1 {
		return fmt.Errorf("there are %d streams, not one", len(streams.Streams))
	}
	ctx, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	ran := r.rounds * herd
	left := atomic.Int64{}
	left.Store(int64(ran * changesEach))
	record := functions.Record(r.Installation)
	var failures []error
	poller := platform.StreamPoller{Client: client, Stream: *streams.Streams[0].StreamArn, BatchSize: 500, PartialFailures: true,
		OnError: func(err error) { failures = append(failures, err) },
		Function: func(ctx context.Context, e events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
			response, err := record(ctx, e)
			if left.Add(-int64(len(e.Records))) <= 0 {
				stop()
			}
			return response, err
		}}
	if err := poller.Run(ctx); err != nil {
		return err
	}
	if left.Load() != 0 {
		return fmt.Errorf("the stream has %d records more or fewer than the executions left: %w", left.Load(), errors.Join(failures...))
	}
	_, writes, _, err := r.spent()
	to.share("record_wru", writes, ran)
	return err
}
