package job

import (
	"slices"
	"time"
)

// BreakerState is what a circuit breaker does with attempts.
type BreakerState string

// The states. CLOSED is the zero value's meaning: attempts begin. OPEN: none does,
// until a moment. HALF_OPEN: that moment has passed, and a few attempts probe.
const (
	BreakerClosed   BreakerState = "CLOSED"
	BreakerOpen     BreakerState = "OPEN"
	BreakerHalfOpen BreakerState = "HALF_OPEN"
)

// WideBreaker is how many different jobs must have failed at a resource before its
// breaker holds back every job: below that it holds back those alone, since one bad
// job must not stop the others that call the same host.
const WideBreaker = 3

// MaxResource bounds the name of a resource, in bytes.
const MaxResource = 512

// Breaker is what all workers together know of a resource that a tenant's attempts
// call: a host, something in AWS, or what a handler's author named. Nothing is known
// of one that has not failed for a day.
type Breaker struct {
	Tenant   string
	Resource string
	Turn     int64     // grows by one whenever it opens, stays open for longer, or closes
	Failures int       // in a row, as far as they were told
	Jobs     []string  // those that failed in the row, in order; not all once there are WideBreaker
	LastAt   time.Time // of the last failure told
	LastCode string    // its error code
	OpenedAt time.Time // zero = closed
	Until    time.Time // no attempt begins before; it is half open from then on
	Wait     time.Duration
	Probes   int       // probes leased since Until
	LeasedTo time.Time // whoever has not answered by then no longer counts
	Passed   int       // probes that the resource answered
	ClosedAt time.Time // when it last closed; zero = never
}

// State is the breaker's at a moment; of nil it is CLOSED.
func (b *Breaker) State(now time.Time) BreakerState {
	switch {
	case b == nil || b.OpenedAt.IsZero():
		return BreakerClosed
	case now.Before(b.Until):
		return BreakerOpen
	}
	return BreakerHalfOpen
}

// Wide tells whether the breaker, when it is not closed, holds back every job.
func (b *Breaker) Wide() bool { return b != nil && len(b.Jobs) >= WideBreaker }

// Holds tells whether the breaker, when it is not closed, is about a job.
func (b *Breaker) Holds(name string) bool {
	return b != nil && (b.Wide() || slices.Contains(b.Jobs, name))
}

// BreakerFailure is a failure at a resource, to be counted.
type BreakerFailure struct {
	Ref      Ref
	Resource string
	At       time.Time
	Code     string
	// Within is how long after the one before it a failure still belongs to the row.
	Within time.Duration
	// Anew: whoever tells has seen the resource answer since it last told of a
	// failure, so the row begins here.
	Anew bool
	// Begins: whoever tells knows of no row that it could belong to. A guess, which
	// saves a write when it is right.
	Begins bool
}

// BreakerOpening opens a breaker, or keeps it open for longer.
type BreakerOpening struct {
	At    time.Time
	Until time.Time
	Wait  time.Duration
	Code  string // of the failure that did it
	// Job is the job whose failure did it, when that failure is not counted yet.
	Job string
}
