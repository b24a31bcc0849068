package store

import (
	"context"
	"errors"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Advance moves a job's cursor past times that have their executions or their
// record. Until it lands the job stays in the due index, which is the outbox.
//
// Requires: the epoch and cursor that were read, and no late plan unless it is
// the plan that was carried out: a scanner that is slow and saw nothing late must
// not move the cursor into the middle of another one's decision.
// Writes: next_fire_at, due_shard (in the newest layout), last_scheduled,
// advances + 1, settled_upto after a look-back; plan removed. Without a next
// time: state COMPLETED, out of the index.
// Loses when: another scan advanced or wrote a plan, or a verb came. The first is recognised
// (same epoch, cursor already there or beyond) and is as good as our own write,
// which also covers our own write whose response was lost.
// Then the caller: withdraws what it made, if the claim rule refuses it.
func (s *Store) Advance(ctx context.Context, a job.Advance) error {
	u := update{operation: "advance", table: s.tables.Jobs, key: key(a.Head.Ref.String(), headKey),
		condition: "epoch = :epoch AND next_fire_at = :cursor",
		values:    item{":epoch": number(a.Head.Epoch), ":cursor": seconds(a.Head.NextFireAt), ":one": number(1)}}
	if a.Planned {
		u.condition += " AND attribute_exists(#plan)"
	} else {
		u.condition += " AND attribute_not_exists(#plan)"
	}
	if a.Next.IsZero() {
		u.set = "SET advances = advances + :one, #state = :completed"
		u.names = map[string]string{"#state": "state"}
		u.values[":completed"] = text(string(job.Completed))
	} else {
		u.set = "SET advances = advances + :one, next_fire_at = :next, due_shard = :shard"
		shard, err := s.dueShard(ctx, a.Head.Ref)
		if err != nil {
			return err
		}
		u.values[":next"], u.values[":shard"] = seconds(a.Next), shard
	}
	if !a.Last.IsZero() {
		u.set += ", last_scheduled = :last"
		u.values[":last"] = seconds(a.Last)
	}
	if !a.SettledUpto.IsZero() {
		u.set += ", settled_upto = :settled"
		u.values[":settled"] = seconds(a.SettledUpto)
	}
	u.set += " REMOVE #plan"
	if u.names == nil {
		u.names = map[string]string{}
	}
	u.names["#plan"] = "plan"
	if a.Next.IsZero() {
		u.set += ", next_fire_at, due_shard"
	}
	there, err := s.update(ctx, u)
	if !errors.Is(err, job.ErrLost) || len(there) == 0 {
		return err
	}
	now, decodeErr := decodeHead(there)
	if decodeErr != nil {
		return decodeErr
	}
	beyond := now.NextFireAt.IsZero() && a.Next.IsZero() || !a.Next.IsZero() && !now.NextFireAt.Before(a.Next)
	if now.Epoch == a.Head.Epoch && beyond {
		return nil
	}
	return job.ErrLost
}

// WritePlan fixes a misfire decision before it is carried out. It returns the
// plan that holds: ours, or the one that another scan wrote first.
//
// Requires: the epoch and cursor that were read, no plan, no gap.
// Writes: plan.
// Loses when: another scan wrote its plan (returned; also our own, whose
// response was lost), advanced, or a verb came.
// Then the caller: carries out the plan returned, or leaves the job to the next scan.
func (s *Store) WritePlan(ctx context.Context, h *job.Head, p *job.LatePlan) (*job.LatePlan, error) {
	there, err := s.update(ctx, update{operation: "write plan", table: s.tables.Jobs, key: key(h.Ref.String(), headKey),
		condition: "epoch = :epoch AND next_fire_at = :cursor AND attribute_not_exists(#plan) AND attribute_not_exists(gap)",
		set:       "SET #plan = :plan", names: map[string]string{"#plan": "plan"},
		values: item{":epoch": number(h.Epoch), ":cursor": seconds(h.NextFireAt), ":plan": document(p)}})
	if err == nil {
		return p, nil
	}
	if !errors.Is(err, job.ErrLost) || len(there) == 0 {
		return nil, err
	}
	now, decodeErr := decodeHead(there)
	if decodeErr != nil {
		return nil, decodeErr
	}
	if now.Epoch == h.Epoch && now.NextFireAt.Equal(h.NextFireAt) && now.Plan != nil {
		return now.Plan, nil
	}
	return nil, job.ErrLost
}

// Break disables a job whose schedule can no longer be evaluated, and only
// that job: executions already made still run.
//
// Requires: the epoch and cursor that were read. Writes: state BROKEN, the
// reason, stopped_at just before the cursor; out of the index. Loses when: a verb or another scan came first.
// Then the caller: leaves it to them.
func (s *Store) Break(ctx context.Context, h *job.Head, reason job.Reason) error {
	_, err := s.update(ctx, update{operation: "break", table: s.tables.Jobs, key: key(h.Ref.String(), headKey),
		condition: "epoch = :epoch AND next_fire_at = :cursor",
		set:       "SET #state = :broken, reason = :reason, stopped_at = :stopped REMOVE next_fire_at, due_shard, #plan",
		names:     map[string]string{"#state": "state", "#plan": "plan"},
		values: item{":epoch": number(h.Epoch), ":cursor": seconds(h.NextFireAt), ":broken": text(string(job.Broken)),
			":reason": text(string(reason)), ":stopped": millis(h.NextFireAt.Add(-time.Second))}})
	return err
}
