package store

import (
	"context"
	"errors"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// Claim takes an execution for an attempt and returns it as claimed, or
// job.ErrLost and what is there instead.
//
// Requires, unseen: SCHEDULED, never begun, the message's epoch, available, not
// canceled, a token that this restore epoch gave, no newer schema. Requires, seen: exactly the status, attempt, token and epoch that the
// caller decided on (and the lease, when it takes over a lost one), available,
// not canceled.
// Writes: RUNNING, owner, nonce, lease, attempt + 1, token + 1 (at least the
// restore epoch's first: outside systems may have seen tokens that a backup has
// not), a timeline entry; lost + 1, doubt and how long the lost one ran, where that is bounded, at a takeover; started_at at the first attempt.
// Loses when: any of it has changed. Our own claim whose response was lost
// carries our nonce.
// Then the caller: decides on what is there (lifecycle.Decide).
func (s *Store) Claim(ctx context.Context, c job.ClaimRequest) (*job.Execution, error) {
	base := job.RestoreBase(s.options.RestoreEpoch)
	u := update{operation: "claim", table: s.tables.Executions, key: executionKey(c.Ref, c.Key), wantNew: true,
		condition: "#status = :was AND attempt = :attempt AND epoch = :epoch AND available_at <= :now AND attribute_not_exists(cancel) " +
			"AND fencing_token = :token AND (attribute_not_exists(#schema) OR #schema <= :schema)",
		set: "SET #status = :running, reason = :reason, lease_owner = :owner, lease_nonce = :nonce, lease_until = :until, attempt = attempt + :one, " +
			"fencing_token = :next, started_at = if_not_exists(started_at, :now), " +
			"timeline = list_append(if_not_exists(timeline, :none), :entry)",
		names: map[string]string{"#status": "status", "#schema": "schema"},
		values: item{":was": text(string(job.Scheduled)), ":attempt": number(0), ":epoch": number(c.Epoch), ":now": millis(c.Now),
			":token": number(base), ":next": number(base + 1), ":schema": number(job.Schema),
			":running": text(string(job.Running)), ":owner": text(c.Owner), ":nonce": text(c.Nonce), ":until": millis(c.Until), ":one": number(1),
			":none": list()}}
	entry := job.Entry{At: c.Now, To: job.Running, Attempt: 1, Token: base + 1, Reason: lifecycle.Claimed, Actor: c.Owner}
	if c.Seen != nil {
		u.values[":was"], u.values[":attempt"] = text(string(c.Seen.Status)), number(int64(c.Seen.Attempt))
		entry.Attempt, entry.Token = c.Seen.Attempt+1, max(base, c.Seen.FencingToken)+1
		u.values[":token"], u.values[":next"] = number(c.Seen.FencingToken), number(entry.Token)
		if c.Seen.Status == job.Running {
			u.leased(c.Seen)
			u.set += ", lost = if_not_exists(lost, :zero) + :one"
			u.set += ", doubt = :yes"
			u.values[":zero"], u.values[":yes"] = number(0), number(1)
			entry.Reason = lifecycle.TakenOver
			if c.Ran > 0 {
				u.set += ", ran = :ran"
				u.values[":ran"] = number(c.Ran.Milliseconds())
			}
		}
	}
	u.values[":reason"] = text(string(entry.Reason))
	u.values[":entry"] = list(encodeEntry(entry))
	written, err := s.update(ctx, u)
	switch {
	case err == nil:
		return decodeExecution(written)
	case !errors.Is(err, job.ErrLost):
		return nil, err
	}
	seen, decodeErr := decodeSeen(written)
	if decodeErr != nil {
		return nil, decodeErr
	}
	return seen, job.ErrLost
}
