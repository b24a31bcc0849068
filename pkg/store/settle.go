package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// Beat extends the lease of a running execution and returns it, with the
// cancel flag that may have been raised meanwhile.
//
// Requires: RUNNING under this owner, nonce and token. Writes: lease_until.
// Loses when: somebody else took it over, or it has ended.
// Then the caller: stops its work and publishes nothing.
func (s *Store) Beat(ctx context.Context, held *job.Execution, until time.Time) (*job.Execution, error) {
	u := s.owned("heartbeat", held)
	u.set, u.wantNew = "SET lease_until = :until", true
	u.values[":until"] = millis(until)
	written, err := s.update(ctx, u)
	if err != nil {
		return nil, err
	}
	return decodeExecution(written)
}

// DeclineCancel notes that the handler which runs cannot be canceled.
//
// Requires: RUNNING under this owner, nonce and token, and a cancel flag. Writes: cancel_declined.
// Loses when: somebody else took it over, or it has ended.
// Then the caller: goes on as it is; the next heartbeat tells.
func (s *Store) DeclineCancel(ctx context.Context, held *job.Execution) error {
	u := s.owned("decline_cancel", held)
	u.condition += " AND attribute_exists(cancel)"
	u.set = "SET cancel_declined = :yes"
	u.values[":yes"] = number(1)
	_, err := s.update(ctx, u)
	return err
}

// PinPayload notes the digest of the payload that an attempt found, unless one was
// noted before, and returns the one that holds.
//
// Requires: RUNNING under this owner, nonce and token. Writes: payload_sum, once.
// Loses when: somebody else took it over, or it has ended.
// Then the caller: has lost its lease, and stops.
func (s *Store) PinPayload(ctx context.Context, held *job.Execution, digest string) (string, error) {
	u := s.owned("pin payload", held)
	u.set, u.wantNew = "SET payload_sum = if_not_exists(payload_sum, :digest)", true
	u.values[":digest"] = text(digest)
	written, err := s.update(ctx, u)
	if err != nil {
		return "", err
	}
	e, err := decodeExecution(written)
	if err != nil {
		return "", err
	}
	return e.PayloadSum, nil
}

// owned is an update that only the owner of held's lease can make.
func (s *Store) owned(operation string, held *job.Execution) update {
	return update{operation: operation, table: s.tables.Executions, key: executionKey(held.Ref, held.Key),
		condition: "#status = :running AND lease_owner = :owner AND lease_nonce = :nonce AND fencing_token = :token",
		names:     map[string]string{"#status": "status"},
		values: item{":running": text(string(job.Running)), ":owner": text(held.Lease.Owner), ":nonce": text(held.Lease.Nonce),
			":token": number(held.FencingToken)}}
}

// Settle writes the outcome of an attempt as the owner of its lease. wakeAt,
// unless zero, is a new wake-up in the same write.
//
// Requires: RUNNING under this owner, nonce and token; for RETRY_WAIT and DEAD also
// no cancel flag: what a person had asked to cancel does not become a dead letter.
// Writes: the status, reason and error; one more attempt given back, when it
// is not to be counted; doubt, or its end; how long it ran, where that is bounded; the timeline within its bound; no lease any more. An
// end also: finished_at, expiry, and no wake-up any more.
// Loses when: somebody else took the execution over, or a cancel request came.
// Our own settle whose response was lost is recognised: same token and nonce,
// and the status that we wanted.
// Then the caller: publishes nothing and leaves the message alone.
func (s *Store) Settle(ctx context.Context, held *job.Execution, t lifecycle.Transition, wakeAt time.Time) error {
	u := s.owned("settle", held)
	sets := u.timeline(held, t)
	if t.GivesBack() {
		sets = append(sets, "released = :released")
		u.values[":released"] = number(int64(held.Released + 1))
	}
	removes := s.applyTransition(&u, &sets, t, held)
	if t.To() == job.RetryWait || t.To() == job.Dead {
		u.condition += " AND attribute_not_exists(cancel)"
	}
	if !wakeAt.IsZero() {
		shard, err := s.wakeShard(ctx, held.Ref, held.Key)
		if err != nil {
			return err
		}
		sets = append(sets, "wake_at = :wake, wake_shard = :shard, wake_version = if_not_exists(wake_version, :nought) + :next")
		u.values[":wake"], u.values[":shard"] = millis(wakeAt), shard
		u.values[":nought"], u.values[":next"] = number(0), number(1)
	}
	u.set = "SET " + strings.Join(sets, ", ") + " REMOVE " + strings.Join(removes, ", ")
	there, err := s.update(ctx, u)
	if !errors.Is(err, job.ErrLost) || len(there) == 0 {
		return err
	}
	now, decodeErr := decodeExecution(there)
	if decodeErr == nil && now != nil && now.FencingToken == held.FencingToken && now.Lease.Nonce == held.Lease.Nonce && now.Status == t.To() {
		return nil
	}
	return job.ErrLost
}

// leased asks for exactly the lease that was seen. No write of ours leaves what runs
// without one; where something else took it away, it counts as passed.
func (u *update) leased(seen *job.Execution) {
	if seen.Lease.Until.IsZero() {
		u.condition += " AND attribute_not_exists(lease_until)"
		return
	}
	u.condition += " AND lease_until = :lease"
	u.values[":lease"] = millis(seen.Lease.Until)
}

// timeline adds the transition's entry and keeps the whole within its bound. An
// execution that its maker has not read has no timeline to go by: then the
// entry is appended to what is there.
func (u *update) timeline(seen *job.Execution, t lifecycle.Transition) (sets []string) {
	if len(seen.Timeline) == 0 {
		u.values[":none"], u.values[":entry"] = list(), list(encodeEntry(t.Entry(seen)))
		return []string{"timeline = list_append(if_not_exists(timeline, :none), :entry)"}
	}
	entries, dropped := trimmed(seen.Timeline, t.Entry(seen))
	sets = []string{"timeline = :timeline"}
	u.values[":timeline"] = list(entries...)
	if dropped > 0 {
		sets = append(sets, "timeline_dropped = if_not_exists(timeline_dropped, :zero) + :dropped")
		u.values[":zero"], u.values[":dropped"] = number(0), number(int64(dropped))
	}
	return sets
}

// applyTransition adds what every transition writes, and tells what it
// removes. The nonce of the last lease stays, so that its owner recognises its
// own settle.
func (s *Store) applyTransition(u *update, sets *[]string, t lifecycle.Transition, of *job.Execution) []string {
	*sets = append(*sets, "#status = :to, reason = :reason")
	u.values[":to"], u.values[":reason"] = text(string(t.To())), text(string(t.Reason()))
	removes := []string{"lease_owner", "lease_until"}
	removes = append(removes, u.keepError(sets, t)...)
	if !t.AvailableAt().IsZero() {
		*sets = append(*sets, "available_at = :available")
		u.values[":available"] = millis(t.AvailableAt())
	}
	if t.Ends() {
		*sets = append(*sets, "finished_at = :finished, "+TTLAttribute+" = :expires")
		u.values[":finished"], u.values[":expires"] = millis(t.At()), seconds(s.expiry(t.At()))
	}
	if t.Ran() > 0 {
		*sets = append(*sets, "ran = :ran")
		u.values[":ran"] = number(t.Ran().Milliseconds())
	}
	switch r := t.Reason(); {
	case t.To() != job.RetryWait || r == lifecycle.WorkerStopped || r == lifecycle.RetryAsked: // nothing new is known of it
	case r == lifecycle.TimedOut || r == lifecycle.Uncertain:
		*sets = append(*sets, "doubt = :yes")
		u.values[":yes"] = number(1)
	default:
		removes = append(removes, "doubt")
	}
	if ended := *of; t.Ends() || t.To() == job.Withdrawn {
		if ended.Status = t.To(); !ended.Follows() { // else the wake-up is kept until what follows is done
			removes = append(removes, "wake_at", "wake_shard")
		}
	}
	return removes
}

// keepError writes what a transition tells of an error, and tells what it removes. As
// long as the execution may go on it keeps little, so that it stays within one write
// unit; what waits for a person keeps the last error in full.
func (u *update) keepError(sets *[]string, t lifecycle.Transition) (removes []string) {
	if t.ErrorCode() != "" {
		*sets = append(*sets, "error_code = :code, error_text = :text")
		u.values[":code"], u.values[":text"] = text(t.ErrorCode()), text(cut(t.ErrorText(), errorTextBound))
	} else if t.To() == job.Succeeded {
		removes = append(removes, "error_code", "error_text")
	}
	if waits := lifecycle.Matters(t.To()); waits && len(t.ErrorText()) > errorTextBound {
		*sets = append(*sets, "stack = :stack")
		u.values[":stack"] = text(cut(t.ErrorText(), stackBound))
	} else if !waits || t.ErrorCode() != "" {
		removes = append(removes, "stack")
	}
	return removes
}

// cut bounds a text for people, at a character boundary.
func cut(text string, bound int) string {
	if len(text) <= bound {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	for bound > 0 && text[bound]&0xC0 == 0x80 {
		bound--
	}
	return strings.ToValidUTF8(text[:bound], "\uFFFD")
}

// Close applies a transition to an execution that the caller does not own:
// withdraw, cancel, or the end of what is used up.
//
// Requires: exactly the status, attempt, token and epoch seen, and the lease
// seen when it was running.
// Writes: as a settle.
// Loses when: any of it has changed. The status that we wanted, under the same
// token and epoch, is our own write whose response was lost, or as good as it.
// Then the caller: reads again and decides anew.
func (s *Store) Close(ctx context.Context, seen *job.Execution, t lifecycle.Transition) error {
	u := update{operation: "close", table: s.tables.Executions, key: executionKey(seen.Ref, seen.Key),
		condition: "#status = :was AND attempt = :attempt AND fencing_token = :token AND epoch = :epoch",
		names:     map[string]string{"#status": "status"},
		values: item{":was": text(string(seen.Status)), ":attempt": number(int64(seen.Attempt)), ":token": number(seen.FencingToken),
			":epoch": number(seen.Epoch)}}
	if seen.Status == job.Running {
		u.leased(seen)
	}
	sets := u.timeline(seen, t)
	if seen.Status == job.Running {
		// Whoever does not own the lease ends the execution because its worker was lost.
		sets = append(sets, "lost = :lost")
		u.values[":lost"] = number(int64(seen.Lost + 1))
	}
	removes := s.applyTransition(&u, &sets, t, seen)
	u.set = "SET " + strings.Join(sets, ", ") + " REMOVE " + strings.Join(removes, ", ")
	there, err := s.update(ctx, u)
	if !errors.Is(err, job.ErrLost) || len(there) == 0 {
		return err
	}
	now, decodeErr := decodeExecution(there)
	if decodeErr == nil && now != nil && now.Status == t.To() && now.FencingToken == seen.FencingToken && now.Epoch == seen.Epoch {
		return nil
	}
	return job.ErrLost
}
