package control

import (
	"context"
	"io"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// Jobs is what the control plane needs of the stored definitions.
type Jobs interface {
	// Head reads the head strongly; nil when the job was never made.
	Head(ctx context.Context, ref job.Ref) (*job.Head, error)
	// Revision reads one immutable revision; nil when it is absent.
	Revision(ctx context.Context, ref job.Ref, number int) (*job.Revision, error)
	// Waiting strongly reads the definition that takes over at its CarryUntil.
	Waiting(ctx context.Context, ref job.Ref) (*job.Revision, error)
	// ChangeHead compares and sets the head in one transaction; job.ErrLost when
	// another verb came first.
	ChangeHead(ctx context.Context, change job.HeadChange) error
	// CloseGap removes the gap from the head, on condition of its epoch.
	CloseGap(ctx context.Context, head *job.Head) error
	// Restored refuses while the tables come from a backup and are not repaired yet.
	Restored(ctx context.Context) error
	// ListJobs pages through a tenant's jobs.
	ListJobs(ctx context.Context, tenant, cursor string, limit int) ([]job.Head, string, error)
}

// Executions is what the control plane needs of the stored executions.
type Executions interface {
	// NotBegun strongly reads the scheduled executions after from that no
	// attempt has begun.
	NotBegun(ctx context.Context, ref job.Ref, from time.Time) ([]job.Execution, error)
	// Close applies t to exactly the state seen; job.ErrLost when it has changed.
	Close(ctx context.Context, seen *job.Execution, t lifecycle.Transition) error
	// PutRange records one disposition for a range of scheduled times.
	PutRange(ctx context.Context, r job.RangeRecord) error
	// PutOutside stores an execution that no cursor stands behind.
	PutOutside(ctx context.Context, e *job.Execution) error
	// Execution reads one execution strongly; nil when it is absent.
	Execution(ctx context.Context, ref job.Ref, key job.Key) (*job.Execution, error)
	// RequestCancel raises the cancel flag of a running execution; job.ErrLost when
	// it is no longer running under the token seen.
	RequestCancel(ctx context.Context, seen *job.Execution, c job.Cancel) error
}

// Families is what the control plane does to executions that have children.
type Families interface {
	// FanOut strongly reads what is known of an execution's children; nil when it has
	// none.
	FanOut(ctx context.Context, ref job.Ref, parent job.Key) (*job.FanOut, error)
	// Children reads the children of one page, in order.
	Children(ctx context.Context, ref job.Ref, parent job.Key, page int) ([]job.Execution, error)
	// EndChildren cancels all children that have not ended; again is no error. It returns
	// the fan-out, nil when there is none.
	EndChildren(ctx context.Context, ref job.Ref, parent job.Key, c job.Cancel) (*job.FanOut, error)
}

// Lists is what the control plane reads for people.
type Lists interface {
	// ListExecutions pages through the executions of one job, newest first.
	ListExecutions(ctx context.Context, q ExecutionQuery) ([]job.Execution, string, error)
	// Recent pages through the executions of a tenant, newest first.
	Recent(ctx context.Context, tenant string, q ExecutionQuery) ([]job.Execution, string, error)
	// History reads the timeline entries that fell out of the execution.
	History(ctx context.Context, ref job.Ref, key job.Key) ([]job.Entry, error)
}

// Requests remembers what callers asked for, so that a repeated request is
// recognised.
type Requests interface {
	// Remember ties a caller's idempotency key to an execution's key, and
	// returns the one that holds: k, or that of an earlier request.
	Remember(ctx context.Context, ref job.Ref, word string, k job.Key, at time.Time) (job.Key, error)
}

// Materialiser turns the due times of one job into executions at once.
// The trigger plane satisfies it.
type Materialiser interface {
	// Materialise makes the executions of one job up to the horizon and moves its
	// cursor; nil also when somebody else came first.
	Materialise(ctx context.Context, ref job.Ref) error
}

// Sender hands an execution to its pool's queue. The dispatch plane satisfies it.
type Sender interface {
	// Send hands one execution over; nil once the queue has it.
	Send(ctx context.Context, e *job.Execution) error
}

// Pools tells what pools there are. The dispatch plane satisfies it.
type Pools interface {
	// Ceiling is the longest timeout of a job in the pool; false when there is no
	// such pool.
	Ceiling(pool string) (time.Duration, bool)
	// Names lists the pools in their configured order.
	Names() []string
}

// Clock tells the time.
type Clock interface {
	// Now is the current time.
	Now() time.Time
}

// ExecutionQuery selects executions for a list.
type ExecutionQuery = job.ExecutionQuery

// Service carries out the verbs. All fields are required, but
// for Types, Payloads and Uploads.
type Service struct {
	Jobs         Jobs
	Executions   Executions
	Lists        Lists
	Requests     Requests
	Backfills    Backfills
	Calendars    Calendars
	DeadLetters  DeadLetters
	Families     Families
	Breakers     Breakers
	Filler       Filler
	Materialiser Materialiser
	Sender       Sender
	Pools        Pools
	Types        []string         // the job types that there are; empty = a job has none
	Payloads     job.PayloadRules // which references to payloads tenants may make; zero = none
	Uploads      Uploads          // where tenants store payloads; nil = nowhere
	Clock        Clock
	Entropy      io.Reader       // for the serials of manual runs
	RestoreEpoch int64           // of this installation; high part of every epoch
	Horizon      time.Duration   // how far ahead times are materialised
	Retention    time.Duration   // how long ended executions are kept
	Tracer       *observe.Tracer // nil: off
	Zones        *schedule.Zones // nil: the embedded time zone database
}

func notFound(ref job.Ref) error {
	return &job.Error{Code: job.CodeNotFound, Field: "job", Value: ref.Job, Message: "there is no job \"" + job.Shorten(ref.Job) + "\"",
		Fix: "list the jobs with: belfry jobs list"}
}

// maxTries bounds how often a verb starts again after another one came first.
const maxTries = 5
