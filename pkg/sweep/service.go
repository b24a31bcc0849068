package sweep

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// Progress is the record of how far the walks have come.
type Progress interface {
	// Sweeps reads it; the zero value when there was no walk yet.
	Sweeps(ctx context.Context) (job.Sweeps, error)
	// SaveSweeps replaces exactly the step seen; job.ErrLost when another tick was
	// faster.
	SaveSweeps(ctx context.Context, seen, next job.Sweeps) error
}

// Jobs is what a sweep does to jobs.
type Jobs interface {
	// EveryHead pages through a part of the heads of all tenants. The last page's next is empty.
	EveryHead(ctx context.Context, p job.Part, limit int) (heads []*job.Head, next string, err error)
	// Revision reads one immutable revision; nil when it is absent.
	Revision(ctx context.Context, ref job.Ref, number int) (*job.Revision, error)
	// ChangeHead compares and sets the head in one transaction; job.ErrLost when it changed.
	ChangeHead(ctx context.Context, change job.HeadChange) error
	// Purge takes away what is left of a deleted job but the numbers that must not
	// come again; job.ErrLost when it was made again.
	Purge(ctx context.Context, h *job.Head, at time.Time, actor string) error
}

// Executions is what a sweep does to executions.
type Executions interface {
	// Ahead strongly reads the scheduled times that were made before they came, and
	// the last one that had come by now; zero when there is none.
	Ahead(ctx context.Context, ref job.Ref, now time.Time) (ahead []job.Execution, last time.Time, err error)
	// Close applies t to exactly the state seen; job.ErrLost when it has changed.
	Close(ctx context.Context, seen *job.Execution, t lifecycle.Transition) error
	// NothingLeft tells whether nothing is left of a job that has run or may still run.
	NothingLeft(ctx context.Context, ref job.Ref) (bool, error)
}

// Clock tells the time.
type Clock interface {
	// Now is the current time.
	Now() time.Time
	// Wait returns nil at or after until, or the context's error before.
	Wait(ctx context.Context, until time.Time) error
}

// Service sweeps. All fields are required, but for Zones, Log and Metrics.
type Service struct {
	Progress   Progress
	Jobs       Jobs
	Executions Executions
	Clock      Clock
	Zones      *schedule.Zones // nil = the embedded database
	Kept       time.Duration   // how long executions stay after their end
	Log        *slog.Logger    // nil: silent
	Metrics    *observe.Emitter
}

const (
	// page is how many items one query reads: heads and what stands beside them.
	page = 250
	// parallel is how many jobs of a page are worked on at a time.
	parallel = 8
	// perSecond bounds the jobs looked at in a second, so that a sweep is never
	// what a table is throttled by.
	perSecond = 200
	// stepFor bounds one piece: the tick's function has 20 s.
	stepFor = 10 * time.Second
	// actor is who the audit entries name.
	actor = "belfry"
)

// Step does a bounded piece of what is to be swept; nothing, for one small read,
// when nothing is. A tick calls it after it has fanned out.
func (s *Service) Step(ctx context.Context) error {
	seen, err := s.Progress.Sweeps(ctx)
	if err != nil {
		return err
	}
	begun := s.Clock.Now()
	for {
		now := s.Clock.Now()
		next, task := decide(seen, now, s.Zones.Version())
		if task == nothing {
			return nil
		}
		looked, err := s.carryOut(ctx, task, &next, now)
		if err != nil {
			return err
		}
		err = s.Progress.SaveSweeps(ctx, seen, next)
		if errors.Is(err, job.ErrLost) {
			return nil // another tick sweeps
		}
		if err != nil {
			return err
		}
		next.Step = seen.Step + 1
		seen = next
		rest := time.Duration(looked) * time.Second / perSecond
		if now.Add(rest).Sub(begun) >= stepFor || task == note {
			return nil
		}
		if err := s.Clock.Wait(ctx, now.Add(rest)); err != nil {
			return err
		}
	}
}

// carryOut does one page of a walk and moves it on.
func (s *Service) carryOut(ctx context.Context, task task, next *job.Sweeps, now time.Time) (looked int, err error) {
	var walk *job.Walk
	var visit func(context.Context, *job.Head) (outcome, error)
	switch task {
	case retime:
		walk, visit = &next.TZDB.Walk, s.retime
	case purge:
		walk, visit = &next.Purge.Walk, s.purge
	case nothing, note:
		return 0, nil
	}
	heads, place, err := s.Jobs.EveryHead(ctx, job.Part{Of: 1, Start: walk.Start}, page)
	if err != nil {
		return 0, err
	}
	sum, err := s.visitAll(ctx, heads, visit)
	if err != nil {
		return 0, err
	}
	walk.Jobs, walk.Changed, walk.Left, walk.Start = walk.Jobs+len(heads), walk.Changed+sum.changed, walk.Left+sum.left, place
	if place == "" {
		walk.DoneAt = now
	}
	figures := s.Metrics.Batch()
	defer figures.Flush()
	if task == purge {
		next.Purge.Purged += sum.changed
		figures.Count(observe.JobsPurged, observe.Labels{}, sum.changed)
		return len(heads), nil
	}
	next.TZDB.Moved, next.TZDB.Withdrawn = next.TZDB.Moved+sum.changed, next.TZDB.Withdrawn+sum.withdrawn
	figures.Count(observe.TimesMoved, observe.Labels{}, sum.changed)
	return len(heads), nil
}

// outcome is what became of one job, or of a page of them.
type outcome struct{ changed, left, withdrawn int }

// visitAll visits a page of jobs, several at a time. One job's error leaves that
// job to the next walk and stops no other; the end of ctx stops all.
func (s *Service) visitAll(ctx context.Context, heads []*job.Head, visit func(context.Context, *job.Head) (outcome, error)) (sum outcome, err error) {
	found := make([]outcome, len(heads))
	var group errgroup.Group
	group.SetLimit(parallel)
	for i, head := range heads {
		group.Go(func() error {
			var err error
			if found[i], err = visit(ctx, head); err != nil {
				found[i].left = 1
				if !errors.Is(err, job.ErrLost) {
					s.log().Error("job left to the next sweep", slog.String("job", head.Ref.String()), slog.Any("error", err))
				}
			}
			return ctx.Err()
		})
	}
	err = group.Wait()
	for _, o := range found {
		sum.changed, sum.left, sum.withdrawn = sum.changed+o.changed, sum.left+o.left, sum.withdrawn+o.withdrawn
	}
	return sum, err
}

func (s *Service) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}
