package store

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Execution reads one execution strongly; nil when it is absent.
func (s *Store) Execution(ctx context.Context, ref job.Ref, k job.Key) (*job.Execution, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.tables.Executions), Key: executionKey(ref, k),
		ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return nil, fault("read the execution", err)
	}
	s.meter("execution", out.ConsumedCapacity)
	return decodeSeen(out.Item)
}

// ReadExecutions reads many executions, at most 100 a call; absent ones are left
// out. The wake scan reads strongly, lists do not.
func (s *Store) ReadExecutions(ctx context.Context, refs []job.ExecutionRef, strong bool) ([]*job.Execution, error) {
	var found []*job.Execution
	for start := 0; start < len(refs); start += batchGet {
		var keys []item
		for _, ref := range refs[start:min(start+batchGet, len(refs))] {
			keys = append(keys, executionKey(ref.Ref, ref.Key))
		}
		err := s.batch(ctx, "executions", s.tables.Executions, keys, strong, func(stored item) error {
			e, err := decodeExecution(stored)
			if e != nil {
				found = append(found, e)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// NotBegun strongly reads the executions of a job after from that are
// SCHEDULED and that no attempt has begun: what a verb may withdraw.
func (s *Store) NotBegun(ctx context.Context, ref job.Ref, from time.Time) ([]job.Execution, error) {
	var found []job.Execution
	err := s.eachExecution(ctx, &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("pk = :pk AND sk > :from"),
		FilterExpression:          aws.String("#status = :scheduled AND attempt = :zero"),
		ExpressionAttributeNames:  map[string]string{"#status": "status"},
		ExpressionAttributeValues: item{":pk": text(ref.String()), ":from": text(keyAfter(from)), ":scheduled": text(string(job.Scheduled)), ":zero": number(0)},
		ConsistentRead:            aws.Bool(true)}, "not begun", func(e *job.Execution) bool {
		found = append(found, *e)
		return true
	})
	return found, err
}

// Unsettled reads what has not ended of a job's executions in (from, upto]:
// what a look-back or a plan judges. A look-back does not read strongly: it asks
// for times that are long past. A plan does: a scan may have made them just now.
func (s *Store) Unsettled(ctx context.Context, ref job.Ref, from, upto time.Time, strong bool) ([]job.Execution, error) {
	var found []job.Execution
	err := s.eachExecution(ctx, &dynamodb.QueryInput{
		ConsistentRead:           aws.Bool(strong),
		KeyConditionExpression:   aws.String("pk = :pk AND sk BETWEEN :from AND :upto"),
		FilterExpression:         aws.String("#status IN (:scheduled, :running, :retry)"),
		ExpressionAttributeNames: map[string]string{"#status": "status"},
		ExpressionAttributeValues: item{":pk": text(ref.String()), ":from": text(keyAfter(from)), ":upto": text(keyUpto(upto)),
			":scheduled": text(string(job.Scheduled)), ":running": text(string(job.Running)), ":retry": text(string(job.RetryWait))}},
		"look back", func(e *job.Execution) bool {
			found = append(found, *e)
			return true
		})
	return found, err
}

// begun strongly counts the scheduled times of a record whose execution has
// begun.
func (s *Store) begun(ctx context.Context, r job.RangeRecord) (count int, err error) {
	err = s.eachExecution(ctx, &dynamodb.QueryInput{
		KeyConditionExpression: aws.String("pk = :pk AND sk BETWEEN :from AND :upto"), FilterExpression: aws.String("attempt > :zero"),
		ExpressionAttributeValues: item{":pk": text(r.Ref.String()), ":from": text(keyAfter(r.Range.From.Add(-time.Second))),
			":upto": text(keyUpto(r.Range.To)), ":zero": number(0)},
		ConsistentRead: aws.Bool(true)}, "begun", func(e *job.Execution) bool {
		if e.Kind == job.KindScheduled {
			count++
		}
		return true
	})
	return count, err
}

// endedReach is how many executions LastEnded and LastSucceeded look at; they
// begin with few, which mostly are enough, and read more with each page.
const endedReach = 1000

// LastSucceeded is the latest scheduled time before the given one whose
// execution succeeded; zero when none is found among the last thousand.
func (s *Store) LastSucceeded(ctx context.Context, ref job.Ref, before time.Time) (at time.Time, err error) {
	err = s.lastEnded(ctx, ref, before.UTC().Format(job.KeyTimeLayout), []job.Status{job.Succeeded}, 1, func(e *job.Execution) bool {
		at = e.ScheduledAt
		return false
	})
	return at, err
}

// LastEnded tells how the latest scheduled executions up to a moment ended that
// succeeded or became dead letters, newest first, of epochs from the given one on;
// fewer than asked for when no more are found among the last thousand.
func (s *Store) LastEnded(ctx context.Context, ref job.Ref, epoch int64, upto time.Time, most int) (ended []job.Status, err error) {
	err = s.lastEnded(ctx, ref, keyUpto(upto), []job.Status{job.Succeeded, job.Failed, job.Dead}, most, func(e *job.Execution) bool {
		if e.Epoch >= epoch {
			ended = append(ended, e.Status)
		}
		return len(ended) < most
	})
	return ended, err
}

// lastEnded visits scheduled executions of these statuses whose key is below a
// bound, newest first, until visit returns false. hoped is how many are asked for.
func (s *Store) lastEnded(ctx context.Context, ref job.Ref, below string, statuses []job.Status, hoped int, visit func(*job.Execution) bool) error {
	query := &dynamodb.QueryInput{TableName: aws.String(s.tables.Executions), KeyConditionExpression: aws.String("pk = :pk AND sk < :below"),
		ExpressionAttributeValues: item{":pk": text(ref.String()), ":below": text(below)},
		ScanIndexForward:          aws.Bool(false), ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: s.capacity()}
	filterStatus(query, statuses)
	for page, left := 2*hoped+4, endedReach; left > 0; page, left = 2*page, left-page {
		query.Limit = aws.Int32(int32(min(page, left)))
		out, err := s.db.Query(ctx, query)
		if err != nil {
			return fault("read executions", err)
		}
		s.meter("last ended", out.ConsumedCapacity)
		for _, stored := range out.Items {
			if e, err := decodeExecution(stored); err == nil && e != nil && e.Kind == job.KindScheduled && !visit(e) {
				return nil
			}
		}
		if len(out.LastEvaluatedKey) == 0 {
			return nil
		}
		query.ExclusiveStartKey = out.LastEvaluatedKey
	}
	return nil
}

// eachExecution pages through a query of the executions table until visit
// returns false. History items are passed over.
func (s *Store) eachExecution(ctx context.Context, query *dynamodb.QueryInput, operation string, visit func(*job.Execution) bool) error {
	query.TableName = aws.String(s.tables.Executions)
	query.ReturnConsumedCapacity = s.capacity()
	for {
		out, err := s.db.Query(ctx, query)
		if err != nil {
			return fault("read executions", err)
		}
		s.meter(operation, out.ConsumedCapacity)
		for _, stored := range out.Items {
			e, err := decodeExecution(stored)
			if err != nil {
				return err
			}
			if e != nil && !visit(e) {
				return nil
			}
		}
		if len(out.LastEvaluatedKey) == 0 {
			return nil
		}
		query.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// ListExecutions pages through the executions of one job, newest scheduled
// time first. The cursor is the key of the last one shown.
func (s *Store) ListExecutions(ctx context.Context, q job.ExecutionQuery) ([]job.Execution, string, error) {
	upto := "~"
	if !q.Before.IsZero() {
		upto = keyUpto(q.Before)
	}
	query := &dynamodb.QueryInput{KeyConditionExpression: aws.String("pk = :pk AND sk < :upto"), ScanIndexForward: aws.Bool(false),
		ExpressionAttributeValues: item{":pk": text(q.Ref.String()), ":upto": text(upto)}, Limit: aws.Int32(int32(min(q.Limit+1, 1000)))}
	if q.Cursor != "" {
		from, err := decodeStart(q.Cursor)
		if err != nil {
			return nil, "", err
		}
		r := &reader{item: from}
		if r.text(PartitionKey) != q.Ref.String() {
			return nil, "", &job.Error{Code: job.CodeInvalid, Field: "cursor", Message: "the page cursor belongs to another list", Fix: "start from the first page"}
		}
		if r.text(SortKey) == "" {
			return nil, "", foreignCursor(q.Cursor)
		}
		query.ExpressionAttributeValues[":upto"] = text(min(upto, r.text(SortKey)))
	}
	filterStatus(query, q.Statuses)
	var found []job.Execution
	err := s.eachExecution(ctx, query, "list executions", func(e *job.Execution) bool {
		found = append(found, *e)
		return len(found) <= q.Limit
	})
	if err != nil {
		return nil, "", err
	}
	if len(found) <= q.Limit {
		return found, "", nil
	}
	found = found[:q.Limit]
	last := found[len(found)-1]
	return found, encodeStart(executionKey(last.Ref, last.Key)), nil
}

func filterStatus(query *dynamodb.QueryInput, statuses []job.Status) {
	if len(statuses) == 0 {
		return
	}
	names := make([]string, len(statuses))
	for i, status := range statuses {
		names[i] = ":s" + string(rune('a'+i))
		query.ExpressionAttributeValues[names[i]] = text(string(status))
	}
	query.ExpressionAttributeNames = map[string]string{"#status": "status"}
	query.FilterExpression = aws.String("#status IN (" + strings.Join(names, ", ") + ")")
}

// History reads the timeline entries that fell out of an execution, oldest first.
func (s *Store) History(ctx context.Context, ref job.Ref, k job.Key) ([]job.Entry, error) {
	query := &dynamodb.QueryInput{TableName: aws.String(s.tables.Executions), KeyConditionExpression: aws.String("pk = :pk AND begins_with(sk, :mark)"),
		ExpressionAttributeValues: item{":pk": text(k.Partition(ref)), ":mark": text(k.String() + historyMark)}, ReturnConsumedCapacity: s.capacity()}
	var entries []job.Entry
	for {
		out, err := s.db.Query(ctx, query)
		if err != nil {
			return nil, fault("read the history", err)
		}
		s.meter("history", out.ConsumedCapacity)
		for _, stored := range out.Items {
			r := &reader{item: stored}
			if e, ok := decodeEntry(r.text("entry")); ok {
				entries = append(entries, e)
			}
		}
		if len(out.LastEvaluatedKey) == 0 {
			return entries, nil
		}
		query.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
