package lifecycle

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// BreakerRules say when a circuit breaker opens, for how long, and what closes it.
// The zero value is not usable: see DefaultBreakerRules.
type BreakerRules struct {
	Failures int           // in a row that open it
	Within   time.Duration // a failure longer than that after the one before it begins a new row
	Wait     time.Duration // of the first opening; each further one doubles it
	Longest  time.Duration // bound of the wait
	Probes   int           // attempts that probe at a time, and answers that close it
}

// DefaultBreakerRules are those of an installation that says nothing
// (docs/breakers.md has the reasons).
func DefaultBreakerRules() BreakerRules {
	return BreakerRules{Failures: 20, Within: 30 * time.Second, Wait: 15 * time.Second, Longest: 2 * time.Minute, Probes: 3}
}

const (
	// shortestWish and longestWish bound what a Retry-After opens a breaker for. A
	// shorter one is a failure like others; after a longer one a probe asks again.
	shortestWish = time.Second
	longestWish  = time.Hour
	// rememberWait is how long after it closed a breaker goes on with its last wait.
	rememberWait = 5 * time.Minute
	// halfOpenWait is how long what found no probe is hidden.
	halfOpenWait = 5 * time.Second
	// The bounds of a probe's lease, which is the attempt's timeout and a margin.
	shortestProbe = 30 * time.Second
	longestProbe  = 5 * time.Minute
	probeMargin   = 5 * time.Second
)

// Bearing is what an attempt's end says about the resource that it called.
type Bearing int

// The bearings. SaysNothing is the zero value: it never came to a call, or the end
// has another reason.
const (
	SaysNothing Bearing = iota
	Answered            // with success, or with a refusal of this one request
	FailedThere
)

// BearingOf sorts an attempt's end; nil is success.
func BearingOf(f *Failure) Bearing {
	if f == nil {
		return Answered
	}
	switch f.Class {
	case PermanentClass:
		return Answered
	case Transient, TimeoutClass, ThrottledClass, UncertainClass:
		return FailedThere
	case PanicClass, CanceledClass, StoppedClass:
	}
	return SaysNothing
}

// Wish is how long the failure asks for an open breaker; zero when it does not.
func (f *Failure) Wish() time.Duration {
	if f.Class != ThrottledClass || f.RetryAfter < shortestWish {
		return 0
	}
	return min(f.RetryAfter, longestWish)
}

// Opens decides whether a failure that has been counted opens the breaker b, or
// keeps it open for longer, and how.
func (r BreakerRules) Opens(b *job.Breaker, ref job.Ref, f *Failure, now time.Time) (o job.BreakerOpening, opens bool) {
	o = job.BreakerOpening{At: now, Wait: r.Wait, Code: f.Code}
	wish := f.Wish()
	if b.State(now) != job.BreakerClosed {
		o.Wait, o.Until = b.Wait, now.Add(wish)
		return o, wish > 0 && b.Holds(ref.Job) && o.Until.After(b.Until)
	}
	if !b.ClosedAt.IsZero() && now.Before(b.ClosedAt.Add(rememberWait)) {
		o.Wait = r.longer(b.Wait)
	}
	if o.Until = now.Add(o.Wait); wish > 0 {
		o.Wait, o.Until = r.Wait, now.Add(wish)
	}
	return o, wish > 0 || b.Failures >= r.Failures
}

// Reopens is what a probe that failed makes of the half-open breaker b.
func (r BreakerRules) Reopens(b *job.Breaker, ref job.Ref, f *Failure, now time.Time) job.BreakerOpening {
	o := job.BreakerOpening{At: now, Wait: r.longer(b.Wait), Code: f.Code, Job: ref.Job}
	o.Until = now.Add(max(o.Wait, f.Wish()))
	return o
}

func (r BreakerRules) longer(wait time.Duration) time.Duration {
	return min(max(2*wait, r.Wait), r.Longest)
}

// HeldUntil is until when an attempt is hidden that b does not let begin. spread is
// a random number in [0, 1): what was held back comes back over half the wait, not
// all at once.
func (r BreakerRules) HeldUntil(b *job.Breaker, now time.Time, spread float64) time.Time {
	part := func(d time.Duration) time.Duration { return time.Duration(spread * float64(d)) }
	if b.State(now) == job.BreakerOpen {
		return b.Until.Add(part(max(b.Wait/2, halfOpenWait)))
	}
	return now.Add(halfOpenWait + part(halfOpenWait))
}

// Probe tells whether the half-open b has a probe to lease, and until when it would
// be leased to an attempt with that timeout.
func (r BreakerRules) Probe(b *job.Breaker, timeout time.Duration, now time.Time) (until time.Time, free bool) {
	until = now.Add(min(max(timeout+probeMargin, shortestProbe), longestProbe))
	return until, b.State(now) == job.BreakerHalfOpen && (b.Probes < r.Probes || !now.Before(b.LeasedTo))
}

// Closes tells whether enough probes were answered.
func (r BreakerRules) Closes(b *job.Breaker) bool { return b.Passed >= r.Probes }
