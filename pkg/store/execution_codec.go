package store

import (
	"encoding/json"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

const (
	// errorTextBound is how much of an error's text an execution keeps as long as it
	// may go on, so that it stays within one write unit.
	errorTextBound = 240
	// stackBound is how much it keeps once it waits for a person.
	stackBound = 4096
)

func executionKey(ref job.Ref, k job.Key) item { return key(k.Partition(ref), k.String()) }

// decodeExecution reads an execution or the record of a range; nil for an item
// that is neither, such as a history item.
func decodeExecution(stored item) (*job.Execution, error) {
	r := &reader{item: stored}
	k, err := job.ParseKey(r.text(SortKey))
	if err != nil {
		return nil, nil //nolint:nilerr // its key says that it is no execution, which is no fault
	}
	e := &job.Execution{
		Ref: refOf(r.text(PartitionKey)), Key: k, Revision: int(r.number("revision")), Epoch: r.number("epoch"), Status: job.Status(r.text("status")),
		Attempt: int(r.number("attempt")), Lost: int(r.number("lost")), Released: int(r.number("released")), Redrives: int(r.number("redrives")), Pool: r.text("pool"),
		Type: r.text("type"), Target: r.text("target"),
		CreatedAt: r.millis("created_at"), AvailableAt: r.millis("available_at"), StartedAt: r.millis("started_at"), FinishedAt: r.millis("finished_at"),
		Lease:        job.Lease{Owner: r.text("lease_owner"), Nonce: r.text("lease_nonce"), Until: r.millis("lease_until")},
		FencingToken: r.number("fencing_token"), Reason: job.Reason(r.text("reason")), ErrorCode: r.text("error_code"), ErrorText: r.text("error_text"),
		Wake:     job.Wake{At: r.millis("wake_at"), Shard: r.text("wake_shard"), Version: r.number("wake_version")},
		Timeline: decodeTimeline(r.list("timeline")), Dropped: int(r.number("timeline_dropped")), ReplayOf: r.text("replay_of"), Backfill: r.text("backfill"), Actor: r.text("actor"),
		Schema: int(r.number("schema")), Stack: r.text("stack"), ReplayedFrom: r.text("replayed_from"), ReplayedBy: r.set("replayed_by"),
		PayloadRef: r.text("payload_ref"), PayloadSum: r.text("payload_sum"),
	}
	var cancel job.Cancel
	if r.document("cancel", &cancel) {
		e.Cancel = &cancel
	}
	for name, into := range map[string]**job.Resolution{"resolution": &e.Resolution, "review": &e.Review} {
		var found job.Resolution
		if r.document(name, &found) {
			*into = &found
		}
	}
	if e.Cancel != nil {
		e.Cancel.Declined = r.has("cancel_declined")
	}
	e.Doubt = r.has("doubt")
	e.FromScratch = r.has("from_scratch")
	e.FannedOut = r.has("fanned_out")
	if text := r.text("child_input"); text != "" {
		e.Input = json.RawMessage(text)
	}
	e.Ran = time.Duration(r.number("ran")) * time.Millisecond
	e.Covers = r.seconds("covers")
	e.Slot = time.Duration(r.number("slot")) * time.Second
	if k.Kind == job.KindRange {
		e.Range = &job.Range{From: k.ScheduledAt, To: r.seconds("range_to"), Count: int(r.number("range_count"))}
	}
	return e, r.err
}

// decodeSeen reads the item that a failed condition returned; nil stays nil.
func decodeSeen(stored item) (*job.Execution, error) {
	if len(stored) == 0 {
		return nil, nil
	}
	return decodeExecution(stored)
}

// expiry is when the table may forget an execution that ended at.
func (s *Store) expiry(at time.Time) time.Time { return at.Add(s.options.Retention) }

// farExpiry lets orphans go in the end: executions that were superseded and
// never ended.
func (s *Store) farExpiry(at time.Time) time.Time {
	return at.Add(s.options.Retention + 30*24*time.Hour)
}
