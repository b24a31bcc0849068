package store

import (
	"context"
	"errors"
	"sort"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// ChangeHead is the write of every control verb, one transaction.
//
// Requires: the head is absent (create) or has the epoch that was read, and where
// that is asked for its cursor and neither plan nor gap; the revision's number is
// free; fresh calendars are of the versions that were read.
// Writes: the head with its epoch raised, the revision if there is one, the
// definition that waits if there is one, the audit entry, which calendars the job
// keeps to, in which version. Update, not put: attributes of a newer build stay.
// Loses when: another verb came first, or another transaction is under way.
// Then the caller: reads the head again and decides anew. A lost response is
// no case of its own: the SDK repeats the same client token, and the service
// answers as it did the first time.
func (s *Store) ChangeHead(ctx context.Context, c job.HeadChange) error {
	shard, err := s.dueShard(ctx, c.New.Ref)
	if err != nil {
		return err
	}
	expression, names, values := headUpdate(encodeHead(&c.New, shard))
	condition := "attribute_not_exists(pk)"
	if c.Old != nil {
		condition = "#epoch = :old_epoch"
		names["#epoch"] = "epoch"
		values[":old_epoch"] = number(c.Old.Epoch)
	}
	if c.AtCursor && c.Old.NextFireAt.IsZero() {
		condition += " AND attribute_not_exists(next_fire_at) AND attribute_not_exists(#plan) AND attribute_not_exists(gap)"
	} else if c.AtCursor {
		condition += " AND next_fire_at = :old_cursor AND attribute_not_exists(#plan) AND attribute_not_exists(gap)"
		values[":old_cursor"] = seconds(c.Old.NextFireAt)
	}
	writes := []types.TransactWriteItem{{Update: &types.Update{TableName: aws.String(s.tables.Jobs), Key: key(c.New.Ref.String(), headKey),
		UpdateExpression: aws.String(expression), ConditionExpression: aws.String(condition), ExpressionAttributeNames: names,
		ExpressionAttributeValues: values}}}
	if c.Revision != nil {
		writes = append(writes, types.TransactWriteItem{Put: &types.Put{TableName: aws.String(s.tables.Jobs), Item: encodeRevision(c.Revision),
			ConditionExpression: aws.String("attribute_not_exists(pk)")}})
	}
	if c.Waiting != nil {
		writes = append(writes, types.TransactWriteItem{Put: &types.Put{TableName: aws.String(s.tables.Jobs), Item: encodeWaiting(c.Waiting)}})
	}
	writes = append(writes, types.TransactWriteItem{Put: &types.Put{TableName: aws.String(s.tables.Control), Item: s.auditItem(c)}})
	writes = append(writes, s.usesWritten(c)...)
	out, err := s.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes, ReturnConsumedCapacity: s.capacity()})
	var canceled *types.TransactionCanceledException
	switch {
	case err == nil:
		s.meterAll("change head", out.ConsumedCapacity)
		return nil
	case errors.As(err, &canceled) && conditionLost(canceled):
		return job.ErrLost
	}
	return fault("change the job", err)
}

// conditionLost reports whether a transaction was refused only because others
// were faster; throttling and invalid input are faults.
func conditionLost(canceled *types.TransactionCanceledException) bool {
	lost := false
	for _, reason := range canceled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "ConditionalCheckFailed", "TransactionConflict":
			lost = true
		case "", "None":
		default:
			return false
		}
	}
	return lost
}

// headUpdate renders a whole head as an update expression.
func headUpdate(c headChange) (string, map[string]string, item) {
	names, values := map[string]string{}, item{}
	attributes := make([]string, 0, len(c.set))
	for name := range c.set {
		attributes = append(attributes, name)
	}
	sort.Strings(attributes)
	sets := make([]string, len(attributes))
	for i, name := range attributes {
		names["#"+name] = name
		values[":"+name] = c.set[name]
		sets[i] = "#" + name + " = :" + name
	}
	expression := "SET " + strings.Join(sets, ", ")
	for i, name := range c.remove {
		names["#"+name] = name
		c.remove[i] = "#" + name
	}
	if len(c.remove) > 0 {
		expression += " REMOVE " + strings.Join(c.remove, ", ")
	}
	return expression, names, values
}

// CloseGap takes the gap out of a head once its record is written, and puts
// the cursor where the verb wanted it.
//
// Requires: the head's epoch, and a gap: within one epoch there is one gap at
// most, so it need not be compared with the one read.
// Writes: next_fire_at and due_shard, or their absence; gap removed.
// Loses when: another scan closed it, or a newer verb came.
// Then the caller: has nothing left to do.
func (s *Store) CloseGap(ctx context.Context, h *job.Head) error {
	u := update{operation: "close gap", table: s.tables.Jobs, key: key(h.Ref.String(), headKey),
		condition: "epoch = :epoch AND attribute_exists(gap)",
		set:       "REMOVE gap, next_fire_at, due_shard",
		values:    item{":epoch": number(h.Epoch)}}
	if !h.Gap.Then.IsZero() {
		u.set = "SET next_fire_at = :next, due_shard = :shard REMOVE gap"
		shard, err := s.dueShard(ctx, h.Ref)
		if err != nil {
			return err
		}
		u.values[":next"], u.values[":shard"] = seconds(h.Gap.Then), shard
	}
	_, err := s.update(ctx, u)
	return err
}
