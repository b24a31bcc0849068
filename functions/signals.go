package functions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

// SQSHandler is a function behind queues that reports which messages stay.
type SQSHandler = func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)

// Tick is the handler of the function that fans a minute out. The payload is a
// batch of the tick queue, or anything else: whatever the schedule sends means
// "now". It fails when the tick does, so that the platform sees it and a message
// comes again.
func Tick(i *Installation) func(ctx context.Context, payload json.RawMessage) (events.SQSEventResponse, error) {
	return func(ctx context.Context, payload json.RawMessage) (events.SQSEventResponse, error) {
		response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
		wanted := true
		if batch, isBatch := asBatch(payload); isBatch {
			wanted, response = i.openTicks(batch)
		}
		if !wanted {
			return response, nil
		}
		_, err := i.Tick(ctx)
		return response, err
	}
}

// asBatch tells a batch of a queue from all else that invokes the tick.
func asBatch(payload json.RawMessage) (events.SQSEvent, bool) {
	var batch events.SQSEvent
	if json.Unmarshal(payload, &batch) != nil || len(batch.Records) == 0 || batch.Records[0].EventSource != "aws:sqs" {
		return events.SQSEvent{}, false
	}
	return batch, true
}

// openTicks tells whether any of the messages asks for a tick, and which stay.
func (i *Installation) openTicks(batch events.SQSEvent) (wanted bool, response events.SQSEventResponse) {
	response.BatchItemFailures = []events.SQSBatchItemFailure{}
	for _, m := range batch.Records {
		_, err := queue.OpenTick(m.Body)
		switch {
		case err == nil:
			wanted = true
		case i.stays(m, err):
			response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
		}
	}
	return wanted, response
}

// Scan is the handler of the function that scans ranges of shards. A message
// stays in the queue when its scan failed, so that it comes again once its
// visibility ends; it is too old then, unless that was soon.
func Scan(i *Installation) SQSHandler {
	return func(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
		stays := make([]bool, len(batch.Records))
		var all sync.WaitGroup
		for n, m := range batch.Records {
			all.Go(func() { stays[n] = !i.scan(ctx, m) })
		}
		all.Wait()
		response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
		again := 0
		for n, m := range batch.Records {
			if m.Attributes["ApproximateReceiveCount"] != "1" {
				again++
			}
			if stays[n] {
				response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
			}
		}
		figures := i.Settings.Metrics.Batch()
		defer figures.Flush()
		figures.Count(observe.ScansRedelivered, observe.Labels{}, again)
		figures.Observe(observe.ClockSkew, observe.Labels{}, i.Skew.Off())
		figures.Count(observe.ScansFailed, observe.Labels{}, len(response.BatchItemFailures))
		return response, nil
	}
}

// scan reports whether the message is done with.
func (i *Installation) scan(ctx context.Context, m events.SQSMessage) bool {
	asked, err := queue.OpenScan(m.Body)
	if err == nil && asked.To >= assemble.MostShards {
		err = fmt.Errorf("no layout has a shard %d", asked.To)
	}
	if err != nil {
		return !i.stays(m, err)
	}
	// A message names its last shard, a range the first one beyond it.
	shards := job.ShardRange{Generation: asked.Generation, From: asked.From, To: asked.To + 1}
	if err := i.Trigger.Scan(ctx, shards, sentAt(m, asked.SentAt)); err != nil {
		i.Log.Error("scan not completed; it comes again", slog.Int("generation", shards.Generation), slog.Int("from", shards.From),
			slog.Int("to", shards.To), slog.Time("minute", asked.Minute), slog.Any("error", err))
		return false
	}
	return true
}

// sentAt is when the queue took the message, by its own clock: that of whoever
// sent it may be off. Without a word of the queue it is what the sender says.
func sentAt(m events.SQSMessage, said time.Time) time.Time {
	if ms, err := strconv.ParseInt(m.Attributes["SentTimestamp"], 10, 64); err == nil {
		return time.UnixMilli(ms).UTC()
	}
	return said
}

// stays tells what becomes of a signal that does not open. One of a newer build
// stays for a function that can read it; one that is none of ours is dropped, as
// the next minute brings its own signals.
func (i *Installation) stays(m events.SQSMessage, err error) bool {
	newer := errors.Is(err, queue.ErrNewerSchema)
	i.Log.Warn("signal does not open", slog.String("message", m.MessageId), slog.Bool("stays", newer), slog.Any("error", err))
	return newer
}
