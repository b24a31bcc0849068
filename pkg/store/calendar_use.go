package store

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Who keeps to a calendar lies in a partition of the calendar's own, one item a job.
func calendarUsers(tenant, calendar string) string { return "CALUSE#" + tenant + "/" + calendar }

func calendarUse(ref job.Ref, calendar string, version int) item {
	use := key(calendarUsers(ref.Tenant, calendar), ref.Job)
	use["version"] = number(int64(version))
	return use
}

// CalendarUsers strongly pages through the jobs that keep to a calendar, by name.
func (s *Store) CalendarUsers(ctx context.Context, tenant, calendar, cursor string, limit int) ([]job.CalendarUser, string, error) {
	stored, next, err := s.controlPage(ctx, "calendar users", calendarUsers(tenant, calendar), cursor, limit)
	if err != nil {
		return nil, "", err
	}
	users := make([]job.CalendarUser, len(stored))
	for i, one := range stored {
		r := &reader{item: one}
		users[i] = job.CalendarUser{Job: r.text(SortKey), Version: int(r.number("version"))}
		if r.err != nil {
			return nil, "", r.err
		}
	}
	return users, next, nil
}

// CalendarUse strongly reads the version under which a job is known to keep to a
// calendar; 0 when it is not known to.
func (s *Store) CalendarUse(ctx context.Context, ref job.Ref, calendar string) (int, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.tables.Control), Key: key(calendarUsers(ref.Tenant, calendar), ref.Job),
		ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return 0, fault("read who keeps to the calendar", err)
	}
	s.meter("calendar use", out.ConsumedCapacity)
	if len(out.Item) == 0 {
		return 0, nil
	}
	r := &reader{item: out.Item}
	return int(r.number("version")), r.err
}

// MendCalendarUse writes down again that a job keeps to a calendar.
//
// Requires: the head's epoch, and that nothing says so yet.
// Writes: that the job keeps to the calendar, in that version.
// Loses when: a verb came, which writes it itself; or somebody else mended it.
// Then the caller: goes on.
func (s *Store) MendCalendarUse(ctx context.Context, seen *job.Head, calendar string, version int) error {
	head := &types.ConditionCheck{TableName: aws.String(s.tables.Jobs), Key: key(seen.Ref.String(), headKey),
		ConditionExpression: aws.String("epoch = :epoch"), ExpressionAttributeValues: item{":epoch": number(seen.Epoch)}}
	use := &types.Put{TableName: aws.String(s.tables.Control), Item: calendarUse(seen.Ref, calendar, version), ConditionExpression: aws.String("attribute_not_exists(pk)")}
	out, err := s.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: s.capacity(),
		TransactItems: []types.TransactWriteItem{{ConditionCheck: head}, {Put: use}}})
	var canceled *types.TransactionCanceledException
	switch {
	case err == nil:
		s.meterAll("mend calendar use", out.ConsumedCapacity)
		return nil
	case errors.As(err, &canceled) && conditionLost(canceled):
		return job.ErrLost
	}
	return fault("write who keeps to the calendar", err)
}

// usesWritten keeps, with a verb's write, who keeps to which calendar: what the job
// no longer names goes, what its revision or the definition that waits pinned is
// written with the older version of both.
func (s *Store) usesWritten(c job.HeadChange) []types.TransactWriteItem {
	var writes []types.TransactWriteItem
	now := c.New.Uses()
	for _, name := range c.Old.Uses() {
		if !slices.Contains(now, name) {
			writes = append(writes, types.TransactWriteItem{Delete: &types.Delete{TableName: aws.String(s.tables.Control), Key: key(calendarUsers(c.New.Tenant, name), c.New.Job)}})
		}
	}
	versions := map[string]int{}
	for _, rev := range []*job.Revision{c.Revision, c.Waiting} {
		if rev == nil {
			continue
		}
		for _, pinned := range rev.Calendars {
			if v, known := versions[pinned.Name]; !known || pinned.Version < v {
				versions[pinned.Name] = pinned.Version
			}
		}
	}
	for _, name := range now {
		if version, known := versions[name]; known {
			writes = append(writes, types.TransactWriteItem{Put: &types.Put{TableName: aws.String(s.tables.Control), Item: calendarUse(c.New.Ref, name, version)}})
		}
	}
	for _, pinned := range c.Fresh {
		writes = append(writes, types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: aws.String(s.tables.Control), Key: calendarKey(c.New.Tenant, pinned.Name),
			ConditionExpression: aws.String("version = :version AND attribute_not_exists(deleted)"), ExpressionAttributeValues: item{":version": number(int64(pinned.Version))}}})
	}
	return writes
}
