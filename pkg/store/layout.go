package store

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// layoutsKept is how long a process goes by the layouts that it has read. An
// older layout must stay live for longer than that after a newer one was added.
const layoutsKept = time.Minute

// knownLayouts is what a process last read.
type knownLayouts struct {
	layouts []job.Layout
	readAt  time.Time
}

// newest is the layout that writes use. It is always a stored one, whatever
// this process was started with: into another's shards no tick ever looks. One
// that was read before still serves while the table does not answer.
func (s *Store) newest(ctx context.Context) (job.Layout, error) {
	if known := s.layouts.Load(); known != nil && !s.outdated(known) {
		return known.layouts[len(known.layouts)-1], nil
	}
	if err := s.takeTurn(ctx); err != nil {
		return job.Layout{}, err
	}
	defer s.endTurn()
	known := s.layouts.Load()
	if known == nil || s.outdated(known) {
		layouts, err := s.readLayouts(ctx)
		switch {
		case err == nil:
			return layouts[len(layouts)-1], nil
		case known == nil:
			return job.Layout{}, err
		}
		known = &knownLayouts{layouts: known.layouts, readAt: s.options.Now()}
		s.layouts.Store(known)
	}
	return known.layouts[len(known.layouts)-1], nil
}

func (s *Store) outdated(known *knownLayouts) bool {
	if s.options.Now == nil {
		return false
	}
	age := s.options.Now().Sub(known.readAt)
	return age < 0 || age > layoutsKept
}

func (s *Store) dueShard(ctx context.Context, ref job.Ref) (types.AttributeValue, error) {
	layout, err := s.newest(ctx)
	if err != nil {
		return nil, err
	}
	return text(dueKey(job.Shard{Generation: layout.Generation, Number: hash(ref.String(), layout.Shards)})), nil
}

// wakeShard spreads wake-ups by execution, not by job: one job's backlog must
// not lie on one key.
func (s *Store) wakeShard(ctx context.Context, ref job.Ref, k job.Key) (types.AttributeValue, error) {
	layout, err := s.newest(ctx)
	if err != nil {
		return nil, err
	}
	return text(wakeKey(job.Shard{Generation: layout.Generation, Number: hash(ref.String()+"#"+k.String(), layout.Shards)})), nil
}

// Layouts reads the live shard layouts, oldest first. An installation without
// a stored layout gets its first one.
//
// Requires: nothing stored yet (for the put). Writes: the first layout.
// Loses when: another process was first. Then the caller: reads what is there.
func (s *Store) Layouts(ctx context.Context) ([]job.Layout, error) {
	if err := s.takeTurn(ctx); err != nil {
		return nil, err
	}
	defer s.endTurn()
	return s.readLayouts(ctx)
}

// takeTurn lets one caller at a time read the layouts. Unlike a lock it is given up
// with the context: the read of another may be waiting out a throttled table.
func (s *Store) takeTurn(ctx context.Context) error {
	select {
	case s.layoutTurn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Store) endTurn() { <-s.layoutTurn }

// readLayouts reads and keeps the layouts. It is the caller's turn.
func (s *Store) readLayouts(ctx context.Context) ([]job.Layout, error) {
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
			known := &knownLayouts{layouts: layouts}
			if s.options.Now != nil {
				known.readAt = s.options.Now()
			}
			s.layouts.Store(known)
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
