package store

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// breakerKept is how long a breaker is remembered after the last write: one that
// nobody writes to has neither failed nor been probed.
const breakerKept = 24 * time.Hour

// Breakers lie in the control table, one partition a tenant.
func breakerKey(tenant, resource string) item { return key("BREAKER#"+tenant, resource) }

// Breaker reads one, half a read unit; nil when nothing is known. An answer may be
// a moment old: whoever acts on it compares and sets.
func (s *Store) Breaker(ctx context.Context, tenant, resource string) (*job.Breaker, error) {
	out, err := s.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: aws.String(s.tables.Control), Key: breakerKey(tenant, resource),
		ReturnConsumedCapacity: s.capacity()})
	if err != nil {
		return nil, fault("read the breaker", err)
	}
	s.meter("breaker", out.ConsumedCapacity)
	return decodeBreaker(out.Item), nil
}

// ListBreakers strongly pages through a tenant's breakers by resource, closed ones
// included. The last page's cursor is empty.
func (s *Store) ListBreakers(ctx context.Context, tenant, cursor string, limit int) ([]job.Breaker, string, error) {
	stored, next, err := s.controlPage(ctx, "list breakers", "BREAKER#"+tenant, cursor, limit)
	if err != nil {
		return nil, "", err
	}
	list := make([]job.Breaker, len(stored))
	for i, one := range stored {
		list[i] = *decodeBreaker(one)
	}
	return list, next, nil
}

// NoteFailure counts a failure, and returns the breaker as it is then.
//
// Requires: it is closed, and the failure before is not too old; else the row begins
// here. While it is open, only that it does not hold the failure's job yet.
// Writes: failures + 1 (or 1), the job among those that failed, time and code.
// Loses when: another failure began a row, or it opened or closed meanwhile; none of
// that is told to the caller.
// Then the caller: opens it, when that was enough.
//
// A response that was lost counts the failure twice: the breaker opens one sooner.
func (s *Store) NoteFailure(ctx context.Context, f job.BreakerFailure) (*job.Breaker, error) {
	anew := f.Anew || f.Begins
	for try := 0; ; try++ {
		u := s.failureUpdate(f)
		if anew {
			u.condition = "attribute_not_exists(opened_at)"
			u.set = "SET failures = :one, jobs = :jobs, last_at = :at, last_code = :code, expires_at = :expires"
			if !f.Anew { // only a row that is over makes way
				u.condition += " AND (attribute_not_exists(last_at) OR last_at < :recent OR failures = :nought)"
				u.values[":recent"], u.values[":nought"] = millis(f.At.Add(-f.Within)), number(0)
			}
		} else {
			u.condition = "attribute_not_exists(opened_at) AND failures > :nought AND last_at >= :recent"
			u.values[":recent"], u.values[":nought"] = millis(f.At.Add(-f.Within)), number(0)
		}
		b, err := s.breakerUpdate(ctx, u)
		switch {
		case !errors.Is(err, job.ErrLost):
			return b, err
		case b != nil && !b.OpenedAt.IsZero():
			return s.widen(ctx, f, b)
		case try == 2:
			return b, nil // others count beside us: they will see to it
		}
		anew = b == nil || b.Failures == 0 || b.LastAt.Before(f.At.Add(-f.Within))
	}
}

// widen lets the open breaker seen hold another job.
//
// Requires: it has neither closed nor opened anew. Writes: the job, failures + 1.
// Loses when: it has. Then the caller: goes by what is there.
func (s *Store) widen(ctx context.Context, f job.BreakerFailure, seen *job.Breaker) (*job.Breaker, error) {
	if seen.Holds(f.Ref.Job) {
		return seen, nil
	}
	u := s.failureUpdate(f)
	u.condition, u.values[":turn"] = "attribute_exists(opened_at) AND turn = :turn", number(seen.Turn)
	b, err := s.breakerUpdate(ctx, u)
	if errors.Is(err, job.ErrLost) {
		return b, nil
	}
	return b, err
}

// failureUpdate counts a failure on top of those that are there.
func (s *Store) failureUpdate(f job.BreakerFailure) update {
	return update{operation: "note failure", table: s.tables.Control, key: breakerKey(f.Ref.Tenant, f.Resource), wantNew: true,
		set: "SET last_at = :at, last_code = :code, expires_at = :expires ADD failures :one, jobs :jobs",
		values: item{":one": number(1), ":jobs": &types.AttributeValueMemberSS{Value: []string{f.Ref.Job}}, ":at": millis(f.At), ":code": text(f.Code),
			":expires": seconds(f.At.Add(breakerKept))}}
}

// OpenBreaker opens the breaker seen, or keeps it open for longer.
//
// Requires: the turn seen. Writes: until when, the wait, no probes, the failure that
// did it when o names its job, turn + 1.
// Loses when: another worker was first, or it is our own write whose response was
// lost. Then the caller: goes by what is there, which comes with job.ErrLost.
func (s *Store) OpenBreaker(ctx context.Context, seen *job.Breaker, o job.BreakerOpening) (*job.Breaker, error) {
	u := update{operation: "open breaker", table: s.tables.Control, key: breakerKey(seen.Tenant, seen.Resource), wantNew: true,
		names: map[string]string{"#until": "until"},
		set: "SET opened_at = if_not_exists(opened_at, :at), #until = :until, wait_ms = :wait, last_at = :at, last_code = :code, probes = :nought, passed = :nought, " +
			"turn = :next, expires_at = :expires REMOVE leased_to",
		values: item{":at": millis(o.At), ":until": millis(o.Until), ":wait": number(o.Wait.Milliseconds()), ":code": text(o.Code), ":nought": number(0),
			":next": number(seen.Turn + 1), ":expires": seconds(o.Until.Add(breakerKept))}}
	u.sameTurn(seen)
	if o.Job != "" {
		u.set += " ADD failures :one, jobs :jobs"
		u.values[":one"], u.values[":jobs"] = number(1), &types.AttributeValueMemberSS{Value: []string{o.Job}}
	}
	return s.breakerUpdate(ctx, u)
}

// LeaseProbe takes one of the half-open breaker's probes.
//
// Requires: the turn seen, and a probe that is free: fewer than most are leased, or
// their lease, as seen, has passed.
// Writes: probes + 1 (or 1), until when they are leased.
// Loses when: others have taken the probes, it opened or closed; or it is our own
// write whose response was lost, and one probe lapses with its lease.
// Then the caller: goes by what is there, which comes with job.ErrLost.
func (s *Store) LeaseProbe(ctx context.Context, seen *job.Breaker, most int, at, until time.Time) (*job.Breaker, error) {
	u := update{operation: "lease probe", table: s.tables.Control, key: breakerKey(seen.Tenant, seen.Resource), wantNew: true,
		values: item{":until": millis(until), ":one": number(1)}}
	u.sameTurn(seen)
	if seen.Probes > 0 && !at.Before(seen.LeasedTo) {
		u.set = "SET probes = :one, leased_to = :until"
		u.condition += " AND leased_to = :seen"
		u.values[":seen"] = millis(seen.LeasedTo)
	} else {
		u.set = "SET leased_to = :until ADD probes :one"
		u.condition += " AND probes < :most"
		u.values[":most"] = number(int64(most))
	}
	return s.breakerUpdate(ctx, u)
}

// PassProbe counts a probe that the resource answered.
//
// Requires: the turn under which the probe was leased. Writes: passed + 1.
// Loses when: another probe failed, or it was closed. Then the caller: does nothing.
//
// A response that was lost counts the answer twice: the breaker closes one sooner.
func (s *Store) PassProbe(ctx context.Context, seen *job.Breaker) (*job.Breaker, error) {
	u := update{operation: "pass probe", table: s.tables.Control, key: breakerKey(seen.Tenant, seen.Resource), wantNew: true,
		set: "ADD passed :one", values: item{":one": number(1)}}
	u.sameTurn(seen)
	return s.breakerUpdate(ctx, u)
}

// CloseBreaker closes the breaker seen.
//
// Requires: the turn seen. Writes: closed, no failures, turn + 1; the last wait
// stays, for one that soon opens again.
// Loses when: another worker was first. Then the caller: goes by what is there.
func (s *Store) CloseBreaker(ctx context.Context, seen *job.Breaker, at time.Time) (*job.Breaker, error) {
	return s.breakerUpdate(ctx, s.closing(seen, at))
}

// CloseBreakerByHand is CloseBreaker by a person, in one transaction with its audit
// entry.
//
// Requires: the turn seen. Writes: as CloseBreaker; the audit entry.
// Loses when: it has closed or opened anew. A lost response is no case of its own:
// the SDK repeats the same client token.
// Then the caller: reads again and decides anew.
func (s *Store) CloseBreakerByHand(ctx context.Context, seen *job.Breaker, a job.Audit) error {
	u := s.closing(seen, a.At)
	closes := types.Update{TableName: aws.String(u.table), Key: u.key, UpdateExpression: aws.String(u.set), ConditionExpression: aws.String(u.condition),
		ExpressionAttributeNames: u.names, ExpressionAttributeValues: u.values}
	out, err := s.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: s.capacity(), TransactItems: []types.TransactWriteItem{
		{Update: &closes}, {Put: &types.Put{TableName: aws.String(s.tables.Control), Item: s.auditEntry(a, "breaker")}}}})
	var canceled *types.TransactionCanceledException
	switch {
	case err == nil:
		s.meterAll("close breaker by hand", out.ConsumedCapacity)
		return nil
	case errors.As(err, &canceled) && conditionLost(canceled):
		return job.ErrLost
	}
	return fault("close the breaker", err)
}

func (s *Store) closing(seen *job.Breaker, at time.Time) update {
	u := update{operation: "close breaker", table: s.tables.Control, key: breakerKey(seen.Tenant, seen.Resource), wantNew: true,
		names: map[string]string{"#until": "until"},
		set: "SET failures = :nought, closed_at = :at, turn = :next, expires_at = :expires " +
			"REMOVE opened_at, #until, probes, passed, leased_to, jobs",
		values: item{":nought": number(0), ":at": millis(at), ":next": number(seen.Turn + 1), ":expires": seconds(at.Add(breakerKept))}}
	u.sameTurn(seen)
	return u
}

// sameTurn is the condition that nobody has opened or closed it since.
func (u *update) sameTurn(seen *job.Breaker) {
	if seen.Turn == 0 {
		u.condition = "attribute_not_exists(turn)"
		return
	}
	u.condition, u.values[":turn"] = "turn = :turn", number(seen.Turn)
}

// breakerUpdate is update of a breaker: as written, or with job.ErrLost as it is
// there; nil when it is not.
func (s *Store) breakerUpdate(ctx context.Context, u update) (*job.Breaker, error) {
	stored, err := s.update(ctx, u)
	if err != nil && !errors.Is(err, job.ErrLost) {
		return nil, err
	}
	return decodeBreaker(stored), err
}

func decodeBreaker(stored item) *job.Breaker {
	if len(stored) == 0 {
		return nil
	}
	r := &reader{item: stored}
	return &job.Breaker{Tenant: r.text(PartitionKey)[len("BREAKER#"):], Resource: r.text(SortKey), Turn: r.number("turn"), Failures: int(r.number("failures")),
		Jobs: r.set("jobs"), LastAt: r.millis("last_at"), LastCode: r.text("last_code"), OpenedAt: r.millis("opened_at"), Until: r.millis("until"),
		Wait: time.Duration(r.number("wait_ms")) * time.Millisecond, Probes: int(r.number("probes")), LeasedTo: r.millis("leased_to"),
		Passed: int(r.number("passed")), ClosedAt: r.millis("closed_at")}
}
