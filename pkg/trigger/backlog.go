package trigger

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Backlogs tells which shards hold jobs whose time has passed without an
// execution, longest first, and the layouts that were looked at. It reads the due
// index as a scan does, half a read unit a shard, and the first hundred heads of
// those that hold any: for people, not for every minute.
func (s *Service) Backlogs(ctx context.Context) ([]job.Layout, []job.Backlog, error) {
	layouts, err := s.Signals.Layouts(ctx)
	if err != nil {
		return nil, nil, err
	}
	var shards []job.Shard
	for _, l := range layouts {
		for n := range l.Shards {
			shards = append(shards, job.Shard{Generation: l.Generation, Number: n})
		}
	}
	all := make([]job.Backlog, len(shards))
	reads, ctx := errgroup.WithContext(ctx)
	reads.SetLimit(s.parallel())
	for i, shard := range shards {
		reads.Go(func() (err error) {
			all[i], err = s.backlog(ctx, shard)
			return err
		})
	}
	if err := reads.Wait(); err != nil {
		return nil, nil, err
	}
	held := slices.DeleteFunc(all, func(b job.Backlog) bool { return b.Jobs == 0 })
	slices.SortFunc(held, func(a, b job.Backlog) int { return a.Since.Compare(b.Since) })
	return layouts, held, nil
}

// backlog looks at one shard. Entries of the index may be out of date, and a gap
// stands at a verb's own time: neither is overdue.
func (s *Service) backlog(ctx context.Context, shard job.Shard) (job.Backlog, error) {
	found := job.Backlog{Shard: shard}
	now := s.Clock.Now()
	due, more, err := s.Definitions.Due(ctx, shard, now, duePage, "")
	refs, _ := separate(due)
	if err != nil || len(refs) == 0 {
		return found, err
	}
	heads, err := s.Definitions.Heads(ctx, refs)
	if err != nil {
		return found, err
	}
	for _, h := range heads {
		if h.State != job.Enabled || h.NextFireAt.IsZero() || !h.NextFireAt.Before(now) || h.Gap != nil {
			continue
		}
		if found.Jobs++; found.Jobs == 1 || h.NextFireAt.Before(found.Since) {
			found.Oldest, found.Since = h.Ref, h.NextFireAt
		}
	}
	found.More = more != "" && found.Jobs > 0
	return found, nil
}
