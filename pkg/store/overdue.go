package store

import (
	"context"

	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Overdue scans one page of the executions table, a megabyte, for what was
// available before cut, has not ended, and neither a lease nor a wake-up keeps. It
// returns how many items were read and where the next page starts, empty at the
// end. It costs half a read unit per 4 KB of the table: for repair, never for a
// path that users wait on.
func (s *Store) Overdue(ctx context.Context, cut time.Time, start string) (found []*job.Execution, scanned int, next string, err error) {
	from, err := decodeStart(start)
	if err != nil {
		return nil, 0, "", err
	}
	out, err := s.db.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(s.tables.Executions), ExclusiveStartKey: from,
		FilterExpression: aws.String("#status IN (:scheduled, :running, :retry) AND available_at < :cut AND attribute_not_exists(wake_at) AND " +
			"(attribute_not_exists(lease_until) OR lease_until < :cut)"),
		ExpressionAttributeNames: map[string]string{"#status": "status"},
		ExpressionAttributeValues: item{":scheduled": text(string(job.Scheduled)), ":running": text(string(job.Running)),
			":retry": text(string(job.RetryWait)), ":cut": millis(cut)},
		ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return nil, 0, "", pageFault("scan the executions", start, err)
	}
	s.meter("overdue", out.ConsumedCapacity)
	for _, stored := range out.Items {
		e, err := decodeExecution(stored)
		if err != nil {
			return nil, 0, "", err
		}
		if e != nil {
			found = append(found, e)
		}
	}
	return found, int(out.ScannedCount), encodeStart(out.LastEvaluatedKey), nil
}
