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
	// UncertainClass: whether the attempt took effect is unknown. Trying again could
	// do it twice.
	UncertainClass Class = "uncertain"
)

// Failure is how an attempt failed.
type Failure struct {
	Class      Class
	Code       string        // stable word of the target or handler, such as HTTP_503
	Text       string        // for people; bounded by the store
	RetryAfter time.Duration // the target's wish; zero = none
	// Confirmable: before it tries again, the handler can find out whether the
	// attempt took effect. Only looked at when that is unknown.
	Confirmable bool
	// Spared: the circuit breaker of what the attempt called was open when it failed,
	// so that it says nothing new. It is not counted.
	Spared bool
}

var classReasons = map[Class]job.Reason{Transient: HandlerError, ThrottledClass: Throttled, TimeoutClass: TimedOut,
	PermanentClass: Permanent, PanicClass: HandlerPanic, StoppedClass: WorkerStopped, CanceledClass: CancelRequested, UncertainClass: Uncertain}

// reason is the word for the class; an unknown class is a handler error.
func (f Failure) reason() job.Reason {
	if r, ok := classReasons[f.Class]; ok {
		return r
	}
	return HandlerError
}

// RanUntil is how long all attempts of e have run, the one that runs counted until
// a moment.
func RanUntil(e *job.Execution, until time.Time) time.Duration {
	for i := len(e.Timeline) - 1; i >= 0; i-- {
		if entry := e.Timeline[i]; entry.To == job.Running {
			return e.Ran + max(until.Sub(entry.At), 0)
		}
	}
	return e.Ran
}

// RunLeft is how long an attempt of e that begins now may run by Retry.MaxRun;
// bounded is false where nothing bounds it.
func RunLeft(e *job.Execution, r job.Retry) (left time.Duration, bounded bool) {
	return max(r.MaxRun.Std()-e.Ran, 0), r.MaxRun > 0
}

// AfterFailure decides what becomes of a running execution whose attempt
// failed. spread is a random number in [0, 1): the wait is
// min(max, base × 2^(n-1)) × (0.5 + spread) for the n-th answered attempt, and
// at least RetryAfter. Attempts that were lost or given back by a worker that was
// told to stop are not answered ones, nor are those that an open circuit breaker spares. A cancel request wins over a retry. What may
// have taken effect is tried again only where the handler can ask first; else, and
// where it may not be tried again, a person decides.
func AfterFailure(e *job.Execution, r job.Retry, f Failure, owner string, now time.Time, spread float64) Transition {
	t := afterFailure(e, r, f, owner, now, spread)
	if r.MaxRun == 0 || t.To() != job.RetryWait {
		return t
	}
	t.ran = RanUntil(e, now)
	switch {
	case t.ran < r.MaxRun.Std():
		return t
	case f.Class == UncertainClass:
		return LeftForReview(now, owner, f)
	}
	return GivenUp(now, owner, MaxRun, f)
}

func afterFailure(e *job.Execution, r job.Retry, f Failure, owner string, now time.Time, spread float64) Transition {
	answered := e.Attempt - e.Lost - e.Released
	if f.Spared {
		answered--
	}
	switch {
	case f.Class == UncertainClass:
		return afterDoubt(e, r, f, owner, now, spread, answered)
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

func afterDoubt(e *job.Execution, r job.Retry, f Failure, owner string, now time.Time, spread float64, answered int) Transition {
	availableAt := now.Add(max(Backoff(r, answered, spread), f.RetryAfter)).Truncate(time.Millisecond)
	if !f.Confirmable || e.Cancel != nil || answered >= r.MaxAttempts || tooOld(e, r, availableAt) {
		return LeftForReview(now, owner, f)
	}
	return Waiting(now, availableAt, owner, Uncertain, f)
}

// Backoff is the wait after the n-th answered attempt (from 1).
func Backoff(r job.Retry, n int, spread float64) time.Duration {
	wait := math.Min(float64(r.Max), float64(r.Base)*math.Pow(2, float64(min(max(n, 1)-1, 62))))
	return time.Duration(wait * (0.5 + spread))
}

func tooOld(e *job.Execution, r job.Retry, at time.Time) bool {
	return r.MaxAge > 0 && !e.StartedAt.IsZero() && at.After(AgeFrom(e).Add(r.MaxAge.Std()))
}
