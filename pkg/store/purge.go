package store

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// purgeBatch is how many items one transaction takes away beside the head.
const purgeBatch = 50

// afterPurge are the attributes of a head that stay for good: without them a job
// made again under the same name would give out epochs and revisions that messages,
// archives and outside systems may still know.
var afterPurge = []string{PartitionKey, SortKey, "schema", "state", "epoch", "runs_from", "revision", "lost_revision", "updated_at"}

// NothingLeft strongly tells whether nothing is left of a job that has run, may
// still run or was recorded. What was withdrawn or superseded before it began does
// not count: no claim takes it, and it goes by itself later.
func (s *Store) NothingLeft(ctx context.Context, ref job.Ref) (bool, error) {
	nothing := true
	err := s.eachExecution(ctx, &dynamodb.QueryInput{KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: item{":pk": text(ref.String())}, ConsistentRead: aws.Bool(true)}, "nothing left", func(e *job.Execution) bool {
		neverBegan := e.Kind == job.KindScheduled && e.Attempt == 0 && (e.Status == job.Scheduled || e.Status == job.Withdrawn)
		nothing = nothing && neverBegan
		return nothing
	})
	return nothing, err
}

// Purge takes away a deleted job's revisions and whatever else stands beside its
// head, and of the head all but the numbers that must not be given out again.
//
// Requires: DELETED under the epoch seen and not purged, in every transaction.
// Writes: no item beside the head; the head without the rest, out of all indexes,
// with purged_at; with the last transaction an audit entry.
// Loses when: the job was made again, or another sweep purged it. What was taken
// away by then is of no use to a later life: its revisions have higher numbers.
// Then the caller: has nothing left to do.
func (s *Store) Purge(ctx context.Context, h *job.Head, at time.Time, actor string) error {
	head, beside, err := s.itemsOf(ctx, h.Ref)
	if err != nil {
		return err
	}
	deleted := item{"state": text(string(job.Deleted))}
	for len(beside) > purgeBatch {
		if err := s.takeAway(ctx, h, beside[:purgeBatch], headChange{set: deleted}, nil); err != nil {
			return err
		}
		beside = beside[purgeBatch:]
	}
	last := headChange{set: item{"state": text(string(job.Deleted)), "purged_at": millis(at)}}
	for _, name := range slices.Sorted(maps.Keys(head)) {
		if !slices.Contains(afterPurge, name) {
			last.remove = append(last.remove, name)
		}
	}
	return s.takeAway(ctx, h, beside, last, s.auditItem(job.HeadChange{New: *h, Verb: "purge", Actor: actor, At: at}))
}

// itemsOf strongly reads a job's head and the keys of the items beside it.
func (s *Store) itemsOf(ctx context.Context, ref job.Ref) (head item, beside []item, err error) {
	query := &dynamodb.QueryInput{TableName: aws.String(s.tables.Jobs), KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: item{":pk": text(ref.String())}, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: s.capacity()}
	for {
		out, err := s.db.Query(ctx, query)
		if err != nil {
			return nil, nil, fault("read what stands beside the head", err)
		}
		s.meter("beside head", out.ConsumedCapacity)
		for _, stored := range out.Items {
			if (&reader{item: stored}).text(SortKey) == headKey {
				head = stored
			} else {
				beside = append(beside, item{PartitionKey: stored[PartitionKey], SortKey: stored[SortKey]})
			}
		}
		if len(out.LastEvaluatedKey) == 0 {
			return head, beside, nil
		}
		query.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// takeAway deletes the items in one transaction with an update of the head, which
// is what makes sure that they are of a life that is over.
func (s *Store) takeAway(ctx context.Context, h *job.Head, items []item, change headChange, audit item) error {
	expression, names, values := headUpdate(change)
	names["#epoch"], names["#state"], names["#purged_at"] = "epoch", "state", "purged_at"
	values[":seen_epoch"], values[":over"] = number(h.Epoch), text(string(job.Deleted))
	writes := []types.TransactWriteItem{{Update: &types.Update{TableName: aws.String(s.tables.Jobs), Key: key(h.Ref.String(), headKey), UpdateExpression: aws.String(expression),
		ConditionExpression:      aws.String("#state = :over AND #epoch = :seen_epoch AND attribute_not_exists(#purged_at)"),
		ExpressionAttributeNames: names, ExpressionAttributeValues: values}}}
	for _, k := range items {
		writes = append(writes, types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String(s.tables.Jobs), Key: k}})
	}
	if audit != nil {
		writes = append(writes, types.TransactWriteItem{Put: &types.Put{TableName: aws.String(s.tables.Control), Item: audit}})
	}
	out, err := s.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes, ReturnConsumedCapacity: s.capacity()})
	var canceled *types.TransactionCanceledException
	switch {
	case err == nil:
		s.meterAll("purge", out.ConsumedCapacity)
		return nil
	case errors.As(err, &canceled) && conditionLost(canceled):
		return job.ErrLost
	}
	return fault("purge the job", err)
}
