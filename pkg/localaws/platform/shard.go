package platform

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// read follows a shard from its checkpoint to its end, or until ctx ends.
func (r *streamReader) read(ctx context.Context, shard *shardReader) {
	interval := r.Interval
	if interval == 0 {
		interval = 250 * time.Millisecond
	}
	var iterator *string
	for ctx.Err() == nil {
		records, next, err := r.look(ctx, shard, iterator)
		if err != nil {
			var expired *types.ExpiredIteratorException
			if errors.As(err, &expired) {
				iterator = nil
				continue
			}
			if ctx.Err() == nil {
				r.report(fmt.Errorf("read shard %s: %w", shard.id, err))
				pause(ctx, errorPause)
			}
			continue
		}
		if len(records) > 0 && !r.deal(ctx, shard, records, 0) {
			return
		}
		if next == nil {
			return
		}
		if iterator = next; len(records) == 0 {
			pause(ctx, interval)
		}
	}
}

// look reads what comes next in the shard. Without an iterator it begins after
// the checkpoint.
func (r *streamReader) look(ctx context.Context, shard *shardReader, iterator *string) ([]types.Record, *string, error) {
	if iterator == nil {
		found, err := r.iterator(ctx, shard)
		if err != nil {
			return nil, nil, err
		}
		iterator = found
	}
	size := r.BatchSize
	if size == 0 {
		size = 100
	}
	out, err := r.Client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator, Limit: aws.Int32(int32(size))})
	if err != nil {
		return nil, nil, err
	}
	return out.Records, out.NextShardIterator, nil
}

func (r *streamReader) iterator(ctx context.Context, shard *shardReader) (*string, error) {
	in := &dynamodbstreams.GetShardIteratorInput{
		StreamArn: &r.Stream, ShardId: &shard.id, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	}
	checkpoint, err := r.Checkpoints.Load(ctx, shard.id)
	if err != nil {
		return nil, fmt.Errorf("load the checkpoint: %w", err)
	}
	if checkpoint != "" {
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, &checkpoint
	} else if shard.latest {
		in.ShardIteratorType = types.ShardIteratorTypeLatest
	}
	out, err := r.Client.GetShardIterator(ctx, in)
	var trimmed *types.TrimmedDataAccessException
	if errors.As(err, &trimmed) { // the checkpoint is older than the stream
		in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeTrimHorizon, nil
		out, err = r.Client.GetShardIterator(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	return out.ShardIterator, nil
}

// deal invokes the function until every record has been dealt with or given
// up, and tells whether that came about before ctx ended. failures counts the
// invocations that these records have already been in for nothing.
func (r *streamReader) deal(ctx context.Context, shard *shardReader, records []types.Record, failures int) bool {
	for len(records) > 0 {
		if old := r.tooOld(records); old > 0 {
			r.giveUp(ctx, shard, records[:old], failures, errTooOld)
			records = records[old:]
			continue
		}
		done, err := r.try(ctx, records)
		if done > 0 {
			r.save(ctx, shard, records[done-1])
			records, failures = records[done:], 0
		}
		if err == nil {
			continue
		}
		r.report(fmt.Errorf("invoke %s on shard %s: %w", r.runner.Name, shard.id, err))
		if r.Bisect && done == 0 && len(records) > 1 {
			half := len(records) / 2
			return r.deal(ctx, shard, records[:half], failures) && r.deal(ctx, shard, records[half:], failures)
		}
		failures++
		if r.MaxRetries >= 0 && failures > r.MaxRetries {
			r.giveUp(ctx, shard, records, failures, err)
			return true
		}
		if !pause(ctx, backoff(failures)) {
			return false
		}
	}
	return true
}

var errTooOld = errors.New("the records are older than the mapping's maximum age")

// backoff doubles from one second to one minute.
func backoff(failures int) time.Duration {
	return min(time.Second<<min(failures-1, 6), time.Minute)
}

// try invokes the function once and returns how many records, from the first,
// have been dealt with.
func (r *streamReader) try(ctx context.Context, records []types.Record) (done int, err error) {
	event, err := streamEvent(r.Stream, records)
	if err != nil {
		return 0, err
	}
	response, err := invoke(ctx, r.runner, event, r.Function)
	if err != nil {
		return 0, err
	}
	if !r.PartialFailures || len(response.BatchItemFailures) == 0 {
		return len(records), nil
	}
	return firstFailure(records, response.BatchItemFailures)
}

// firstFailure finds the first record that the function reports. A report that
// is empty or names a record of another batch means that all have failed.
func firstFailure(records []types.Record, failures []events.DynamoDBBatchItemFailure) (done int, err error) {
	position := make(map[string]int, len(records))
	for i, record := range records {
		position[*record.Dynamodb.SequenceNumber] = i
	}
	first := len(records)
	for _, failure := range failures {
		at, ok := position[failure.ItemIdentifier]
		if !ok {
			return 0, fmt.Errorf("the function reported %q as failed, which is not in its batch: the whole batch has failed", failure.ItemIdentifier)
		}
		first = min(first, at)
	}
	return first, fmt.Errorf("the function reported record %s as failed", *records[first].Dynamodb.SequenceNumber)
}

// tooOld counts the records, from the first, that are past the maximum age.
func (r *streamReader) tooOld(records []types.Record) int {
	if r.MaxAge == 0 {
		return 0
	}
	oldest := time.Now().Add(-r.MaxAge)
	n := 0
	for n < len(records) && records[n].Dynamodb.ApproximateCreationDateTime.Before(oldest) {
		n++
	}
	return n
}

func (r *streamReader) giveUp(ctx context.Context, shard *shardReader, records []types.Record, invocations int, err error) {
	if r.OnFailure != nil {
		r.OnFailure(GivenUp{
			Stream: r.Stream, Shard: shard.id,
			First: *records[0].Dynamodb.SequenceNumber, Last: *records[len(records)-1].Dynamodb.SequenceNumber,
			Records: len(records), Invocations: invocations, Err: err,
		})
	}
	r.save(ctx, shard, records[len(records)-1])
}

// save moves the checkpoint, also while stopping: what was dealt with should
// not come again.
func (r *streamReader) save(ctx context.Context, shard *shardReader, last types.Record) {
	if err := r.Checkpoints.Save(context.WithoutCancel(ctx), shard.id, *last.Dynamodb.SequenceNumber); err != nil {
		r.report(fmt.Errorf("save the checkpoint of shard %s: %w", shard.id, err))
	}
}
