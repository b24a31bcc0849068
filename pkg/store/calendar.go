package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Calendars lie in the control table, one partition a tenant.
func calendarKey(tenant, name string) item { return key("CAL#"+tenant, name) }

// Calendar strongly reads one calendar, also a tombstone; nil when there never was one.
func (s *Store) Calendar(ctx context.Context, tenant, name string) (*job.StoredCalendar, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.tables.Control), Key: calendarKey(tenant, name),
		ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return nil, fault("read the calendar", err)
	}
	s.meter("calendar", out.ConsumedCapacity)
	if len(out.Item) == 0 {
		return nil, nil
	}
	return decodeCalendar(tenant, out.Item)
}

// ListCalendars pages through a tenant's calendars by name, tombstones included. The
// last page's cursor is empty.
func (s *Store) ListCalendars(ctx context.Context, tenant, cursor string, limit int) ([]job.StoredCalendar, string, error) {
	stored, next, err := s.controlPage(ctx, "list calendars", "CAL#"+tenant, cursor, limit)
	if err != nil {
		return nil, "", err
	}
	list := make([]job.StoredCalendar, len(stored))
	for i, one := range stored {
		c, err := decodeCalendar(tenant, one)
		if err != nil {
			return nil, "", err
		}
		list[i] = *c
	}
	return list, next, nil
}

// controlPage strongly reads one page of a partition of the control table. The
// cursor is the last key of the page before.
func (s *Store) controlPage(ctx context.Context, operation, partition, cursor string, limit int) ([]item, string, error) {
	in := &dynamodb.QueryInput{TableName: aws.String(s.tables.Control), KeyConditionExpression: aws.String("pk = :pk"), ExpressionAttributeValues: item{":pk": text(partition)},
		ConsistentRead: aws.Bool(true), Limit: aws.Int32(int32(limit)), ReturnConsumedCapacity: s.capacity()}
	if cursor != "" {
		in.ExclusiveStartKey = key(partition, cursor)
	}
	out, err := s.db.Query(ctx, in)
	if err != nil {
		return nil, "", fault("read the "+operation, err)
	}
	s.meter(operation, out.ConsumedCapacity)
	next := ""
	if len(out.LastEvaluatedKey) > 0 {
		next = (&reader{item: out.LastEvaluatedKey}).text(SortKey)
	}
	return out.Items, next, nil
}

// SaveCalendar writes a calendar, or its tombstone, and the audit entry in one
// transaction.
//
// Requires: there never was one (Old nil), or the version that was read.
// Writes: the calendar; the audit entry.
// Loses when: somebody else changed it. A lost response is no case of its own: the
// SDK repeats the same client token.
// Then the caller: reads it again and decides anew.
func (s *Store) SaveCalendar(ctx context.Context, c job.CalendarChange) error {
	put := &types.Put{TableName: aws.String(s.tables.Control), Item: encodeCalendar(&c.New), ConditionExpression: aws.String("attribute_not_exists(pk)")}
	if c.Old != nil {
		put.ConditionExpression, put.ExpressionAttributeValues = aws.String("version = :old"), item{":old": number(int64(c.Old.Version))}
	}
	a := c.Audit
	audit := key(AuditPrefix+a.Ref.String(), fmt.Sprintf("%013d#%d", a.At.UnixMilli(), a.Revision))
	audit["verb"], audit["actor"], audit["epoch"], audit["revision"] = text(a.Verb), text(a.Actor), number(a.Epoch), number(int64(a.Revision))
	audit["at"], audit[TTLAttribute] = millis(a.At), seconds(s.farExpiry(a.At))
	out, err := s.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: s.capacity(), TransactItems: []types.TransactWriteItem{
		{Put: put}, {Put: &types.Put{TableName: aws.String(s.tables.Control), Item: audit}}}})
	var canceled *types.TransactionCanceledException
	switch {
	case err == nil:
		s.meterAll("save calendar", out.ConsumedCapacity)
		return nil
	case errors.As(err, &canceled) && conditionLost(canceled):
		return job.ErrLost
	}
	return fault("change the calendar", err)
}

func encodeCalendar(c *job.StoredCalendar) item {
	stored := calendarKey(c.Tenant, c.Name)
	stored["schema"], stored["version"] = number(job.Schema), number(int64(c.Version))
	stored["calendar"], stored["updated_at"], stored["changed_by"] = document(c.Calendar), millis(c.UpdatedAt), text(c.ChangedBy)
	if c.Deleted {
		stored["deleted"] = number(1)
	}
	return stored
}

func decodeCalendar(tenant string, stored item) (*job.StoredCalendar, error) {
	r := &reader{item: stored}
	c := &job.StoredCalendar{Tenant: tenant, Version: int(r.number("version")), UpdatedAt: r.millis("updated_at"), ChangedBy: r.text("changed_by"),
		Deleted: r.number("deleted") > 0, Schema: int(r.number("schema"))}
	r.document("calendar", &c.Calendar)
	return c, r.err
}
