package store

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// Intervene applies a person's transition to an execution that nobody runs: the
// next attempt at once, or the end of a doubt. One transaction with its audit entry.
//
// Requires: exactly the status, attempt, token and epoch seen, and the time seen
// from which it may be claimed.
// Writes: as a settle; the verdict of a review; the wake-up asked for, in a new
// version; no cancel flag any more, which whoever decides has seen; after a review the
// running time counts anew; the audit entry.
// Loses when: any of it has changed, or another transaction is under way. A lost
// response is no case of its own: the SDK repeats the same client token.
// Then the caller: reads again and decides anew.
func (s *Store) Intervene(ctx context.Context, seen *job.Execution, t lifecycle.Transition, i job.Intervention) error {
	u := update{condition: "#status = :was AND attempt = :attempt AND fencing_token = :token AND epoch = :epoch AND available_at = :seen",
		names: map[string]string{"#status": "status"},
		values: item{":was": text(string(seen.Status)), ":attempt": number(int64(seen.Attempt)), ":token": number(seen.FencingToken),
			":epoch": number(seen.Epoch), ":seen": millis(seen.AvailableAt)}}
	sets := u.timeline(seen, t)
	removes := append(s.applyTransition(&u, &sets, t, seen), "cancel", "cancel_declined")
	if i.Review != nil {
		removes = append(removes, "ran") // a person grants the whole running time anew
		sets = append(sets, "review = :review")
		u.values[":review"] = document(i.Review)
	}
	if seen.Kind == job.KindChild && t.Ends() {
		i.WakeAt = t.At() // nothing else keeps it until it is off its page
	}
	if !i.WakeAt.IsZero() && (!t.Ends() || seen.Kind == job.KindChild) {
		shard, err := s.wakeShard(ctx, seen.Ref, seen.Key)
		if err != nil {
			return err
		}
		sets = append(sets, "wake_at = :wake, wake_shard = :shard, wake_version = if_not_exists(wake_version, :nought) + :next")
		u.values[":wake"], u.values[":shard"], u.values[":nought"], u.values[":next"] = millis(i.WakeAt), shard, number(0), number(1)
	}
	u.set = "SET " + strings.Join(sets, ", ") + " REMOVE " + strings.Join(removes, ", ")
	return s.withAudit(ctx, "intervene", i.Audit, seen.Key, s.conditional(seen, u))
}

// Resolve closes a dead letter: it keeps a person's verdict on it. One transaction
// with its audit entry.
//
// Requires: the status seen, which is an end, and the verdict seen, or its absence.
// Writes: the verdict; the audit entry.
// Loses when: somebody else closed it, or another transaction is under way.
// Then the caller: reads again and decides anew.
func (s *Store) Resolve(ctx context.Context, seen *job.Execution, verdict job.Resolution, audit job.Audit) error {
	u := update{condition: "#status = :was AND attribute_not_exists(resolution)", set: "SET resolution = :verdict",
		names:  map[string]string{"#status": "status"},
		values: item{":was": text(string(seen.Status)), ":verdict": document(verdict)}}
	if seen.Resolution != nil {
		u.condition = "#status = :was AND resolution = :seen"
		u.values[":seen"] = document(seen.Resolution)
	}
	return s.withAudit(ctx, "resolve", audit, seen.Key, s.conditional(seen, u))
}

// withAudit writes updates of executions and an audit entry, all or none. mark tells
// entries of one job and moment apart.
func (s *Store) withAudit(ctx context.Context, operation string, a job.Audit, mark job.Key, writes ...types.TransactWriteItem) error {
	writes = append(writes, types.TransactWriteItem{Put: &types.Put{TableName: aws.String(s.tables.Control), Item: s.auditEntry(a, mark.String())}})
	out, err := s.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes, ReturnConsumedCapacity: s.capacity()})
	var canceled *types.TransactionCanceledException
	switch {
	case err == nil:
		s.meterAll(operation, out.ConsumedCapacity)
		return nil
	case errors.As(err, &canceled) && conditionLost(canceled):
		return job.ErrLost
	}
	return fault(operation, err)
}

// conditional is an update of an execution as part of a transaction.
func (s *Store) conditional(of *job.Execution, u update) types.TransactWriteItem {
	return types.TransactWriteItem{Update: &types.Update{TableName: aws.String(s.tables.Executions), Key: executionKey(of.Ref, of.Key), UpdateExpression: aws.String(u.set),
		ConditionExpression: aws.String(u.condition), ExpressionAttributeNames: u.names, ExpressionAttributeValues: u.values}}
}
