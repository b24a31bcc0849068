package store

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// newest is the layout that writes use: as last read, else the first one.
func (s *Store) newest() job.Layout {
	if known := s.layouts.Load(); known != nil && len(*known) > 0 {
		return (*known)[len(*known)-1]
	}
	return job.Layout{Generation: 1, Shards: s.options.Shards}
}

func (s *Store) dueShard(ref job.Ref) string {
	layout := s.newest()
	return dueKey(job.Shard{Generation: layout.Generation, Number: hash(ref.String(), layout.Shards)})
}

// Layouts reads the live shard layouts, oldest first. An installation without
// a stored layout gets its first one.
//
// Requires: nothing stored yet (for the put). Writes: the first layout.
// Loses when: another process was first. Then the caller: reads what is there.
func (s *Store) Layouts(ctx context.Context) ([]job.Layout, error) {
	s.layoutMu.Lock()
	defer s.layoutMu.Unlock()
	for {
		out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.tables.Control), Key: key("LAYOUT", single),
			ReturnConsumedCapacity: s.capacity()})
		if err != nil {
			return nil, fault("read the shard layouts", err)
		}
		s.meter("layouts", out.ConsumedCapacity)
		if len(out.Item) > 0 {
			r := &reader{item: out.Item}
			var layouts []job.Layout
			if err := json.Unmarshal([]byte(r.text("layouts")), &layouts); err != nil || len(layouts) == 0 {
				return nil, &job.Error{Code: job.CodeInternal, Field: "layouts", Message: "the stored shard layouts do not decode"}
			}
			s.layouts.Store(&layouts)
			return layouts, nil
		}
		first := key("LAYOUT", single)
		first["layouts"] = document([]job.Layout{{Generation: 1, Shards: s.options.Shards}})
		_, err = s.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(s.tables.Control), Item: first,
			ConditionExpression: aws.String("attribute_not_exists(pk)")})
		var lost *types.ConditionalCheckFailedException
		if err != nil && !errors.As(err, &lost) {
			return nil, fault("write the first shard layout", err)
		}
	}
}
