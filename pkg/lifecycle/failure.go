package lifecycle

import (
	"math"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Class sorts the ways in which an attempt can fail by what helps.
type Class string

// The classes. Transient is the zero value's meaning: try again.
const (
	Transient      Class = "transient"
	ThrottledClass Class = "throttled"
	TimeoutClass   Class = "timeout"
	PermanentClass Class = "permanent"
	PanicClass     Class = "panic"
	CanceledClass  Class = "canceled"
	StoppedClass   Class = "stopped"
)

// Failure is how an attempt failed.
type Failure struct {
	Class      Class
	Code       string        // stable word of the target or handler, such as HTTP_503
	Text       string        // for people; bounded by the store
	RetryAfter time.Duration // the target's wish; zero = none
}

var classReasons = map[Class]job.Reason{Transient: HandlerError, ThrottledClass: Throttled, TimeoutClass: TimedOut,
	PermanentClass: Permanent, PanicClass: HandlerPanic, StoppedClass: WorkerStopped, CanceledClass: CancelRequested}

// reason is the word for the class; an unknown class is a handler error.
func (f Failure) reason() job.Reason {
	if r, ok := classReasons[f.Class]; ok {
		return r
	}
	return HandlerError
}

// AfterFailure decides what becomes of a running execution whose attempt
// failed. spread is a random number in [0, 1): the wait is
// min(max, base × 2^(n-1)) × (0.5 + spread) for the n-th answered attempt, and
// at least RetryAfter. Attempts that were lost or given back by a worker that was
// told to stop are not answered ones. A cancel request wins over a retry.
func AfterFailure(e *job.Execution, r job.Retry, f Failure, owner string, now time.Time, spread float64) Transition {
	answered := e.Attempt - e.Lost - e.Released
	switch {
	case f.Class == CanceledClass || (e.Cancel != nil && f.Class != PermanentClass):
		return CanceledBy(now, owner)
	case f.Class == PermanentClass:
		return FailedForGood(now, owner, f)
	case f.Class == StoppedClass:
		return Waiting(now, now, owner, WorkerStopped, f)
	case answered >= r.MaxAttempts:
		return GivenUp(now, owner, AttemptsUsedUp, f)
	}
	availableAt := now.Add(max(Backoff(r, answered, spread), f.RetryAfter)).Truncate(time.Millisecond)
	if tooOld(e, r, availableAt) {
		return GivenUp(now, owner, MaxAge, f)
	}
	return Waiting(now, availableAt, owner, f.reason(), f)
}

// Backoff is the wait after the n-th answered attempt (from 1).
func Backoff(r job.Retry, n int, spread float64) time.Duration {
	wait := math.Min(float64(r.Max), float64(r.Base)*math.Pow(2, float64(min(max(n, 1)-1, 62))))
	return time.Duration(wait * (0.5 + spread))
}

func tooOld(e *job.Execution, r job.Retry, at time.Time) bool {
	return r.MaxAge > 0 && !e.StartedAt.IsZero() && at.After(e.StartedAt.Add(r.MaxAge.Std()))
}
