package platform_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/belfry-scheduler/belfry/pkg/localaws/platform"
)

// splitting is a stream whose shard "parent" is followed by "child". The local backend keeps one shard
// for ever; the service does not.
type splitting struct {
	mu           sync.Mutex
	descriptions int
	late         bool // the child shows up only in the second description
	expired      bool // the next GetRecords finds its iterator expired
	iterators    []string
}

func (s *splitting) DescribeStream(
	context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options),
) (*dynamodbstreams.DescribeStreamOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shards := []types.Shard{
		{ShardId: aws.String("child"), ParentShardId: aws.String("parent")},
		{ShardId: aws.String("parent"), ParentShardId: aws.String("trimmed long ago")},
	}
	if s.descriptions++; s.late && s.descriptions == 1 {
		shards = shards[1:]
	}
	return &dynamodbstreams.DescribeStreamOutput{StreamDescription: &types.StreamDescription{Shards: shards}}, nil
}

func (s *splitting) GetShardIterator(
	_ context.Context, in *dynamodbstreams.GetShardIteratorInput, _ ...func(*dynamodbstreams.Options),
) (*dynamodbstreams.GetShardIteratorOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := aws.ToString(in.SequenceNumber)
	s.iterators = append(s.iterators, strings.TrimSpace(*in.ShardId+" "+after))
	if after == "" {
		after = "0"
	}
	return &dynamodbstreams.GetShardIteratorOutput{ShardIterator: aws.String(*in.ShardId + " " + after)}, nil
}

// GetRecords answers one record a call and ends each shard after its third.
func (s *splitting) GetRecords(
	_ context.Context, in *dynamodbstreams.GetRecordsInput, _ ...func(*dynamodbstreams.Options),
) (*dynamodbstreams.GetRecordsOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shard, after, _ := strings.Cut(*in.ShardIterator, " ")
	last, err := strconv.Atoi(after)
	if err != nil {
		return nil, err
	}
	if s.expired && last == 1 {
		s.expired = false
		return nil, &types.ExpiredIteratorException{}
	}
	next := strconv.Itoa(last + 1)
	out := &dynamodbstreams.GetRecordsOutput{
		Records: []types.Record{{Dynamodb: &types.StreamRecord{
			SequenceNumber: &next, Keys: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: shard + next + " "}},
		}}},
	}
	if last < 2 {
		out.NextShardIterator = aws.String(shard + " " + next)
	}
	return out, nil
}

func TestChildShardIsReadAfterItsParent(t *testing.T) {
	for name, late := range map[string]bool{"known from the start": false, "known once its parent has ended": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var got string
				stream := &splitting{expired: true, late: late}
				poller := platform.StreamPoller{
					Client: stream, Stream: "arn",
					Function: func(_ context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
						time.Sleep(time.Second)
						mu.Lock()
						defer mu.Unlock()
						got += keys(event)
						return events.DynamoDBEventResponse{}, nil
					},
				}
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if err := poller.Run(ctx); err != nil {
					t.Fatal(err)
				}
				if want := "parent1 parent2 parent3 child1 child2 child3 "; got != want {
					t.Errorf("read %q, want %q", got, want)
				}
				if want := []string{"parent", "parent 1", "child"}; !slices.Equal(stream.iterators, want) {
					t.Errorf("iterators were asked for at %q, want %q: an expired one begins anew after the checkpoint", stream.iterators, want)
				}
			})
		})
	}
}
