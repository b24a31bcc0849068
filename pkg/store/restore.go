package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// EveryHead pages through the heads of all tenants by a scan of the jobs table,
// half a read unit for 4 KB: for the repair after a restore alone. A head that does
// not decode is left out: written as a whole it would lose what this build cannot
// read, and its job is broken either way.
func (s *Store) EveryHead(ctx context.Context, p job.Part, limit int) (heads []*job.Head, next string, err error) {
	next, err = s.scan(ctx, "every head", &dynamodb.ScanInput{TableName: aws.String(s.tables.Jobs), FilterExpression: aws.String("sk = :head"),
		ExpressionAttributeValues: item{":head": text(headKey)}}, p, limit, func(stored item) error {
		if head, err := decodeHead(stored); err == nil {
			heads = append(heads, head)
		}
		return nil
	})
	return heads, next, err
}

// EveryExecution pages through all executions and records of ranges by a strong
// scan of their table: for the repair after a restore alone.
func (s *Store) EveryExecution(ctx context.Context, p job.Part, limit int) (found []*job.Execution, next string, err error) {
	next, err = s.scan(ctx, "every execution", &dynamodb.ScanInput{TableName: aws.String(s.tables.Executions), ConsistentRead: aws.Bool(true)},
		p, limit, func(stored item) error {
			e, err := decodeExecution(stored)
			if e != nil {
				found = append(found, e)
			}
			return err
		})
	return found, next, err
}

func (s *Store) scan(ctx context.Context, operation string, input *dynamodb.ScanInput, p job.Part, limit int, each func(item) error) (string, error) {
	from, err := decodeStart(p.Start)
	if err != nil {
		return "", err
	}
	input.Segment, input.TotalSegments = aws.Int32(int32(p.Number)), aws.Int32(int32(p.Of))
	input.ExclusiveStartKey, input.Limit, input.ReturnConsumedCapacity = from, aws.Int32(int32(limit)), s.capacity()
	out, err := s.db.Scan(ctx, input)
	if err != nil {
		return "", fault("read "+operation, err)
	}
	s.meter(operation, out.ConsumedCapacity)
	for _, stored := range out.Items {
		if err := each(stored); err != nil {
			return "", err
		}
	}
	return encodeStart(out.LastEvaluatedKey), nil
}

// Rearm gives a restored execution what it needs to run on: a wake-up, since the
// new queues hold no message for it, and a revision that the backup has. One that
// has not begun also gets the epoch that its head is about to be lifted to, and
// is SCHEDULED again if it was withdrawn by a verb that the backup does not know.
//
// Requires: exactly the status, attempt, token and epoch seen, and the lease
// seen when it was running.
// Writes: wake_at, wake_shard, wake_version + 1, revision; for what has neither begun nor ended
// also status, epoch, pool, the first token of the restore epoch, a timeline entry.
// Loses when: another repair of the same restore was faster, or it was our own
// write whose response was lost: nobody else writes while a repair is under way.
// Then the caller: goes on; it is repaired.
func (s *Store) Rearm(ctx context.Context, seen *job.Execution, r job.Rearm) error {
	shard, err := s.wakeShard(ctx, seen.Ref, seen.Key)
	if err != nil {
		return err
	}
	u := update{operation: "rearm", table: s.tables.Executions, key: executionKey(seen.Ref, seen.Key),
		condition: "#status = :was AND attempt = :attempt AND fencing_token = :token AND epoch = :epoch",
		set:       "SET wake_at = :wake, wake_shard = :shard, wake_version = if_not_exists(wake_version, :nought) + :one, revision = :revision",
		names:     map[string]string{"#status": "status"},
		values: item{":was": text(string(seen.Status)), ":attempt": number(int64(seen.Attempt)), ":token": number(seen.FencingToken),
			":epoch": number(seen.Epoch), ":wake": millis(r.Wake), ":shard": shard, ":nought": number(0), ":one": number(1),
			":revision": number(int64(r.Revision))}}
	if seen.Status == job.Running {
		u.condition += " AND lease_until = :lease"
		u.values[":lease"] = millis(seen.Lease.Until)
	}
	if seen.Attempt == 0 && !lifecycle.Terminal(seen.Status) {
		u.set += ", #status = :scheduled, epoch = :lifted, #pool = :pool, reason = :reason, fencing_token = :base, " +
			"timeline = list_append(if_not_exists(timeline, :none), :entry)"
		u.names["#pool"] = "pool"
		u.values[":scheduled"], u.values[":lifted"], u.values[":pool"] = text(string(job.Scheduled)), number(r.Epoch), text(r.Pool)
		u.values[":reason"], u.values[":base"] = text(string(lifecycle.Restored)), number(job.RestoreBase(s.options.RestoreEpoch))
		u.values[":none"] = list()
		u.values[":entry"] = list(encodeEntry(job.Entry{At: r.At, To: job.Scheduled, Reason: lifecycle.Restored, Actor: r.Actor}))
	}
	_, err = s.update(ctx, u)
	return err
}

// NoteLostRevision tells a restored head the highest revision that executions
// know and the backup does not, so that its number is not given out twice.
//
// Requires: the head is there and knows no higher one. Writes: lost_revision.
// Loses when: it knows one as high, or the job is not in the backup.
// Then the caller: goes on.
func (s *Store) NoteLostRevision(ctx context.Context, ref job.Ref, revision int) error {
	_, err := s.update(ctx, update{operation: "note lost revision", table: s.tables.Jobs, key: key(ref.String(), headKey),
		condition: "attribute_exists(pk) AND (attribute_not_exists(lost_revision) OR lost_revision < :revision)",
		set:       "SET lost_revision = :revision", values: item{":revision": number(int64(revision))}})
	if errors.Is(err, job.ErrLost) {
		return nil
	}
	return err
}

func (s *Store) restoreKey() item {
	return key(fmt.Sprintf("RESTORE#%d", s.options.RestoreEpoch), single)
}

// RestoreProgress reads how far the repair of this restore epoch has come; the
// zero value when it has not begun.
func (s *Store) RestoreProgress(ctx context.Context) (job.RestoreProgress, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.tables.Control), Key: s.restoreKey(),
		ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return job.RestoreProgress{}, fault("read the progress of the restore", err)
	}
	s.meter("restore progress", out.ConsumedCapacity)
	r := &reader{item: out.Item}
	var p job.RestoreProgress
	r.document("progress", &p)
	return p, r.err
}

// SaveRestoreProgress replaces the progress seen.
//
// Requires: the step seen, or none yet. Writes: the progress.
// Loses when: another caller repaired the same page first, or it was our own
// write whose response was lost. Then the caller: reads it and goes on from there.
func (s *Store) SaveRestoreProgress(ctx context.Context, seen, next job.RestoreProgress) error {
	_, err := s.update(ctx, update{operation: "save restore progress", table: s.tables.Control, key: s.restoreKey(),
		condition: "attribute_not_exists(pk) OR step = :seen", set: "SET progress = :progress, step = :next",
		values: item{":seen": number(seen.Step), ":next": number(next.Step), ":progress": document(next)}})
	return err
}

// Restored reports whether this installation may run: it was never restored, or
// the repair after its last restore is done. It is read until it is so, once a call.
func (s *Store) Restored(ctx context.Context) error {
	if s.options.RestoreEpoch == 0 || s.restored.Load() {
		return nil
	}
	p, err := s.RestoreProgress(ctx)
	if err != nil {
		return err
	}
	if p.Phase != job.RestoreDone {
		return &job.Error{Code: job.CodeRestorePending, Field: "restore_epoch", Value: fmt.Sprint(s.options.RestoreEpoch),
			Message: "the tables were restored from a backup and are not repaired yet", Fix: "run: belfry reconcile --dr"}
	}
	s.restored.Store(true)
	return nil
}
