package sweep

import (
	"context"
	"errors"
	"log/slog"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// purge takes away what is left of a job that was deleted longer ago than history
// is kept, once nothing of its history is left. What stays for good is the head's
// numbers: its epoch and its last revision.
func (s *Service) purge(ctx context.Context, head *job.Head) (outcome, error) {
	now := s.Clock.Now()
	if head.State != job.Deleted || !head.PurgedAt.IsZero() || head.Gap != nil || head.Schema > job.Schema || now.Before(head.UpdatedAt.Add(s.Kept)) {
		return outcome{}, nil
	}
	over, err := s.Executions.NothingLeft(ctx, head.Ref)
	if err != nil || !over {
		return outcome{}, err
	}
	err = s.Jobs.Purge(ctx, head, now, actor)
	if errors.Is(err, job.ErrLost) {
		return outcome{}, nil // it was made again
	}
	if err != nil {
		return outcome{}, err
	}
	s.log().Info("deleted job purged", slog.String("job", head.Ref.String()))
	return outcome{changed: 1}, nil
}
