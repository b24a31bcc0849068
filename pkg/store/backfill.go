package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// SaveBackfill is the scan's write of a backfill. While it runs it stands in the due
// index, which is the outbox of what it still has to make.
//
// Requires: it is absent (Old nil), or runs under the step that was read.
// Writes: the backfill with its step raised; next_fire_at and due_shard (in the
// newest layout) while it runs, neither once it has ended.
// Loses when: another scan or a cancel was faster. The same change is recognised:
// it is ours, whose response was lost, or as good as it.
// Then the caller: leaves it to the winner.
func (s *Store) SaveBackfill(ctx context.Context, c job.BackfillChange) error {
	w, err := s.backfillWrite(ctx, &c)
	if err != nil {
		return err
	}
	there, err := s.update(ctx, update{operation: "save backfill", table: s.tables.Jobs, key: key(c.New.Ref.String(), backfillKey(c.New.ID)),
		set: w.set, condition: w.condition, names: w.names, values: w.values})
	if !errors.Is(err, job.ErrLost) || len(there) == 0 {
		return err
	}
	now := decodeBackfill(there)
	if c.Old == nil || now.Step == c.New.Step && now.Cursor.Equal(c.New.Cursor) && now.Made == c.New.Made && now.Settled.Equal(c.New.Settled) && now.State == c.New.State {
		return nil
	}
	return job.ErrLost
}

// ChangeBackfill is a person's write of a backfill: it, and the audit entry, in one
// transaction.
//
// Requires: it is absent (Old nil), or runs under the step that was read.
// Writes: as SaveBackfill; the audit entry.
// Loses when: a scan or another cancel was faster. A lost response is no case of its
// own: the SDK repeats the same client token.
// Then the caller: reads it again and decides anew.
func (s *Store) ChangeBackfill(ctx context.Context, c job.BackfillChange) error {
	w, err := s.backfillWrite(ctx, &c)
	if err != nil {
		return err
	}
	a := c.Audit
	audit := key(AuditPrefix+a.Ref.String(), fmt.Sprintf("%013d#%d#%s.%d", a.At.UnixMilli(), a.Epoch, c.New.ID, c.New.Step))
	audit["verb"], audit["actor"], audit["epoch"], audit["revision"] = text(a.Verb), text(a.Actor), number(a.Epoch), number(int64(a.Revision))
	audit["at"], audit[TTLAttribute] = millis(a.At), seconds(s.farExpiry(a.At))
	out, err := s.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: s.capacity(), TransactItems: []types.TransactWriteItem{
		{Update: &types.Update{TableName: aws.String(s.tables.Jobs), Key: key(c.New.Ref.String(), backfillKey(c.New.ID)), UpdateExpression: aws.String(w.set),
			ConditionExpression: aws.String(w.condition), ExpressionAttributeNames: w.names, ExpressionAttributeValues: w.values}},
		{Put: &types.Put{TableName: aws.String(s.tables.Control), Item: audit}}}})
	var canceled *types.TransactionCanceledException
	switch {
	case err == nil:
		s.meterAll("change backfill", out.ConsumedCapacity)
		return nil
	case errors.As(err, &canceled) && conditionLost(canceled):
		return job.ErrLost
	}
	return fault("change the backfill", err)
}

// backfillWrite is a change as an expression; it raises the step.
func (s *Store) backfillWrite(ctx context.Context, c *job.BackfillChange) (u update, err error) {
	shard, err := s.dueShard(ctx, c.New.Ref)
	if err != nil {
		return u, err
	}
	if c.Old != nil {
		c.New.Step = c.Old.Step + 1
	}
	u.condition = "attribute_not_exists(pk)"
	u.set, u.names, u.values = headUpdate(encodeBackfill(&c.New, shard))
	if c.Old != nil {
		u.condition = "#state = :running AND #step = :seen"
		u.values[":running"], u.values[":seen"] = text(string(job.BackfillRunning)), number(c.Old.Step)
	}
	return u, nil
}

// Backfill reads one backfill strongly; nil when it is absent.
func (s *Store) Backfill(ctx context.Context, ref job.Ref, id string) (*job.Backfill, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.tables.Jobs), Key: key(ref.String(), backfillKey(id)),
		ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return nil, fault("read the backfill", err)
	}
	s.meter("backfill", out.ConsumedCapacity)
	if len(out.Item) == 0 {
		return nil, nil
	}
	return decodeBackfill(out.Item), nil
}

// Backfills pages through the backfills of a job, newest first. The cursor is that
// of the page before; empty = from the start, and on the last page.
func (s *Store) Backfills(ctx context.Context, ref job.Ref, cursor string, limit int) (found []job.Backfill, next string, err error) {
	from, err := decodeStart(cursor)
	if err != nil {
		return nil, "", err
	}
	if r := (&reader{item: from}); from != nil && (r.text(PartitionKey) != ref.String() || !strings.HasPrefix(r.text(SortKey), backfillMark) || len(from) != 2) {
		return nil, "", foreignCursor(cursor)
	}
	out, err := s.db.Query(ctx, &dynamodb.QueryInput{TableName: aws.String(s.tables.Jobs), KeyConditionExpression: aws.String("pk = :pk AND begins_with(sk, :mark)"),
		ExpressionAttributeValues: item{":pk": text(ref.String()), ":mark": text(backfillMark)}, ScanIndexForward: aws.Bool(false), ConsistentRead: aws.Bool(true),
		Limit: aws.Int32(int32(limit)), ExclusiveStartKey: from, ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return nil, "", pageFault("list the backfills", cursor, err)
	}
	s.meter("backfills", out.ConsumedCapacity)
	for _, stored := range out.Items {
		found = append(found, *decodeBackfill(stored))
	}
	return found, encodeStart(out.LastEvaluatedKey), nil
}

// InRange strongly reads a job's executions and records with keys in [from, upto]
// until visit returns false.
func (s *Store) InRange(ctx context.Context, ref job.Ref, from, upto time.Time, visit func(*job.Execution) bool) error {
	return s.eachExecution(ctx, &dynamodb.QueryInput{ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("pk = :pk AND sk BETWEEN :from AND :upto"),
		ExpressionAttributeValues: item{":pk": text(ref.String()), ":from": text(keyAfter(from.Add(-time.Second))), ":upto": text(keyUpto(upto))}}, "in range", visit)
}
