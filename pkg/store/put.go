package store

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Put materialises a scheduled time: the unique key (job, scheduled time) is
// the item's key. It returns nil when the execution is now there as given, or
// job.ErrLost and what is there instead.
//
// Requires: nothing there, or an execution of an older epoch that never began
// (attempt 0, SCHEDULED or WITHDRAWN), or one of the same epoch that never began
// and does not cover what this one does. What began is never re-made.
// Writes: the whole execution. The version of its wake-up and its timeline
// survive; a wake-up of the older life is removed.
// Loses when: the time is materialised already under this or a newer epoch,
// which includes our own write whose response was lost, or has begun.
// Then the caller: same epoch, not begun: sends its message again; else not.
func (s *Store) Put(ctx context.Context, e *job.Execution) (*job.Execution, error) {
	u := update{operation: "put", table: s.tables.Executions, key: executionKey(e.Ref, e.Key),
		condition: "attribute_not_exists(pk) OR (attempt = :zero AND epoch < :epoch AND #status IN (:scheduled, :withdrawn))",
		set: "SET #schema = :schema, #status = :scheduled, attempt = :zero, epoch = :epoch, revision = :revision, #pool = :pool, #type = :type, target = :target, reason = :reason, " +
			"created_at = :created, available_at = :available, fencing_token = if_not_exists(fencing_token, :base), " +
			"timeline = list_append(if_not_exists(timeline, :none), :entry), " + TTLAttribute + " = :expires",
		names: map[string]string{"#status": "status", "#schema": "schema", "#pool": "pool", "#type": "type"},
		values: item{":zero": number(0), ":epoch": number(e.Epoch), ":scheduled": text(string(job.Scheduled)), ":withdrawn": text(string(job.Withdrawn)),
			":schema": number(job.Schema), ":revision": number(int64(e.Revision)), ":pool": text(e.Pool), ":type": text(e.Type), ":target": text(e.Target), ":reason": text(string(e.Reason)),
			":created": millis(e.CreatedAt), ":available": millis(e.AvailableAt), ":base": number(max(job.RestoreBase(s.options.RestoreEpoch), e.FencingToken)), ":none": list(),
			":entry":   list(encodeEntry(job.Entry{At: e.CreatedAt, To: job.Scheduled, Reason: e.Reason, Actor: e.Actor})),
			":expires": seconds(s.farExpiry(latest(e.ScheduledAt, e.AvailableAt)))}}
	if !e.Covers.IsZero() {
		u.condition = "attribute_not_exists(pk) OR (attempt = :zero AND (epoch < :epoch OR (epoch = :epoch AND attribute_not_exists(covers))) AND #status IN (:scheduled, :withdrawn))"
	}
	removes := []string{"wake_at", "wake_shard", "finished_at"}
	for _, own := range []struct {
		name  string
		given bool
		value types.AttributeValue
	}{{"covers", !e.Covers.IsZero(), seconds(e.Covers)}, {"slot", e.Slot > 0, number(int64(e.Slot / time.Second))}, {"backfill", e.Backfill != "", text(e.Backfill)}, {"replay_of", e.ReplayOf != "", text(e.ReplayOf)},
		{"from_scratch", e.FromScratch, number(1)}, {"child_input", len(e.Input) > 0, text(string(e.Input))}, {"actor", e.Actor != "", text(e.Actor)}} {
		if !own.given {
			removes = append(removes, own.name)
			continue
		}
		u.set += ", " + own.name + " = :" + own.name
		u.values[":"+own.name] = own.value
	}
	u.set += " REMOVE " + strings.Join(removes, ", ")
	there, err := s.update(ctx, u)
	if !errors.Is(err, job.ErrLost) {
		return nil, err
	}
	seen, decodeErr := decodeSeen(there)
	if decodeErr != nil {
		return nil, decodeErr
	}
	return seen, job.ErrLost
}

// latest is the later one: what stands for a time long ago is kept as long as what
// was made today.
func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// PutOutside stores an execution that no cursor stands behind, such as a
// manual run, together with the wake-up that keeps it until it has ended.
//
// Requires: nothing under its key, whose serial was drawn for this call.
// Writes: the whole execution with wake_at.
// Loses when: it is there already: our own write whose response was lost.
// Then the caller: goes on to send it, either way.
func (s *Store) PutOutside(ctx context.Context, e *job.Execution) error {
	u, err := s.outside(ctx, e)
	if err != nil {
		return err
	}
	_, err = s.update(ctx, u)
	if errors.Is(err, job.ErrLost) {
		return nil
	}
	return err
}

// outside is the write of a whole execution that no cursor stands behind.
func (s *Store) outside(ctx context.Context, e *job.Execution) (update, error) {
	entries := make([]string, len(e.Timeline))
	for i, entry := range e.Timeline {
		entries[i] = encodeEntry(entry)
	}
	shard, err := s.wakeShard(ctx, e.Ref, e.Key)
	if err != nil {
		return update{}, err
	}
	set, values := given(e)
	u := update{operation: "put outside", table: s.tables.Executions, key: executionKey(e.Ref, e.Key),
		condition: "attribute_not_exists(pk)",
		set: "SET #schema = :schema, #status = :scheduled, attempt = :zero, epoch = :epoch, revision = :revision, #pool = :pool, #type = :type, target = :target, reason = :reason, " +
			"actor = :actor, created_at = :created, available_at = :available, fencing_token = :base, timeline = :entries, " +
			"wake_at = :wake, wake_shard = :shard, wake_version = :one, " + TTLAttribute + " = :expires" + set,
		names: map[string]string{"#status": "status", "#schema": "schema", "#pool": "pool", "#type": "type"},
		values: item{":zero": number(0), ":epoch": number(e.Epoch), ":scheduled": text(string(job.Scheduled)), ":schema": number(job.Schema),
			":revision": number(int64(e.Revision)), ":pool": text(e.Pool), ":type": text(e.Type), ":target": text(e.Target), ":reason": text(string(e.Reason)), ":actor": text(e.Actor),
			":created": millis(e.CreatedAt), ":available": millis(e.AvailableAt), ":base": number(max(job.RestoreBase(s.options.RestoreEpoch), e.FencingToken)),
			":entries": list(entries...), ":wake": millis(e.Wake.At), ":shard": shard, ":one": number(1),
			":expires": seconds(s.farExpiry(latest(e.ScheduledAt, e.AvailableAt)))}}
	maps.Copy(u.values, values)
	return u, nil
}

// given is what only some executions are given at their beginning: a payload of their
// own, and what they repeat.
func given(e *job.Execution) (set string, values item) {
	values = item{}
	note := func(attribute, placeholder string, value types.AttributeValue) {
		set += ", " + attribute + " = " + placeholder
		values[placeholder] = value
	}
	if e.PayloadRef != "" {
		note("payload_ref", ":payload_ref", text(e.PayloadRef))
	}
	if e.ReplayOf != "" {
		note("replay_of", ":replay_of", text(e.ReplayOf))
	}
	if e.ReplayedFrom != "" {
		note("replayed_from", ":replayed_from", text(e.ReplayedFrom))
	}
	if e.FromScratch {
		note("from_scratch", ":scratch", number(1))
	}
	if !e.Covers.IsZero() {
		note("covers", ":covers", seconds(e.Covers))
	}
	return set, values
}

// PutRange records one disposition for a range of scheduled times. A record
// covers every time in it without an execution that has begun: those that have
// are taken off its count, and where none is left there is nothing to record.
//
// Requires: no record of the same beginning that reaches as far.
// Writes: the record. Loses when: such a record is there: ours, whose response
// was lost, or another scanner's. Then the caller: goes on; it is recorded.
func (s *Store) PutRange(ctx context.Context, r job.RangeRecord) error {
	begun, err := s.begun(ctx, r)
	if err != nil || begun >= r.Range.Count {
		return err
	}
	_, err = s.update(ctx, update{operation: "put range", table: s.tables.Executions, key: executionKey(r.Ref, job.RangeKey(r.Range.From)),
		condition: "attribute_not_exists(pk) OR range_to < :to",
		set: "SET #schema = :schema, #status = :status, reason = :reason, epoch = :epoch, revision = :revision, #pool = :pool, range_to = :to, " +
			"range_count = :count, created_at = :at, finished_at = :at, timeline = :entries, " + TTLAttribute + " = :expires",
		names: map[string]string{"#status": "status", "#schema": "schema", "#pool": "pool"},
		values: item{":schema": number(job.Schema), ":status": text(string(r.Status)), ":reason": text(string(r.Reason)), ":epoch": number(r.Epoch),
			":revision": number(int64(r.Revision)), ":pool": text(r.Pool), ":to": seconds(r.Range.To), ":count": number(int64(r.Range.Count - begun)),
			":at": millis(r.At), ":entries": list(encodeEntry(job.Entry{At: r.At, To: r.Status, Reason: r.Reason})), ":expires": seconds(s.expiry(r.At))}})
	if errors.Is(err, job.ErrLost) {
		return nil
	}
	return err
}
