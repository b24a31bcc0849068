package archive

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/record"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// image is an item as a stream's record carries it.
type image = map[string]events.DynamoDBAttributeValue

// Rows are what an event's records leave to archive, in their order. It is
// pure: the same record gives the same rows whatever comes with it.
func Rows(e events.DynamoDBEvent) []Row {
	var rows []Row
	for n := range e.Records {
		rows = append(rows, rowsOf(&e.Records[n])...)
	}
	return rows
}

// rowsOf are the rows of one record. What happens to it stays with it: one that
// does not read, by an error or by a panic, becomes a row of kind Unread.
func rowsOf(r *events.DynamoDBEventRecord) (rows []Row) {
	c := &change{DynamoDBEventRecord: r, before: r.Change.OldImage, after: r.Change.NewImage}
	defer func() {
		if panicked := recover(); panicked != nil {
			rows = []Row{c.unread(fmt.Errorf("it does not read: %v", panicked))}
		}
	}()
	if len(c.after) == 0 {
		return nil // removed: each of its transitions was told when it happened
	}
	var err error
	switch pk, sk := c.key(store.PartitionKey), c.key(store.SortKey); {
	case strings.HasPrefix(pk, store.AuditPrefix):
		rows, err = c.audit()
	case len(c.timeline(c.after)) == 0:
		return nil // neither an execution nor an audit entry
	default:
		if _, keyErr := job.ParseKey(sk); keyErr != nil {
			err = keyErr // an execution of a kind that this build does not know
			break
		}
		rows, err = c.transitions()
	}
	if err != nil {
		return []Row{c.unread(err)}
	}
	return rows
}

// change is one record on its way to rows.
type change struct {
	*events.DynamoDBEventRecord
	before, after image
}

// key is a part of the item's key; empty when there is none.
func (c *change) key(name string) string {
	value, there := c.after[name]
	if !there {
		value, there = c.Change.Keys[name]
	}
	if !there || value.DataType() != events.DataTypeString {
		return ""
	}
	return value.String()
}

func (c *change) timeline(of image) []events.DynamoDBAttributeValue {
	value, there := of["timeline"]
	if !there || value.DataType() != events.DataTypeList {
		return nil
	}
	return value.List()
}

// told is how many entries the whole timeline of an image has, those included
// that fell out of it.
func (c *change) told(of image) int {
	dropped := 0
	if value, there := of["timeline_dropped"]; there && value.DataType() == events.DataTypeNumber {
		dropped, _ = strconv.Atoi(value.Number())
	}
	return dropped + len(c.timeline(of))
}

// added is how many of the newest entries this change brought. A record of a
// range that is written again has the same number of entries, and another one.
func (c *change) added() int {
	before, after := c.timeline(c.before), c.timeline(c.after)
	n := c.told(c.after) - c.told(c.before)
	if n <= 0 && len(before) > 0 && textOf(before[len(before)-1]) != textOf(after[len(after)-1]) {
		n = 1
	}
	return min(max(n, 0), len(after))
}

func textOf(v events.DynamoDBAttributeValue) string {
	if v.DataType() != events.DataTypeString {
		return ""
	}
	return v.String()
}

// transitions are the rows of the entries that the change brought.
func (c *change) transitions() ([]Row, error) {
	n := c.added()
	if n == 0 {
		return nil, nil // a heartbeat, a wake-up, a request: nothing became of the execution
	}
	all := c.timeline(c.after)
	e, err := decode(c.after, all[len(all)-n:])
	if err != nil {
		return nil, err
	}
	if len(e.Timeline) != n {
		return nil, errors.New("its timeline has an entry that does not read")
	}
	var from job.Status
	if was, wasErr := decode(c.before, nil); wasErr == nil && was != nil {
		from = was.Status
	}
	rows := make([]Row, n)
	for i, entry := range e.Timeline {
		t := c.transition(e, entry, i, c.told(c.after)-n+i)
		t.From, from = from, entry.To
		if i == n-1 {
			withEnd(&t, e)
		}
		rows[i] = c.row(Transition, t.ID, e.Tenant, entry.At, t)
	}
	return rows, nil
}

// decode reads an image with only these entries in its timeline; nil when it is
// no execution.
func decode(of image, entries []events.DynamoDBAttributeValue) (*job.Execution, error) {
	cut := make(image, len(of))
	for name, value := range of {
		cut[name] = value
	}
	if len(cut) > 0 {
		cut["timeline"] = events.NewListAttribute(entries)
	}
	return store.DecodeImage(record.Attributes(cut))
}

func (c *change) transition(e *job.Execution, entry job.Entry, nth, place int) transition {
	return transition{ID: c.id(nth), Schema: job.Schema, Tenant: e.Tenant, Job: e.Job, Execution: e.ID(), Kind: kindWords[e.Kind], ScheduledAt: instant(e.ScheduledAt),
		Revision: e.Revision, Epoch: e.Epoch, Pool: e.Pool, Type: e.Type, Target: e.Target, Place: place, At: instant(entry.At), To: entry.To, Attempt: entry.Attempt, Token: entry.Token,
		Reason: entry.Reason, Actor: entry.Actor, ErrorCode: entry.ErrorCode, CoversFrom: known(e.Covers), ReplayOf: e.ReplayOf}
}

// withEnd adds what the execution tells of its newest state.
func withEnd(t *transition, e *job.Execution) {
	if t.ErrorCode != "" {
		t.ErrorText = e.ErrorText
	}
	if e.Status == job.RetryWait || e.Status == job.Scheduled {
		t.AvailableAt = known(e.AvailableAt)
	}
	if e.Range != nil {
		t.RangeTo, t.RangeCount = known(e.Range.To), e.Range.Count
	}
}

func (c *change) audit() ([]Row, error) {
	a, err := store.DecodeAudit(record.Attributes(c.after))
	if err != nil {
		return nil, err
	}
	id := c.id(0)
	return []Row{c.row(Audit, id, a.Ref.Tenant, a.At, audit{ID: id, Schema: job.Schema, Tenant: a.Ref.Tenant, Job: a.Ref.Job, At: instant(a.At), Verb: a.Verb,
		Actor: a.Actor, Epoch: a.Epoch, Revision: a.Revision, Execution: a.Execution, Note: a.Note})}, nil
}

// id names the nth row of the record. The service gives every record of every
// stream an id of its own.
func (c *change) id(nth int) string {
	return cmp.Or(c.EventID, c.Change.SequenceNumber) + "." + strconv.Itoa(nth)
}

// farOff is how far a time may be from the service's before it decides no more
// on which day its row is kept: a broken clock must not hide a row.
const farOff = 24 * time.Hour

func (c *change) row(k Kind, id, tenant string, at time.Time, content any) Row {
	stored := c.Change.ApproximateCreationDateTime.Time
	if !stored.IsZero() && stored.Sub(at).Abs() > farOff {
		at = stored
	}
	if job.CheckName("tenant", tenant) != nil {
		tenant = NoTenant
	}
	return Row{ID: id, Kind: k, Tenant: tenant, Date: at.UTC().Format(time.DateOnly), Sequence: c.Change.SequenceNumber, Line: line(content)}
}
