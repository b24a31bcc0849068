package dev

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/localaws/platform"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

// platform lists what drives the functions: the minute schedule, the pollers
// of the signal queues and the poller of the executions table's stream.
func (s *server) platform() []func(context.Context) error {
	return []func(context.Context) error{s.minutes, s.ticks, s.scans, s.stream, s.sweeps}
}

func (s *server) report(what string) func(error) {
	return func(err error) {
		if !errors.Is(err, context.Canceled) {
			s.Log.Error(what+" failed", slog.Any("error", err))
		}
	}
}

// minutes invokes the tick at once and then each minute. The guard of a minute
// lets one tick of it fan out, whoever sends it.
func (s *server) minutes(ctx context.Context) error {
	tick := functions.Tick(s.planes)
	if _, err := tick(ctx, json.RawMessage(`{}`)); err != nil {
		s.report("the first tick")(err)
	}
	schedule := &platform.Schedule{Runtime: platform.Runtime{Name: "tick", Timeout: 30 * time.Second},
		Function: func(ctx context.Context, event events.EventBridgeEvent) error {
			payload, err := json.Marshal(event)
			if err != nil {
				return err
			}
			_, err = tick(ctx, payload)
			return err
		}, OnError: s.report("tick")}
	schedule.Run(ctx)
	return nil
}

func (s *server) ticks(ctx context.Context) error {
	tick := functions.Tick(s.planes)
	return s.poll(ctx, queue.Names{}.Tick(), 1, func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		payload, err := json.Marshal(batch)
		if err != nil {
			return events.SQSEventResponse{}, err
		}
		return tick(ctx, payload)
	})
}

func (s *server) scans(ctx context.Context) error {
	return s.poll(ctx, queue.Names{}.Scan(), 10, functions.Scan(s.planes))
}

// poll drives a function behind a signal queue.
func (s *server) poll(ctx context.Context, name string, batch int, function functions.SQSHandler) error {
	client := sqs.NewFromConfig(s.backend.Config())
	at, err := client.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(name)})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // stopped before it began
	}
	if err != nil {
		return err
	}
	poller := &platform.Poller{Runtime: platform.Runtime{Name: name, Timeout: 50 * time.Second}, Function: function, Client: client,
		Queue: aws.ToString(at.QueueUrl), BatchSize: batch, MaxConcurrency: 4, PartialFailures: true, OnError: s.report(name)}
	return poller.Run(ctx)
}

// stream drives the function that writes lists and history.
func (s *server) stream(ctx context.Context) error {
	client := dynamodbstreams.NewFromConfig(s.backend.Config())
	table, err := s.clients.DynamoDB.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(s.planes.Store.Tables().Executions)})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // stopped before it began
	}
	if err != nil {
		return err
	}
	poller := &platform.StreamPoller{Runtime: platform.Runtime{Name: "record", Timeout: 30 * time.Second}, Function: functions.Record(s.planes),
		Client: client, Stream: aws.ToString(table.Table.LatestStreamArn), BatchSize: 500, PartialFailures: true, Bisect: true, MaxRetries: 10, Interval: time.Second,
		Checkpoints: &checkpoints{path: filepath.Join(s.Data, "stream-checkpoints.json")}, OnError: s.report("record")}
	return poller.Run(ctx)
}

// sweepEvery is how often expired items are removed.
const sweepEvery = 10 * time.Minute

// sweeps removes what has expired, as the service does by itself.
func (s *server) sweeps(ctx context.Context) error {
	for {
		now := s.planes.Settings.Clock.Now()
		_ = s.planes.Settings.Clock.Wait(ctx, now.Add(sweepEvery)) // ends early only with ctx
		if ctx.Err() != nil {
			return nil //nolint:nilerr // an orderly end is no error
		}
		if _, err := s.backend.SweepExpired(); err != nil {
			s.report("removing expired items")(err)
		}
	}
}
