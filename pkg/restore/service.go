package restore

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// Progress is the record of how far the repair has come.
type Progress interface {
	// RestoreProgress reads it; the zero value when the repair has not begun.
	RestoreProgress(ctx context.Context) (job.RestoreProgress, error)
	// SaveRestoreProgress replaces exactly the step seen; job.ErrLost when another
	// caller was faster.
	SaveRestoreProgress(ctx context.Context, seen, next job.RestoreProgress) error
}

// Jobs is what the repair does to jobs.
type Jobs interface {
	// EveryHead pages through a part of the heads of all tenants. The last page's next is empty.
	EveryHead(ctx context.Context, p job.Part, limit int) (heads []*job.Head, next string, err error)
	// Heads reads many heads; unknown jobs are left out.
	Heads(ctx context.Context, refs []job.Ref) ([]*job.Head, error)
	// Revision reads one immutable revision; nil when it is absent.
	Revision(ctx context.Context, ref job.Ref, number int) (*job.Revision, error)
	// NoteLostRevision tells the head of a revision that only executions know.
	NoteLostRevision(ctx context.Context, ref job.Ref, number int) error
	// ChangeHead compares and sets the head in one transaction; job.ErrLost when it changed.
	ChangeHead(ctx context.Context, change job.HeadChange) error
}

// Executions is what the repair does to executions.
type Executions interface {
	// EveryExecution pages through a part of all executions of all jobs, strongly.
	EveryExecution(ctx context.Context, p job.Part, limit int) (found []*job.Execution, next string, err error)
	// Execution reads one execution strongly; nil when it is absent.
	Execution(ctx context.Context, ref job.Ref, k job.Key) (*job.Execution, error)
	// ListExecutions pages through the executions of one job, newest first.
	ListExecutions(ctx context.Context, q job.ExecutionQuery) ([]job.Execution, string, error)
	// Rearm gives exactly the state seen what it needs to run on; job.ErrLost when it changed.
	Rearm(ctx context.Context, seen *job.Execution, r job.Rearm) error
	// Close applies t to exactly the state seen; job.ErrLost when it has changed.
	Close(ctx context.Context, seen *job.Execution, t lifecycle.Transition) error
}

// Families is what the repair reads of executions that have children.
type Families interface {
	// Unfinished reports whether some of an execution's children have not ended, or what
	// follows them is not made.
	Unfinished(ctx context.Context, ref job.Ref, parent job.Key) (bool, error)
}

// Clock tells the time.
type Clock interface {
	// Now is the current time.
	Now() time.Time
}

// Service repairs. All fields are required, but for Log.
type Service struct {
	Progress     Progress
	Jobs         Jobs
	Executions   Executions
	Families     Families
	Clock        Clock
	RestoreEpoch int64         // of this installation
	Kept         time.Duration // how long executions stay after their end
	Log          *slog.Logger  // nil: silent
}

const (
	// page is how many items one query reads: the megabyte that it may, mostly.
	page = 1000
	// parts are how many parts of a table are walked through at a time.
	parts = 8
	// parallel is how many items are worked on at a time.
	parallel = 16
	// stepFor bounds one step: it must end within the API's time.
	stepFor = 8 * time.Second
)

// Step repairs for some seconds and tells how far the repair has come; call it
// until the phase is RestoreDone. An installation that was never restored has
// nothing to repair, which is a refusal.
func (s *Service) Step(ctx context.Context, actor string) (job.RestoreProgress, error) {
	if s.RestoreEpoch == 0 {
		return job.RestoreProgress{}, &job.Error{Code: job.CodeStateConflict, Field: "restore_epoch", Value: "0", Bound: "1 or more",
			Message: "this installation was never restored from a backup", Fix: "set restore_epoch one higher in its settings and deploy, then repeat"}
	}
	begun := s.Clock.Now()
	seen, err := s.Progress.RestoreProgress(ctx)
	if err != nil {
		return seen, err
	}
	for seen.Phase != job.RestoreDone {
		next, err := s.round(ctx, seen, actor)
		if err != nil {
			return seen, err
		}
		err = s.Progress.SaveRestoreProgress(ctx, seen, next)
		if errors.Is(err, job.ErrLost) {
			// Another caller repaired the same page, which was as good as ours.
			next, err = s.Progress.RestoreProgress(ctx)
		}
		if err != nil {
			return seen, err
		}
		seen = next
		if s.Clock.Now().Sub(begun) >= stepFor {
			break
		}
	}
	return seen, nil
}

// round repairs the next page of every part of the table that seen stands in.
func (s *Service) round(ctx context.Context, seen job.RestoreProgress, actor string) (job.RestoreProgress, error) {
	next := seen
	next.Step++
	if next.Phase == "" {
		next.Phase, next.BegunAt = job.RestoreExecutions, s.Clock.Now()
	}
	next.Places = slices.Clone(seen.Places)
	if len(next.Places) == 0 {
		next.Places = make([]string, parts)
	}
	var mu sync.Mutex
	open := atomic.Int32{}
	err := each(len(next.Places), func(part int) error {
		place := next.Places[part]
		if place == job.PlaceDone {
			return nil
		}
		var did counts
		var err error
		if next.Phase == job.RestoreJobs {
			place, did, err = s.liftPage(ctx, job.Part{Number: part, Of: len(next.Places), Start: place}, actor)
		} else {
			place, did, err = s.rearmPage(ctx, job.Part{Number: part, Of: len(next.Places), Start: place}, actor)
		}
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		did.addTo(&next)
		if next.Places[part] = place; place == "" {
			next.Places[part] = job.PlaceDone
		} else {
			open.Add(1)
		}
		return nil
	})
	if err == nil && open.Load() == 0 {
		next.Places = nil
		if next.Phase == job.RestoreJobs {
			next.Phase, next.DoneAt = job.RestoreDone, s.Clock.Now()
		} else {
			next.Phase = job.RestoreJobs
		}
	}
	return next, err
}

// counts are what one page came to.
type counts struct {
	executions, rearmed, withdrawn, givenUp, jobs, lifted, setBack int
}

func (c counts) addTo(p *job.RestoreProgress) {
	p.Executions += c.executions
	p.Rearmed += c.rearmed
	p.Withdrawn += c.withdrawn
	p.GivenUp += c.givenUp
	p.Jobs += c.jobs
	p.Lifted += c.lifted
	p.SetBack += c.setBack
}

// each runs do for 0 … n-1, several at a time, and returns the first error.
func each(n int, do func(int) error) error {
	var group errgroup.Group
	group.SetLimit(parallel)
	for i := range n {
		group.Go(func() error { return do(i) })
	}
	return group.Wait()
}

func (s *Service) base() int64 { return job.RestoreBase(s.RestoreEpoch) }

// lifted is the epoch of every head after the repair, the first of the restore
// epoch.
func (s *Service) lifted() int64 { return s.base() + 1 }

func (s *Service) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}
