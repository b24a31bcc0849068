package store

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// PutReplay stores a replay and links it with what it repeats, both ways. One
// transaction with its audit entry. It tells whether the replay was made by this
// call.
//
// Requires: nothing under the replay's key; that what it repeats is a dead letter
// with exactly the replays that were seen, and closed only if it was then.
// Writes: the replay with its wake-up; its id in what it repeats; the audit entry.
// Loses when: the replay is there: the same run made it, and so has linked it. That
// is no failure.
// Loses also when: what it repeats has changed, or another transaction is under way
// (job.ErrLost). Then the caller: reads again and decides anew.
func (s *Store) PutReplay(ctx context.Context, of, e *job.Execution, audit job.Audit) (made bool, err error) {
	u, err := s.outside(ctx, e)
	if err != nil {
		return false, err
	}
	link := update{set: "ADD replayed_by :replay", names: map[string]string{"#status": "status"},
		condition: "#status IN (:failed, :dead) AND attribute_not_exists(replayed_by)",
		values: item{":failed": text(string(job.Failed)), ":dead": text(string(job.Dead)),
			":replay": &types.AttributeValueMemberSS{Value: []string{e.ID()}}}}
	if n := len(of.ReplayedBy); n > 0 {
		link.condition = "#status IN (:failed, :dead) AND size(replayed_by) = :seen"
		link.values[":seen"] = number(int64(n))
	}
	if of.Resolution == nil {
		link.condition += " AND attribute_not_exists(resolution)"
	}
	err = s.withAudit(ctx, "put replay", audit, e.Key, s.conditional(e, u), s.conditional(of, link))
	if !errors.Is(err, job.ErrLost) {
		return err == nil, err
	}
	there, readErr := s.Execution(ctx, e.Ref, e.Key)
	switch {
	case readErr != nil:
		return false, readErr
	case there != nil:
		return false, nil
	}
	return false, job.ErrLost
}
