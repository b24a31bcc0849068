package execute

import (
	"context"
	"log/slog"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/observe"
)

// Definitions is what the execution plane reads of jobs.
type Definitions interface {
	// Head reads the head strongly; nil when the job was never made.
	Head(ctx context.Context, ref job.Ref) (*job.Head, error)
	// Revision reads one immutable revision; nil when it is absent.
	Revision(ctx context.Context, ref job.Ref, number int) (*job.Revision, error)
}

// Executions is what the execution plane does to executions.
type Executions interface {
	// Execution reads one execution strongly; nil when it is absent.
	Execution(ctx context.Context, ref job.Ref, key job.Key) (*job.Execution, error)
	// Claim takes the execution for an attempt. It returns the execution as
	// claimed, or job.ErrLost together with what is there instead (nil = absent).
	Claim(ctx context.Context, c job.ClaimRequest) (*job.Execution, error)
	// Beat extends the lease and returns the execution with its cancel flag;
	// job.ErrLost when the lease belongs to somebody else.
	Beat(ctx context.Context, held *job.Execution, until time.Time) (*job.Execution, error)
	// Settle applies t as the owner of held's lease; job.ErrLost when it is not.
	// wakeAt, when set, is written as a new wake-up in the same write.
	Settle(ctx context.Context, held *job.Execution, t lifecycle.Transition, wakeAt time.Time) error
	// Close applies t to exactly the state seen; job.ErrLost when it changed.
	Close(ctx context.Context, seen *job.Execution, t lifecycle.Transition) error
	// Rewake writes a new wake-up on exactly the life seen; job.ErrLost when a
	// newer life is there or the execution has ended.
	Rewake(ctx context.Context, seen *job.Execution, at time.Time, redrive bool) error
	// DeclineCancel notes, as the owner of held's lease, that what runs cannot be
	// canceled; job.ErrLost when it is not the owner.
	DeclineCancel(ctx context.Context, held *job.Execution) error
}

// Checkpoints is how far executions have come, as their handlers saved it.
type Checkpoints interface {
	// SaveCheckpoint writes c unless an attempt of a higher token has saved or
	// loaded: then it is job.ErrLost.
	SaveCheckpoint(ctx context.Context, c *job.Checkpoint) error
	// FenceCheckpoint reads one for an attempt that is not the first, and keeps every
	// attempt of a lower token from saving; nil when nothing was saved.
	FenceCheckpoint(ctx context.Context, ref job.Ref, k job.Key, token int64, at time.Time) (*job.Checkpoint, error)
	// Checkpoint strongly reads one; nil when nothing was saved.
	Checkpoint(ctx context.Context, ref job.Ref, k job.Key) (*job.Checkpoint, error)
}

// Objects keeps checkpoints that are too large for the table.
type Objects interface {
	// Put stores content whole under a name that nothing else uses.
	Put(ctx context.Context, name string, content []byte) error
	// Get reads an object of at most that many bytes.
	Get(ctx context.Context, name string, most int64) ([]byte, error)
	// Delete takes an object away; one that is not there is no error.
	Delete(ctx context.Context, name string) error
}

// Isolator sends a successor message to the isolation queue of the
// execution's pool. The dispatch plane satisfies it.
type Isolator interface {
	// Isolate returns nil once the isolation queue has the successor.
	Isolate(ctx context.Context, e *job.Execution) error
}

// Leases tells the length of a pool's lease. The dispatch plane satisfies it.
type Leases interface {
	// Lease is the length of a fresh lease, for an unknown pool too.
	Lease(pool string) time.Duration
}

// Clock tells the time and waits on it.
type Clock interface {
	// Now is the current time.
	Now() time.Time
	// Wait returns nil at or after until, or the context's error before.
	Wait(ctx context.Context, until time.Time) error
}

// Attempt is what runs: the execution as claimed and its revision.
type Attempt struct {
	Execution  *job.Execution
	Definition job.Definition
	Anchor     time.Time            // phase of the definition's `every`
	Calendars  []job.PinnedCalendar // that the definition's schedule names
	Deadline   time.Time
	// Canceled is closed when a person asked to cancel, or the lease is lost.
	Canceled <-chan struct{}
	// Traceparent is the W3C trace context of the handler's span; empty when
	// nothing is traced.
	Traceparent string
	// FoundDone is set by Work, with success, when it did not run but found that an
	// earlier attempt had taken effect (Execution.Doubt).
	FoundDone bool
	// Progress saves and loads how far the execution has come; nil outside a worker.
	Progress *Progress
	// Family makes children, and tells how they ended; nil outside a worker.
	Family *Family
	// Payload is the payload that lies elsewhere; nil: Definition.Payload is it.
	Payload *Payload
}

// Work runs one attempt. Nil is success. The context ends at the deadline,
// when the attempt is canceled, before the lease ends unextended, and when the
// worker stops; Cause tells which.
type Work func(ctx context.Context, a *Attempt) *lifecycle.Failure

// Service is the execution plane. All fields are required, but for Log and Tracer. Whatever
// it is given must be safe for concurrent use: many messages pass at a time.
type Service struct {
	Definitions Definitions
	Executions  Executions
	Isolator    Isolator
	Leases      Leases
	Clock       Clock
	Work        Work
	Owner       string         // name of this worker, unique among the living
	Nonce       func() string  // a new random word at each call
	Spread      func() float64 // random number in [0, 1) for back-off
	Epsilon     time.Duration  // bound of the clocks' difference; zero = 500 ms
	Checkpoints Checkpoints    // nil: none can be saved
	Payloads    Payloads       // nil: payloads that lie elsewhere cannot be read
	Pins        Pins           // required with Payloads
	Objects     Objects        // nil: only those of at most job.InlineCheckpoint bytes can
	Families    Families       // nil: executions have no children
	Makers      Makers         // nil: and none can be made
	Sender      Sender         // for children; nil as those two
	// Off is by how much this process's clock is off at least; nil: the clock is
	// trusted. See lifecycle.Trusted: a message is then given back as it came.
	Off func() time.Duration
	// Uncancelable tells whether what a definition runs must not be canceled; nil:
	// everything may be. A cancel request then only ends retries.
	Uncancelable func(d job.Definition) bool
	// Stuck is told of each attempt whose handler had not returned some seconds
	// after its context ended. The attempt is settled without it, but its goroutine
	// may go on for ever: the process should end once it can. Nil: nobody is told.
	Stuck        func(e *job.Execution)
	RestoreEpoch int64
	Log          *slog.Logger    // nil: silent
	Tracer       *observe.Tracer // nil: off
}

// Delivery is one message in a worker's hands.
type Delivery struct {
	Message lifecycle.Message
	// NotBefore is the second the execution is due; the worker waits out the
	// rest before it claims.
	NotBefore time.Time
	// Begin is called when the execution is due, right before a claim is sent: it
	// waits for a place to run in, so that no lease passes while an execution
	// waits for one. Its error gives the message back unclaimed. It may be called
	// again for the same message. seen is the execution that the claim is decided
	// on, nil when nobody has read it. Nil: there is always a place.
	Begin func(ctx context.Context, seen *job.Execution) error
	// Admit is asked after Begin, right before a claim is sent, whether an attempt of
	// that definition may begin. False gives the message back until then, unclaimed and
	// so without counting an attempt; sooner where a start deadline or the greatest age
	// ends the execution before. Nil: it may.
	Admit func(ctx context.Context, d job.Definition) (until time.Time, ok bool)
	// Extend hides the message from others for d from now on; nil when the
	// platform cannot.
	Extend func(ctx context.Context, d time.Duration) error
	// Release gives the message up before the attempt has ended: it is deleted
	// from the queue because the execution's wake-up has taken over. Nil when
	// the platform cannot.
	Release func(ctx context.Context) error
}

// Disposal is what becomes of the message. Either it may be deleted, or it
// becomes visible again after Hide.
type Disposal struct {
	Delete bool
	Hide   time.Duration // only when not deleted; zero = at once
	Err    error         // why it was not carried out, for the log; nil = as decided
}

// Causes of an attempt's context, told by context.Cause.
var (
	ErrDeadline  = &job.Error{Code: "TIMEOUT", Message: "the attempt reached its timeout"}
	ErrCanceled  = &job.Error{Code: "CANCELED", Message: "a person asked to cancel the execution"}
	ErrLeaseLost = &job.Error{Code: job.CodeLeaseLost, Message: "the lease has passed or belongs to another worker"}
)

func (s *Service) epsilon() time.Duration {
	if s.Epsilon == 0 {
		return 500 * time.Millisecond
	}
	return s.Epsilon
}

func (s *Service) log() *slog.Logger {
	if s.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Log
}
