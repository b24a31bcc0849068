package lifecycle_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// tried is an execution whose attempt has just failed; lost of its attempts
// ended with their worker.
func tried(attempts, lost int) *job.Execution {
	return &job.Execution{Status: job.Running, Attempt: attempts, Lost: lost, StartedAt: noon.Add(-time.Minute), FencingToken: int64(attempts)}
}

func TestAfterFailure(t *testing.T) {
	five := job.Retry{MaxAttempts: 5, Base: job.Duration(time.Second), Max: job.Duration(time.Minute), MaxAge: job.Duration(time.Hour), MaxLost: 3}
	canceled := func(e *job.Execution) *job.Execution { e.Cancel = &job.Cancel{By: "ada"}; return e }
	old := func(e *job.Execution) *job.Execution { e.StartedAt = noon.Add(-time.Hour); return e }
	class := func(c lifecycle.Class) lifecycle.Failure {
		return lifecycle.Failure{Class: c, Code: "X", Text: "it failed"}
	}
	unsure := func(confirmable bool) lifecycle.Failure {
		return lifecycle.Failure{Class: lifecycle.UncertainClass, Code: "X", Confirmable: confirmable}
	}
	for sentence, row := range map[string]struct {
		execution *job.Execution
		failure   lifecycle.Failure
		to        job.Status
		reason    job.Reason
		wait      time.Duration // at the middle of the spread
	}{
		"the first failure waits the base":                   {tried(1, 0), class(lifecycle.Transient), job.RetryWait, lifecycle.HandlerError, time.Second},
		"the third waits four times as long":                 {tried(3, 0), class(lifecycle.Transient), job.RetryWait, lifecycle.HandlerError, 4 * time.Second},
		"a lost attempt does not lengthen the wait":          {tried(3, 2), class(lifecycle.Transient), job.RetryWait, lifecycle.HandlerError, time.Second},
		"a class without a name is a handler's error":        {tried(1, 0), class(""), job.RetryWait, lifecycle.HandlerError, time.Second},
		"a class of a newer build is one, too":               {tried(1, 0), class("novel"), job.RetryWait, lifecycle.HandlerError, time.Second},
		"a timeout says so":                                  {tried(1, 0), class(lifecycle.TimeoutClass), job.RetryWait, lifecycle.TimedOut, time.Second},
		"a panic says so":                                    {tried(1, 0), class(lifecycle.PanicClass), job.RetryWait, lifecycle.HandlerPanic, time.Second},
		"the target's wish is kept when it is longer":        {tried(1, 0), lifecycle.Failure{Class: lifecycle.ThrottledClass, RetryAfter: 40 * time.Second}, job.RetryWait, lifecycle.Throttled, 40 * time.Second},
		"and not when it is shorter":                         {tried(5, 1), lifecycle.Failure{Class: lifecycle.ThrottledClass, RetryAfter: time.Second}, job.RetryWait, lifecycle.Throttled, 8 * time.Second},
		"the last allowed attempt ends it":                   {tried(5, 0), class(lifecycle.Transient), job.Dead, lifecycle.AttemptsUsedUp, 0},
		"lost attempts do not count as answered":             {tried(6, 2), class(lifecycle.Transient), job.RetryWait, lifecycle.HandlerError, 8 * time.Second},
		"but the answered ones among them do":                {tried(7, 2), class(lifecycle.Transient), job.Dead, lifecycle.AttemptsUsedUp, 0},
		"attempts given back do not count either":            {&job.Execution{Status: job.Running, Attempt: 7, Lost: 1, Released: 2, StartedAt: noon}, class(lifecycle.Transient), job.RetryWait, lifecycle.HandlerError, 8 * time.Second},
		"a permanent failure is final at once":               {tried(1, 0), class(lifecycle.PermanentClass), job.Failed, lifecycle.Permanent, 0},
		"a permanent failure is told even when canceled":     {canceled(tried(1, 0)), class(lifecycle.PermanentClass), job.Failed, lifecycle.Permanent, 0},
		"a cancel wins over a retry":                         {canceled(tried(1, 0)), class(lifecycle.Transient), job.Canceled, lifecycle.CancelRequested, 0},
		"a cancel wins over giving up":                       {canceled(tried(5, 0)), class(lifecycle.Transient), job.Canceled, lifecycle.CancelRequested, 0},
		"a cancel wins over a worker's stop":                 {canceled(tried(1, 0)), class(lifecycle.StoppedClass), job.Canceled, lifecycle.CancelRequested, 0},
		"a handler that ended because of the cancel":         {tried(1, 0), class(lifecycle.CanceledClass), job.Canceled, lifecycle.CancelRequested, 0},
		"a worker's stop gives the attempt back at once":     {tried(1, 0), class(lifecycle.StoppedClass), job.RetryWait, lifecycle.WorkerStopped, 0},
		"a worker's stop never uses the attempts up":         {tried(9, 0), class(lifecycle.StoppedClass), job.RetryWait, lifecycle.WorkerStopped, 0},
		"a retry that would begin after the age is given up": {old(tried(1, 0)), class(lifecycle.Transient), job.Dead, lifecycle.MaxAge, 0},
		"a wish up to the age is kept":                       {tried(1, 0), lifecycle.Failure{RetryAfter: 59 * time.Minute}, job.RetryWait, lifecycle.HandlerError, 59 * time.Minute},
		"what may have taken effect is left to a person":     {tried(1, 0), unsure(false), job.NeedsReview, lifecycle.Uncertain, 0},
		"unless the handler can ask before it tries again":   {tried(3, 0), unsure(true), job.RetryWait, lifecycle.Uncertain, 4 * time.Second},
		"and is still allowed an attempt":                    {tried(5, 0), unsure(true), job.NeedsReview, lifecycle.Uncertain, 0},
		"in time":                                            {old(tried(1, 0)), unsure(true), job.NeedsReview, lifecycle.Uncertain, 0},
		"and nobody has canceled it":                         {canceled(tried(1, 0)), unsure(true), job.NeedsReview, lifecycle.Uncertain, 0},
		"a wish beyond the age is given up":                  {tried(1, 0), lifecycle.Failure{RetryAfter: 24 * time.Hour}, job.Dead, lifecycle.MaxAge, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := lifecycle.AfterFailure(row.execution, five, row.failure, "w1", noon, 0.5)
			if got.To() != row.to || got.Reason() != row.reason {
				t.Fatalf("got %s/%s, want %s/%s", got.To(), got.Reason(), row.to, row.reason)
			}
			if row.to == job.RetryWait && !got.AvailableAt().Equal(noon.Add(row.wait)) {
				t.Errorf("available after %v, want %v", got.AvailableAt().Sub(noon), row.wait)
			}
			if row.to != job.RetryWait && !got.AvailableAt().IsZero() {
				t.Error("an end has a time at which it becomes available")
			}
		})
	}
}

func TestAfterFailureNeverLeavesTheTable(t *testing.T) {
	classes := []lifecycle.Class{"", lifecycle.Transient, lifecycle.ThrottledClass, lifecycle.TimeoutClass, lifecycle.PermanentClass,
		lifecycle.PanicClass, lifecycle.CanceledClass, lifecycle.StoppedClass, lifecycle.UncertainClass, "novel"}
	rapid.Check(t, func(t *rapid.T) {
		e := tried(rapid.IntRange(1, 30).Draw(t, "attempt"), 0)
		e.Lost = rapid.IntRange(0, e.Attempt-1).Draw(t, "lost")
		e.StartedAt = noon.Add(-time.Duration(rapid.IntRange(0, 100).Draw(t, "age")) * time.Minute)
		if rapid.Bool().Draw(t, "cancel") {
			e.Cancel = &job.Cancel{By: "ada"}
		}
		r := job.Retry{MaxAttempts: rapid.IntRange(1, 20).Draw(t, "most"), Base: job.Duration(time.Second), Max: job.Duration(time.Hour), MaxAge: job.Duration(time.Hour), MaxLost: 3}
		f := lifecycle.Failure{Class: rapid.SampledFrom(classes).Draw(t, "class"), RetryAfter: time.Duration(rapid.Int64Range(-1, int64(2*time.Hour)).Draw(t, "wish")), Confirmable: rapid.Bool().Draw(t, "confirmable")}
		got := lifecycle.AfterFailure(e, r, f, "w1", noon, rapid.Float64Range(0, 0.999).Draw(t, "spread"))
		if !lifecycle.Allowed(lifecycle.ExecutionArrows, job.Running, got.To()) {
			t.Fatalf("RUNNING → %s", got.To())
		}
		again := got.To() == job.RetryWait
		stopped := f.Class == lifecycle.StoppedClass
		switch {
		case again && e.Cancel != nil:
			t.Fatal("tried again although canceled")
		case f.Class == lifecycle.UncertainClass && !again && got.To() != job.NeedsReview:
			t.Fatal("it is unknown what it did, and no person is asked")
		case again && f.Class == lifecycle.UncertainClass && !f.Confirmable:
			t.Fatal("tried again although it may have taken effect")
		case again && f.Class == lifecycle.PermanentClass:
			t.Fatal("tried again although permanent")
		case again && !stopped && e.Attempt-e.Lost >= r.MaxAttempts:
			t.Fatal("tried again beyond the attempts")
		case again && !stopped && got.AvailableAt().Sub(e.StartedAt) > r.MaxAge.Std():
			t.Fatal("tried again beyond the age")
		case again && got.AvailableAt().Before(noon.Add(f.RetryAfter).Truncate(time.Millisecond)) && !stopped:
			t.Fatal("tried again sooner than the target asked")
		case again && got.AvailableAt().Before(noon):
			t.Fatal("available in the past")
		}
	})
}

func TestBackoffStaysWithinItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := job.Retry{Base: job.Duration(rapid.Int64Range(int64(100*time.Millisecond), int64(24*time.Hour)).Draw(t, "base"))}
		r.Max = job.Duration(rapid.Int64Range(int64(r.Base), int64(24*time.Hour)).Draw(t, "max"))
		n := rapid.IntRange(-1, 1<<30).Draw(t, "n")
		spread := rapid.Float64Range(0, 0.9999999).Draw(t, "spread")
		got := lifecycle.Backoff(r, n, spread)
		if low, high := r.Base.Std()/2, r.Max.Std()/2*3+1; got < low || got > high {
			t.Fatalf("waits %v, want %v to %v", got, low, high)
		}
		if next := lifecycle.Backoff(r, n+1, spread); next < got {
			t.Fatalf("attempt %d waits %v, the next only %v", n, got, next)
		}
	})
}
