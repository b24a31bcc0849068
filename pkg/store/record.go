package store

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// The lists for people are written by the stream consumer, in batches and
// beside the hot path: a throttled list can never reject a settle. They lag by
// seconds and only name executions; what is shown is read from the table.

// A tenant's recent list is cut into a partition a day and, within one, pages
// that begin with the minute; both of the scheduled time.
const (
	dayLayout    = "20060102"
	minuteLayout = "1504"
	// recentDays is how far back the list of a tenant's executions goes.
	recentDays = 31
)

func recentPartition(tenant string, day time.Time) string {
	return "REC#" + tenant + "#" + day.UTC().Format(dayLayout)
}

// RecentPage is one item of a tenant's recent list: executions whose scheduled
// times lie in one minute and that came up in one batch of the stream.
type RecentPage struct {
	Tenant  string
	Minute  time.Time
	Mark    string // id of the stream record that the page begins with, which names the page
	Entries []job.ExecutionRef
}

// WriteRecent adds a page to a tenant's recent list.
//
// Requires: nothing. Writes: the page, under its mark.
// Loses when: never; the same page again replaces itself.
func (s *Store) WriteRecent(ctx context.Context, p RecentPage) error {
	page := key(recentPartition(p.Tenant, p.Minute), p.Minute.UTC().Format(minuteLayout)+"#"+p.Mark)
	names := make([]string, len(p.Entries))
	for i, e := range p.Entries {
		names[i] = e.Ref.Job + "|" + e.Key.String()
	}
	page["entries"] = list(names...)
	page[TTLAttribute] = seconds(p.Minute.Add((recentDays + 1) * 24 * time.Hour))
	return s.putControl(ctx, "write recent", page)
}

// WriteHistory keeps a timeline entry that fell out of an execution.
//
// Requires: nothing. Writes: the entry, under its place in the whole timeline.
// Loses when: never; the same entry again replaces itself.
func (s *Store) WriteHistory(ctx context.Context, e *job.Execution, place int, entry job.Entry) error {
	stored := key(e.Partition(e.Ref), fmt.Sprintf("%s%s%05d", e.Key, historyMark, place))
	stored["entry"] = text(encodeEntry(entry))
	stored[TTLAttribute] = seconds(s.farExpiry(entry.At))
	out, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(s.tables.Executions), Item: stored, ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return fault("write history", err)
	}
	s.meter("write history", out.ConsumedCapacity)
	return nil
}

func (s *Store) putControl(ctx context.Context, operation string, stored item) error {
	out, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(s.tables.Control), Item: stored, ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return fault(operation, err)
	}
	s.meter(operation, out.ConsumedCapacity)
	return nil
}

// DecodeImage reads an execution from an image of the executions table's
// stream; nil for an item that is no execution, such as a history item.
func DecodeImage(image item) (*job.Execution, error) {
	if len(image) == 0 {
		return nil, nil
	}
	return decodeExecution(image)
}
