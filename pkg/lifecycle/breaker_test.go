package lifecycle_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

var bad = job.Ref{Tenant: "acme", Job: "bad"}

// fuse is a breaker for which so many failures in a row were told.
func fuse(failures int, change func(*job.Breaker)) *job.Breaker {
	b := &job.Breaker{Tenant: "acme", Resource: "db", Failures: failures, Jobs: []string{"bad"}, LastAt: noon}
	if change != nil {
		change(b)
	}
	return b
}

func opened(until time.Duration, wait time.Duration) func(*job.Breaker) {
	return func(b *job.Breaker) { b.OpenedAt, b.Until, b.Wait = noon.Add(-time.Minute), noon.Add(until), wait }
}

func TestWhenAFailureOpensABreaker(t *testing.T) {
	r := lifecycle.DefaultBreakerRules()
	plain := &lifecycle.Failure{Class: lifecycle.Transient, Code: "HTTP_503"}
	wish := func(d time.Duration) *lifecycle.Failure {
		return &lifecycle.Failure{Class: lifecycle.ThrottledClass, Code: "HTTP_429", RetryAfter: d}
	}
	closed := func(ago, wait time.Duration) func(*job.Breaker) {
		return func(b *job.Breaker) { b.ClosedAt, b.Wait = noon.Add(-ago), wait }
	}
	for says, row := range map[string]struct {
		breaker *job.Breaker
		failure *lifecycle.Failure
		opens   time.Duration // from now; 0 = it does not
		wait    time.Duration
	}{
		"the one before the last of a row does not":       {fuse(19, nil), plain, 0, 0},
		"the last of a row does":                          {fuse(20, nil), plain, 15 * time.Second, 15 * time.Second},
		"soon after it closed it waits twice as long":     {fuse(20, closed(time.Minute, 30*time.Second)), plain, time.Minute, time.Minute},
		"but never longer than the longest":               {fuse(20, closed(time.Minute, 2*time.Minute)), plain, 2 * time.Minute, 2 * time.Minute},
		"long after it closed it begins anew":             {fuse(20, closed(5*time.Minute, 2*time.Minute)), plain, 15 * time.Second, 15 * time.Second},
		"a wish opens it at once, for as long":            {fuse(1, nil), wish(7 * time.Minute), 7 * time.Minute, 15 * time.Second},
		"a wish of days is asked again after an hour":     {fuse(1, nil), wish(72 * time.Hour), time.Hour, 15 * time.Second},
		"a wish of less than a second is a plain failure": {fuse(1, nil), wish(time.Second - 1), 0, 0},
		"a failure while it is open changes nothing":      {fuse(40, opened(time.Minute, time.Minute)), plain, 0, 0},
		"a longer wish keeps it open for longer":          {fuse(3, opened(time.Minute, 15*time.Second)), wish(2 * time.Minute), 2 * time.Minute, 15 * time.Second},
		"a shorter one does not":                          {fuse(3, opened(time.Minute, 15*time.Second)), wish(59 * time.Second), 0, 0},
		"nor that of a job that it does not hold":         {fuse(3, func(b *job.Breaker) { opened(time.Minute, time.Second)(b); b.Jobs = []string{"other"} }), wish(time.Hour), 0, 0},
	} {
		o, opens := r.Opens(row.breaker, bad, row.failure, noon)
		if opens != (row.opens > 0) || opens && (!o.Until.Equal(noon.Add(row.opens)) || o.Wait != row.wait || o.Code != row.failure.Code || o.Job != "") {
			t.Errorf("%s: %v %+v, want %v and a wait of %v", says, opens, o, row.opens, row.wait)
		}
	}
}

func TestAProbeThatFailsDoublesTheWait(t *testing.T) {
	r := lifecycle.DefaultBreakerRules()
	b := fuse(20, opened(0, r.Wait))
	var waits []time.Duration
	for range 5 {
		o := r.Reopens(b, bad, &lifecycle.Failure{Class: lifecycle.TimeoutClass, Code: "X"}, noon)
		if o.Job != "bad" || !o.Until.Equal(noon.Add(o.Wait)) {
			t.Errorf("it opens anew by %+v", o)
		}
		waits = append(waits, o.Wait)
		b.Wait = o.Wait
	}
	for i, want := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 2 * time.Minute, 2 * time.Minute} {
		if waits[i] != want {
			t.Errorf("the waits are %v", waits)
		}
	}
	if o := r.Reopens(b, bad, &lifecycle.Failure{Class: lifecycle.ThrottledClass, RetryAfter: 10 * time.Minute}, noon); !o.Until.Equal(noon.Add(10 * time.Minute)) {
		t.Errorf("a probe that was asked to wait ten minutes opens it until %v", o.Until)
	}
}

func TestWhichEndsSayWhatAboutAResource(t *testing.T) {
	of := func(c lifecycle.Class) *lifecycle.Failure { return &lifecycle.Failure{Class: c} }
	for says, row := range map[string]struct {
		end  *lifecycle.Failure
		want lifecycle.Bearing
	}{
		"success":                            {nil, lifecycle.Answered},
		"a refusal of the one request":       {of(lifecycle.PermanentClass), lifecycle.Answered},
		"a failure that may pass":            {of(lifecycle.Transient), lifecycle.FailedThere},
		"no answer in time":                  {of(lifecycle.TimeoutClass), lifecycle.FailedThere},
		"a wish to be spared":                {of(lifecycle.ThrottledClass), lifecycle.FailedThere},
		"no answer that could be understood": {of(lifecycle.UncertainClass), lifecycle.FailedThere},
		"a panic":                            {of(lifecycle.PanicClass), lifecycle.SaysNothing},
		"a cancel":                           {of(lifecycle.CanceledClass), lifecycle.SaysNothing},
		"a worker's stop":                    {of(lifecycle.StoppedClass), lifecycle.SaysNothing},
	} {
		if got := lifecycle.BearingOf(row.end); got != row.want {
			t.Errorf("%s says %v, want %v", says, got, row.want)
		}
	}
}

func TestABreakerIsAboutThoseThatFailedUntilThereAreThree(t *testing.T) {
	for says, row := range map[string]struct {
		jobs []string
		good bool
	}{
		"one that failed": {[]string{"bad"}, false},
		"two":             {[]string{"bad", "worse"}, false},
		"three":           {[]string{"bad", "worse", "worst"}, true},
	} {
		b := fuse(20, opened(time.Minute, time.Minute))
		if b.Jobs = row.jobs; b.Holds("good") != row.good || !b.Holds("bad") || b.Wide() != row.good {
			t.Errorf("%s: it holds the good job: %v, want %v", says, b.Holds("good"), row.good)
		}
	}
	var none *job.Breaker
	if none.Holds("bad") || none.State(noon) != job.BreakerClosed {
		t.Error("a breaker of which nothing is known holds something")
	}
}

func TestWhatIsHeldBackComesBackAfterTheWaitAndNotAllAtOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := lifecycle.DefaultBreakerRules()
		wait := time.Duration(rapid.Int64Range(int64(r.Wait), int64(r.Longest)).Draw(t, "wait"))
		b := fuse(20, opened(time.Duration(rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, "until")), wait))
		spread := rapid.Float64Range(0, 0.999).Draw(t, "spread")
		at := r.HeldUntil(b, noon, spread)
		least := noon
		if b.State(noon) == job.BreakerOpen {
			least = b.Until
		}
		if at.Before(least) || at.After(least.Add(max(wait/2, 10*time.Second))) {
			t.Fatalf("%v, at the soonest %v with a wait of %v", at, least, wait)
		}
		leasedTo, free := r.Probe(b, time.Duration(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "timeout")), noon)
		if free != (b.State(noon) == job.BreakerHalfOpen) || leasedTo.Before(noon.Add(30*time.Second)) || leasedTo.After(noon.Add(5*time.Minute)) {
			t.Fatalf("a probe is free: %v, leased to %v", free, leasedTo)
		}
	})
}

func TestASparedAttemptIsNotCounted(t *testing.T) {
	three := job.Retry{MaxAttempts: 3, Base: job.Duration(time.Second), Max: job.Duration(time.Minute), MaxAge: job.Duration(time.Hour)}
	spared := lifecycle.Failure{Class: lifecycle.Transient, Code: "X", Spared: true}
	last := tried(3, 0)
	got := lifecycle.AfterFailure(last, three, spared, "w", noon, 0.5)
	if got.To() != job.RetryWait || !got.GivesBack() || got.Reason() != lifecycle.HandlerError || got.AvailableAt().Sub(noon) != 2*time.Second {
		t.Errorf("the last attempt, spared, becomes %v %v, available after %v", got.To(), got.Reason(), got.AvailableAt().Sub(noon))
	}
	last.StartedAt = noon.Add(-time.Hour)
	if got := lifecycle.AfterFailure(last, three, spared, "w", noon, 0.5); got.To() != job.Dead || got.Reason() != lifecycle.MaxAge {
		t.Errorf("the greatest age holds all the same: %v, %v", got.To(), got.Reason())
	}
	spared.Spared = false
	if got := lifecycle.AfterFailure(tried(2, 0), three, spared, "w", noon, 0.5); got.GivesBack() {
		t.Error("an attempt that is not spared is given back")
	}
}
