package store

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Due pages through the jobs and backfills of one shard whose cursor is at or before
// upto, earliest first. The index is eventually consistent: it may show one late,
// or one that is no longer due; the reader checks the item. more is the next
// page's start, empty at the end; a page may be empty and not the last.
func (s *Store) Due(ctx context.Context, shard job.Shard, upto time.Time, limit int, start string) (found []job.Due, more string, err error) {
	out, err := s.queryIndex(ctx, "due", s.tables.Jobs, IndexDue, "due_shard", "next_fire_at", dueKey(shard), seconds(upto), limit, start)
	if err != nil {
		return nil, "", err
	}
	for _, stored := range out.Items {
		r := &reader{item: stored}
		due := job.Due{Ref: refOf(r.text(PartitionKey)), At: r.seconds("next_fire_at")}
		if id, is := strings.CutPrefix(r.text(SortKey), backfillMark); is {
			due.Backfill = id
		}
		found = append(found, due)
	}
	return found, encodeStart(out.LastEvaluatedKey), nil
}

// Waking pages through the executions of one wake shard whose wake-up is at or
// before upto, earliest first; eventually consistent, like Due.
func (s *Store) Waking(ctx context.Context, shard job.Shard, upto time.Time, limit int, start string) (found []job.ExecutionRef, more string, err error) {
	out, err := s.queryIndex(ctx, "waking", s.tables.Executions, IndexWake, "wake_shard", "wake_at", wakeKey(shard), millis(upto), limit, start)
	if err != nil {
		return nil, "", err
	}
	for _, stored := range out.Items {
		r := &reader{item: stored}
		if k, err := job.ParseKey(r.text(SortKey)); err == nil {
			found = append(found, job.ExecutionRef{Ref: refOf(r.text(PartitionKey)), Key: k})
		}
	}
	return found, encodeStart(out.LastEvaluatedKey), nil
}

func (s *Store) queryIndex(ctx context.Context, operation, table, index, partition, sort, shard string, upto types.AttributeValue, limit int, start string) (*dynamodb.QueryOutput, error) {
	from, err := decodeStart(start)
	if err != nil {
		return nil, err
	}
	out, err := s.db.Query(ctx, &dynamodb.QueryInput{TableName: aws.String(table), IndexName: aws.String(index),
		KeyConditionExpression:    aws.String(partition + " = :shard AND " + sort + " <= :upto"),
		ExpressionAttributeValues: item{":shard": text(shard), ":upto": upto},
		Limit:                     aws.Int32(int32(limit)), ExclusiveStartKey: from, ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return nil, fault("read what is "+operation, err)
	}
	s.meter(operation, out.ConsumedCapacity)
	return out, nil
}

// encodeStart makes an opaque page cursor of a key; all its attributes are
// strings and numbers.
func encodeStart(last item) string {
	if len(last) == 0 {
		return ""
	}
	flat := map[string]string{}
	for name, value := range last {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			flat[name] = "s" + v.Value
		case *types.AttributeValueMemberN:
			flat[name] = "n" + v.Value
		}
	}
	encoded, _ := json.Marshal(flat) // a map of strings always encodes
	return base64.RawURLEncoding.EncodeToString(encoded)
}

func foreignCursor(cursor string) *job.Error {
	return &job.Error{Code: job.CodeInvalid, Field: "cursor", Value: job.Shorten(cursor), Message: "the page cursor is not one of ours",
		Fix: "start from the first page"}
}

// pageFault is the fault of reading a page. What the service calls invalid in a
// query that is right without it is the cursor, which came from outside.
func pageFault(doing, cursor string, err error) error {
	var api smithy.APIError
	if cursor != "" && errors.As(err, &api) && api.ErrorCode() == "ValidationException" {
		return foreignCursor(cursor)
	}
	return fault(doing, err)
}

func decodeStart(start string) (item, error) {
	if start == "" {
		return nil, nil
	}
	refusal := foreignCursor(start)
	decoded, err := base64.RawURLEncoding.DecodeString(start)
	if err != nil {
		return nil, refusal
	}
	var flat map[string]string
	if json.Unmarshal(decoded, &flat) != nil || len(flat) == 0 {
		return nil, refusal
	}
	from := item{}
	for name, value := range flat {
		switch {
		case len(value) > 0 && value[0] == 's':
			from[name] = text(value[1:])
		case len(value) > 0 && value[0] == 'n':
			from[name] = &types.AttributeValueMemberN{Value: value[1:]}
		default:
			return nil, refusal
		}
	}
	return from, nil
}
