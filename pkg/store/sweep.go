package store

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

var sweepKey = key("SWEEP", single)

// Sweeps reads how far the walks over all jobs have come, half a read unit; the
// zero value when there was none. An old answer is found out by the next write.
func (s *Store) Sweeps(ctx context.Context) (job.Sweeps, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.tables.Control), Key: sweepKey, ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return job.Sweeps{}, fault("read the progress of the sweeps", err)
	}
	s.meter("sweeps", out.ConsumedCapacity)
	r := &reader{item: out.Item}
	var all job.Sweeps
	r.document("sweeps", &all)
	all.Step = r.number("step")
	return all, r.err
}

// SaveSweeps replaces the progress seen.
//
// Requires: the step seen, or none yet. Writes: the progress, step + 1.
// Loses when: another tick was faster, or it was our own write whose response
// was lost. Then the caller: ends; a later tick goes on from what is there.
func (s *Store) SaveSweeps(ctx context.Context, seen, next job.Sweeps) error {
	_, err := s.update(ctx, update{operation: "save sweeps", table: s.tables.Control, key: sweepKey,
		condition: "attribute_not_exists(pk) OR step = :seen", set: "SET sweeps = :sweeps, step = :next",
		values: item{":seen": number(seen.Step), ":next": number(seen.Step + 1), ":sweeps": document(next)}})
	return err
}

// aheadLooksBack is how far back Ahead looks for the last time that had come: a
// little farther than a time zone can move.
const aheadLooksBack = 26 * time.Hour

// Ahead strongly reads the scheduled times of a job that were made before they
// came, oldest first, whatever became of them; and the last one that had come by
// now, or that a record covers: zero
// when there is none in the last day.
func (s *Store) Ahead(ctx context.Context, ref job.Ref, now time.Time) (ahead []job.Execution, last time.Time, err error) {
	come := func(at time.Time) {
		if at.After(last) {
			last = at
		}
	}
	err = s.eachExecution(ctx, &dynamodb.QueryInput{KeyConditionExpression: aws.String("pk = :pk"), ScanIndexForward: aws.Bool(false),
		ExpressionAttributeValues: item{":pk": text(ref.String())}, ConsistentRead: aws.Bool(true), Limit: aws.Int32(100)},
		"ahead", func(e *job.Execution) bool {
			switch {
			case e.Range != nil:
				come(e.Range.To)
			case e.Kind == job.KindScheduled && e.ScheduledAt.After(now):
				ahead = append([]job.Execution{*e}, ahead...)
			case e.Kind == job.KindScheduled:
				come(e.ScheduledAt)
			}
			return last.IsZero() && e.ScheduledAt.After(now.Add(-aheadLooksBack))
		})
	return ahead, last, err
}
