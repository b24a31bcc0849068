// Command program calls AWS in the ways that the search has to see.
package main

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// IndexDue is named where it is read.
const IndexDue = "due"

// Tables names the tables.
type Tables struct{ Jobs, Executions, Control string }

type store struct {
	db     *dynamodb.Client
	tables Tables
}

type sender interface {
	Send(ctx context.Context) error
}

type queue struct{ sqs *sqs.Client }

// Send is reached through the interface alone.
func (q *queue) Send(ctx context.Context) error {
	_, err := q.sqs.SendMessageBatch(ctx, nil)
	return err
}

// Purge has no caller.
func (q *queue) Purge(ctx context.Context) error {
	_, err := q.sqs.PurgeQueue(ctx, nil)
	return err
}

type update struct{ table string }

// update is handed the table.
func (s *store) update(ctx context.Context, u update) error {
	_, err := s.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: &u.table})
	return err
}

// settlement only says what is to be updated.
func (s *store) settlement() update { return update{table: s.tables.Executions} }

func (s *store) query(ctx context.Context, table, index string) error {
	_, err := s.db.Query(ctx, &dynamodb.QueryInput{TableName: &table, IndexName: &index})
	return err
}

func (s *store) due(ctx context.Context) error { return s.query(ctx, s.tables.Jobs, IndexDue) }

func (s *store) listed(ctx context.Context) error {
	in := &dynamodb.QueryInput{}
	in.TableName = &s.tables.Control
	_, err := s.db.Query(ctx, in)
	return err
}

func (s *store) change(ctx context.Context) error {
	writes := []types.TransactWriteItem{{Put: &types.Put{TableName: &s.tables.Jobs}}, {Delete: &types.Delete{TableName: &s.tables.Control}}}
	_, err := s.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	return err
}

// scan is not reached.
func (s *store) scan(ctx context.Context) error {
	_, err := s.db.Scan(ctx, &dynamodb.ScanInput{TableName: &s.tables.Jobs})
	return err
}

func main() {
	s := &store{}
	var to sender = &queue{}
	_ = to.Send(context.Background())
	steps := []func(context.Context) error{s.due, s.listed, s.change}
	for _, step := range steps {
		func() { _ = step(context.Background()) }()
	}
	_ = s.update(context.Background(), s.settlement())
}
