package store

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Rewake writes a new wake-up: a promise in the wake index that a scan looks at
// the execution at that time. redrive counts a dispatch by the dead-letter
// consumer.
//
// Requires: the epoch and wake version seen; an execution that can still run.
// Writes: wake_at, wake_shard, wake_version + 1.
// Loses when: it ended, a newer life is there, or somebody wrote another
// wake-up. Our own, whose response was lost, has our time and the next version.
// Then the caller: reads again and decides anew; it deletes no message.
func (s *Store) Rewake(ctx context.Context, seen *job.Execution, at time.Time, redrive bool) error {
	at = at.Truncate(time.Millisecond)
	shard, err := s.wakeShard(ctx, seen.Ref, seen.Key)
	if err != nil {
		return err
	}
	u := update{operation: "rewake", table: s.tables.Executions, key: executionKey(seen.Ref, seen.Key),
		condition: "epoch = :epoch AND #status IN (:scheduled, :running, :retry) AND " + wakeCondition(seen),
		set:       "SET wake_at = :at, wake_shard = :shard, wake_version = :next",
		names:     map[string]string{"#status": "status"},
		values: item{":epoch": number(seen.Epoch), ":scheduled": text(string(job.Scheduled)), ":running": text(string(job.Running)),
			":retry": text(string(job.RetryWait)), ":at": millis(at), ":shard": shard,
			":next": number(seen.Wake.Version + 1)}}
	if seen.Wake.Version > 0 {
		u.values[":version"] = number(seen.Wake.Version)
	}
	if redrive {
		u.set += ", redrives = :redrives"
		u.values[":redrives"] = number(int64(seen.Redrives + 1))
	}
	there, err := s.update(ctx, u)
	if !errors.Is(err, job.ErrLost) || len(there) == 0 {
		return err
	}
	now, decodeErr := decodeExecution(there)
	if decodeErr == nil && now != nil && now.Wake.Version == seen.Wake.Version+1 && now.Wake.At.Equal(at) {
		return nil
	}
	return job.ErrLost
}

// wakeCondition holds while the wake-up is the one seen. A version is never
// removed, so its absence means that there never was a wake-up.
func wakeCondition(seen *job.Execution) string {
	if seen.Wake.Version == 0 {
		return "attribute_not_exists(wake_version)"
	}
	return "wake_version = :version"
}

// ClearWake removes a wake-up after the scan has sent the message that it
// promised, or because the execution no longer needs one.
//
// Requires: the version seen, and a wake-up. Writes: no wake-up any more; the
// version stays. Loses when: somebody wrote a newer one, or it was removed.
// Then the caller: is done; the newer promise stands.
func (s *Store) ClearWake(ctx context.Context, seen *job.Execution) error {
	_, err := s.update(ctx, update{operation: "clear wake", table: s.tables.Executions, key: executionKey(seen.Ref, seen.Key),
		condition: "wake_version = :version AND attribute_exists(wake_at)", set: "REMOVE wake_at, wake_shard",
		values: item{":version": number(seen.Wake.Version)}})
	if errors.Is(err, job.ErrLost) {
		return nil
	}
	return err
}

// RequestCancel raises the cancel flag of a running execution. Its worker sees
// it at the next heartbeat; no further attempt begins.
//
// Requires: RUNNING under the token seen, no flag yet. Writes: cancel.
// Loses when: it is no longer running, or was canceled already.
// Then the caller: reads again and decides anew.
func (s *Store) RequestCancel(ctx context.Context, seen *job.Execution, c job.Cancel) error {
	_, err := s.update(ctx, update{operation: "request cancel", table: s.tables.Executions, key: executionKey(seen.Ref, seen.Key),
		condition: "#status = :running AND fencing_token = :token AND attribute_not_exists(cancel)", set: "SET cancel = :cancel",
		names:  map[string]string{"#status": "status"},
		values: item{":running": text(string(job.Running)), ":token": number(seen.FencingToken), ":cancel": document(c)}})
	return err
}
