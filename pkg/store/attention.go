package store

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// AttentionEntry says that an execution needed a person, when and why. What
// became of it since is in the execution itself.
type AttentionEntry struct {
	job.ExecutionRef
	At        time.Time
	Status    job.Status
	Reason    job.Reason
	ErrorCode string
}

// WriteAttention adds an execution to its tenant's list of those that need a
// person: dead letters (FAILED, DEAD) on one list, reviews on another.
//
// Requires: nothing. Writes: the entry, under the execution's key and at.
// Loses when: never; the same entry again replaces itself.
func (s *Store) WriteAttention(ctx context.Context, e *job.Execution, at time.Time) error {
	entry := key(attentionPartition(e.Tenant, e.Status == job.NeedsReview), fmt.Sprintf("%013d#%s#%s", at.UnixMilli(), e.Job, e.Key))
	entry["at"] = millis(at)
	entry["job"] = text(e.Job)
	entry["execution"] = text(e.Key.String())
	entry["status"] = text(string(e.Status))
	entry["reason"] = text(string(e.Reason))
	if e.ErrorCode != "" {
		entry["error_code"] = text(e.ErrorCode)
	}
	entry[TTLAttribute] = seconds(s.expiry(at))
	return s.putControl(ctx, "write attention", entry)
}

// Attention pages through a tenant's dead letters, or through its reviews,
// newest first. It lags by seconds. The cursor of the last page is empty.
func (s *Store) Attention(ctx context.Context, tenant string, reviews bool, cursor string, limit int) ([]AttentionEntry, string, error) {
	partition := attentionPartition(tenant, reviews)
	from, err := decodeStart(cursor)
	if err != nil {
		return nil, "", err
	}
	if start := (&reader{item: from}).text(PartitionKey); cursor != "" && start != partition {
		return nil, "", &job.Error{Code: job.CodeInvalid, Field: "cursor", Message: "the page cursor belongs to another list", Fix: "start from the first page"}
	}
	out, err := s.db.Query(ctx, &dynamodb.QueryInput{TableName: aws.String(s.tables.Control), KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: item{":pk": text(partition)}, ScanIndexForward: aws.Bool(false), Limit: aws.Int32(int32(limit)),
		ExclusiveStartKey: from, ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return nil, "", pageFault("list what needs attention", cursor, err)
	}
	s.meter("attention", out.ConsumedCapacity)
	var entries []AttentionEntry
	for _, stored := range out.Items {
		r := &reader{item: stored}
		k, err := job.ParseKey(r.text("execution"))
		if err != nil {
			continue // of a newer build
		}
		entries = append(entries, AttentionEntry{ExecutionRef: job.ExecutionRef{Ref: job.Ref{Tenant: tenant, Job: r.text("job")}, Key: k},
			At: r.millis("at"), Status: job.Status(r.text("status")), Reason: job.Reason(r.text("reason")), ErrorCode: r.text("error_code")})
	}
	return entries, encodeStart(out.LastEvaluatedKey), nil
}

func attentionPartition(tenant string, reviews bool) string {
	if reviews {
		return "REVIEW#" + tenant
	}
	return "DEAD#" + tenant
}
