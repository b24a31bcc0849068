package trigger

import (
	"context"
	"log/slog"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// Definitions is what the trigger plane reads of jobs.
type Definitions interface {
	// Due pages through the jobs and backfills of a shard whose cursor is at or before upto.
	Due(ctx context.Context, shard job.Shard, upto time.Time, limit int, start string) ([]job.Due, string, error)
	// Heads reads many heads, eventually consistent.
	Heads(ctx context.Context, refs []job.Ref) ([]*job.Head, error)
	// Head reads one head strongly; nil when the job was never made.
	Head(ctx context.Context, ref job.Ref) (*job.Head, error)
	// Revision reads one immutable revision; nil when it is absent.
	Revision(ctx context.Context, ref job.Ref, number int) (*job.Revision, error)
	// Waiting strongly reads the definition that takes over at its CarryUntil.
	Waiting(ctx context.Context, ref job.Ref) (*job.Revision, error)
}

// Cursors is what the trigger plane writes into heads. All return job.ErrLost
// when a verb or another scan came first.
type Cursors interface {
	// WritePlan stores a misfire decision before it is carried out and returns the
	// one that is stored: another scan's, when that came first.
	WritePlan(ctx context.Context, h *job.Head, p *job.LatePlan) (*job.LatePlan, error)
	// Advance moves the cursor and clears the plan, on condition of epoch and old
	// cursor.
	Advance(ctx context.Context, a job.Advance) error
	// CloseGap removes a recorded gap, on condition of the epoch.
	CloseGap(ctx context.Context, h *job.Head) error
	// ChangeHead compares and sets the head in one transaction, with its audit entry.
	ChangeHead(ctx context.Context, change job.HeadChange) error
	// Break disables a job whose schedule cannot be evaluated.
	Break(ctx context.Context, h *job.Head, reason job.Reason) error
}

// Executions is what the trigger plane does to executions.
type Executions interface {
	// Put materialises a scheduled time; job.ErrLost and what is there instead.
	Put(ctx context.Context, e *job.Execution) (*job.Execution, error)
	// PutRange records one disposition for a range of scheduled times.
	PutRange(ctx context.Context, r job.RangeRecord) error
	// Close applies t to exactly the state seen; job.ErrLost when it has changed.
	Close(ctx context.Context, seen *job.Execution, t lifecycle.Transition) error
	// Unsettled reads what has not ended of a job's executions in (from, upto];
	// strong: also what was written a moment ago.
	Unsettled(ctx context.Context, ref job.Ref, from, upto time.Time, strong bool) ([]job.Execution, error)
	// LastEnded tells how the latest scheduled executions up to a moment ended that
	// succeeded or became dead letters, newest first, of epochs from the given one on.
	LastEnded(ctx context.Context, ref job.Ref, epoch int64, upto time.Time, most int) ([]job.Status, error)
	// LastSucceeded is the latest scheduled time before the given one whose
	// execution succeeded; zero when none is found.
	LastSucceeded(ctx context.Context, ref job.Ref, before time.Time) (time.Time, error)
	// Overdue scans a page of the table for executions that were available before
	// cut, that no lease holds and that no wake-up keeps. The last page's next is empty.
	Overdue(ctx context.Context, cut time.Time, start string) (found []*job.Execution, scanned int, next string, err error)
}

// Wakes is what the wake scan needs.
type Wakes interface {
	// Waking pages through a shard's executions whose wake-up is at or before upto.
	Waking(ctx context.Context, shard job.Shard, upto time.Time, limit int, start string) ([]job.ExecutionRef, string, error)
	// ReadExecutions reads many executions; those that are absent are left out.
	ReadExecutions(ctx context.Context, refs []job.ExecutionRef, strong bool) ([]*job.Execution, error)
	// ClearWake removes the wake-up seen; nil also when a newer one stands.
	ClearWake(ctx context.Context, seen *job.Execution) error
	// Rewake writes a new wake-up on exactly the life seen; job.ErrLost when a
	// newer one is there or the execution has ended. redrive counts it.
	Rewake(ctx context.Context, seen *job.Execution, at time.Time, redrive bool) error
}

// Admission hands executions to their pools' queues; one error or nil for
// each. The dispatch plane satisfies it.
type Admission interface {
	// Admit sends each execution to its pool's queue, hidden until it is available.
	Admit(ctx context.Context, executions []*job.Execution) []error
}

// Signals carries ticks and scans to those who take them up.
type Signals interface {
	// SendScans asks for a scan of each range.
	SendScans(ctx context.Context, minute time.Time, ranges []job.ShardRange) error
	// SendTick starts the tick of that minute after the delay.
	SendTick(ctx context.Context, minute time.Time, delay time.Duration) error
	// WinTick decides which of several ticks of a minute fans out.
	WinTick(ctx context.Context, minute time.Time, token string) (bool, error)
	// Layouts reads the live shard layouts.
	Layouts(ctx context.Context) ([]job.Layout, error)
	// Restored refuses while the tables come from a backup and are not repaired yet.
	Restored(ctx context.Context) error
}

// Clock tells the time.
type Clock interface {
	// Now is the current time.
	Now() time.Time
}

// Horizon is how far ahead of now times are materialised. Two ticks can be
// 119 s apart and one may be lost; 300 s forgive two lost ones.
const Horizon = 300 * time.Second

// Service is the trigger plane. All fields are required, but
// for Log, Metrics and Tracer.
type Service struct {
	Definitions  Definitions
	Cursors      Cursors
	Executions   Executions
	Backfills    Backfills
	Wakes        Wakes
	Admission    Admission
	Signals      Signals
	Clock        Clock
	Token        func() string // a new random word at each call
	Epsilon      time.Duration // bound of the clocks' difference; zero = 500 ms
	Parallel     int           // jobs and shards worked on at a time; zero = 16
	ScanMessages int           // shard ranges that a tick fans out into; zero = 16
	RestoreEpoch int64
	// Off is by how much this process's clock is off at least, as answers of AWS
	// show; nil: the clock is trusted. See lifecycle.Trusted.
	Off     func() time.Duration
	Zones   *schedule.Zones  // nil: the embedded time zone database
	Log     *slog.Logger     // nil: silent
	Metrics *observe.Emitter // nil: off
	Tracer  *observe.Tracer  // nil: off
}

func (s *Service) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}

func (s *Service) parallel() int {
	if s.Parallel == 0 {
		return 16
	}
	return s.Parallel
}

func (s *Service) epsilon() time.Duration {
	if s.Epsilon == 0 {
		return 500 * time.Millisecond
	}
	return s.Epsilon
}
