package store

import (
	"context"

	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Overdue scans the whole executions table for what was available before cut,
// has not ended, and neither a lease nor a wake-up keeps. It hands each page
// over and returns how many items were read. It costs half a read unit per 4 KB
// of the table: for repair, never for a path that users wait on.
func (s *Store) Overdue(ctx context.Context, cut time.Time, visit func([]*job.Execution) error) (int, error) {
	scanned := 0
	var start item
	for {
		out, err := s.db.Scan(ctx, &dynamodb.ScanInput{TableName: aws.String(s.tables.Executions), ExclusiveStartKey: start,
			FilterExpression: aws.String("#status IN (:scheduled, :running, :retry) AND available_at < :cut AND attribute_not_exists(wake_at) AND " +
				"(attribute_not_exists(lease_until) OR lease_until < :cut)"),
			ExpressionAttributeNames: map[string]string{"#status": "status"},
			ExpressionAttributeValues: item{":scheduled": text(string(job.Scheduled)), ":running": text(string(job.Running)),
				":retry": text(string(job.RetryWait)), ":cut": millis(cut)},
			ReturnConsumedCapacity: s.capacity()})
		if err != nil {
			return scanned, fault("scan the executions", err)
		}
		s.meter("overdue", out.ConsumedCapacity)
		scanned += int(out.ScannedCount)
		var found []*job.Execution
		for _, stored := range out.Items {
			e, err := decodeExecution(stored)
			if err != nil {
				return scanned, err
			}
			if e != nil {
				found = append(found, e)
			}
		}
		if len(found) > 0 {
			if err := visit(found); err != nil {
				return scanned, err
			}
		}
		if len(out.LastEvaluatedKey) == 0 {
			return scanned, nil
		}
		start = out.LastEvaluatedKey
	}
}
