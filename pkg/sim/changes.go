package sim

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// CheckChanges is invariants 3 and 4 over every change that the executions
// table has ever seen: statuses only move along the table of arrows, what has
// ended stays as it is, tokens, attempts and epochs never go back, nothing that
// has begun is made anew, and a running execution changes hands only by a
// takeover with a higher token.
func (w *World) CheckChanges(ctx context.Context) error {
	var errs []error
	first := job.RestoreBase(w.Options.RestoreEpoch)
	err := w.changes(ctx, func(r *streamtypes.StreamRecord, before, after *job.Execution) {
		if after == nil {
			errs = append(errs, checkSaved(r))
			return
		}
		errs = append(errs, checkChange(before, after, first))
	})
	return errors.Join(append(errs, err)...)
}

// changes shows every change that the executions table has ever seen, in the order of
// each execution: as it was, nil when it came up, and as it then was; both are nil for
// what lies beside executions.
func (w *World) changes(ctx context.Context, see func(r *streamtypes.StreamRecord, before, after *job.Execution)) error {
	client := dynamodbstreams.NewFromConfig(w.Backend.Config())
	streams, err := client.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{TableName: aws.String(w.Control.Store.Tables().Executions)})
	if err != nil {
		return err
	}
	for _, stream := range streams.Streams {
		described, err := client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: stream.StreamArn})
		if err != nil {
			return err
		}
		for _, shard := range described.StreamDescription.Shards {
			iterator, err := client.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{StreamArn: stream.StreamArn, ShardId: shard.ShardId,
				ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon})
			if err != nil {
				return err
			}
			if err := changesOf(ctx, client, iterator.ShardIterator, see); err != nil {
				return err
			}
		}
	}
	return nil
}

func changesOf(ctx context.Context, client *dynamodbstreams.Client, iterator *string, see func(r *streamtypes.StreamRecord, before, after *job.Execution)) error {
	for iterator != nil {
		out, err := client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator})
		if err != nil || len(out.Records) == 0 {
			return err
		}
		for _, r := range out.Records {
			before, err := decode(r.Dynamodb.OldImage)
			if err != nil {
				return err
			}
			after, err := decode(r.Dynamodb.NewImage)
			if err != nil {
				return err
			}
			if after == nil || after.Range == nil {
				see(r.Dynamodb, before, after)
			}
		}
		iterator = out.NextShardIterator
	}
	return nil
}

func decode(image map[string]streamtypes.AttributeValue) (*job.Execution, error) {
	converted, err := attributevalue.FromDynamoDBStreamsMap(image)
	if err != nil {
		return nil, err
	}
	return store.DecodeImage(converted)
}

// checkSaved judges one change of a checkpoint: neither who may save nor who did is ever
// an older attempt than before.
func checkSaved(r *streamtypes.StreamRecord) error {
	for _, name := range []string{"token", "saved_by"} {
		before, was := r.OldImage[name].(*streamtypes.AttributeValueMemberN)
		after, is := r.NewImage[name].(*streamtypes.AttributeValueMemberN)
		if !was || !is {
			continue
		}
		old, _ := strconv.ParseInt(before.Value, 10, 64)
		if now, _ := strconv.ParseInt(after.Value, 10, 64); now < old {
			return fmt.Errorf("invariant 3: %s of a checkpoint went back from %d to %d: %s", name, old, now, textOf(r.Keys))
		}
	}
	return nil
}

// textOf is a key in words.
func textOf(keys map[string]streamtypes.AttributeValue) string {
	words := ""
	for _, name := range []string{"pk", "sk"} {
		if v, ok := keys[name].(*streamtypes.AttributeValueMemberS); ok {
			words += v.Value + " "
		}
	}
	return words
}

// checkChange judges one change. What carries a token below first was loaded
// from a backup, where it may have come up as anything.
func checkChange(before, after *job.Execution, first int64) error {
	if before == nil {
		if after.Status != job.Scheduled && after.FencingToken >= first {
			return fmt.Errorf("invariant 4: %s came up as %s", after.ID(), after.Status)
		}
		return nil
	}
	switch {
	case before.Status != after.Status && !lifecycle.Allowed(lifecycle.ExecutionArrows, before.Status, after.Status):
		return fmt.Errorf("invariant 4: %s went from %s to %s", after.ID(), before.Status, after.Status)
	case lifecycle.Terminal(before.Status) && !annotated(before, after):
		return fmt.Errorf("invariant 4: %s changed after it had ended: %+v, then %+v", after.ID(), before, after)
	case after.FencingToken < before.FencingToken || after.Attempt < before.Attempt || after.Epoch < before.Epoch || after.Wake.Version < before.Wake.Version:
		return fmt.Errorf("invariant 3: a counter of %s went back: %+v, then %+v", after.ID(), before, after)
	case before.Attempt > 0 && after.Epoch != before.Epoch:
		return fmt.Errorf("invariant 1: %s was made anew after it had begun", after.ID())
	case before.Status == job.Running && after.Status == job.Running && before.Lease.Owner+before.Lease.Nonce != after.Lease.Owner+after.Lease.Nonce &&
		after.FencingToken != max(before.FencingToken, first)+1:
		return fmt.Errorf("invariant 3: %s changed hands without a new token", after.ID())
	}
	return nil
}

// annotated reports whether all that changed about an ended execution is what people
// note about it: that it was replayed, or how they closed it. Of what follows its end,
// the wake-up is kept until that is done.
func annotated(before, after *job.Execution) bool {
	bare := *after
	if before.Follows() {
		bare.Wake = before.Wake
	}
	bare.ReplayedBy, bare.Resolution = before.ReplayedBy, before.Resolution
	return reflect.DeepEqual(before, &bare)
}
