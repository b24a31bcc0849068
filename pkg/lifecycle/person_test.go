package lifecycle_test

import (
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

func TestAPersonsTransitionsLieOnTheTable(t *testing.T) {
	for name, row := range map[string]struct {
		made      lifecycle.Transition
		from, to  job.Status
		available time.Time
	}{
		"the next attempt at once": {lifecycle.RetriedNow(noon.Add(time.Microsecond), "ada"), job.RetryWait, job.RetryWait, noon},
		"it took effect":           {verdict(t, job.ItWorked), job.NeedsReview, job.Succeeded, time.Time{}},
		"it did not":               {verdict(t, job.ItFailed), job.NeedsReview, job.Failed, time.Time{}},
		"another attempt":          {verdict(t, job.TryAgain), job.NeedsReview, job.RetryWait, noon},
	} {
		from := row.made.From()
		if len(from) != 1 || from[0] != row.from || row.made.To() != row.to || !row.made.AvailableAt().Equal(row.available) || !row.made.At().Equal(noon) {
			t.Errorf("%s leads %v → %s, available at %s", name, from, row.made.To(), row.made.AvailableAt())
		}
		if !lifecycle.Allowed(lifecycle.ExecutionArrows, row.from, row.made.To()) {
			t.Errorf("%s: the table does not hold the arrow", name)
		}
		if row.made.ErrorCode() != "" {
			t.Errorf("%s tells an error of its own, which would replace the last one", name)
		}
	}
	if _, known := lifecycle.ReviewedAs(job.Handled, noon, "ada"); known {
		t.Error("a dead letter's verdict ends a doubt")
	}
}

func verdict(t *testing.T, as job.Verdict) lifecycle.Transition {
	t.Helper()
	made, known := lifecycle.ReviewedAs(as, noon, "ada")
	if !known {
		t.Errorf("%s is no verdict", as)
	}
	return made
}

func TestWhatWaitsForAPerson(t *testing.T) {
	closed, replayed := &job.Resolution{As: job.Ignored}, []string{"nightly~r-01JZXW7GB0RE2M4Q0T5N6V8XYZ~v1"}
	for name, row := range map[string]struct {
		e    job.Execution
		want bool
	}{
		"FAILED":                             {job.Execution{Status: job.Failed}, true},
		"DEAD":                               {job.Execution{Status: job.Dead}, true},
		"in doubt":                           {job.Execution{Status: job.NeedsReview}, true},
		"FAILED and closed":                  {job.Execution{Status: job.Failed, Resolution: closed}, false},
		"DEAD and replayed":                  {job.Execution{Status: job.Dead, ReplayedBy: replayed}, false},
		"FAILED by a verdict, and left so":   {job.Execution{Status: job.Failed, Review: &job.Resolution{As: job.ItFailed}}, true},
		"in doubt again after a verdict":     {job.Execution{Status: job.NeedsReview, Review: &job.Resolution{As: job.TryAgain}}, true},
		"SUCCEEDED":                          {job.Execution{Status: job.Succeeded}, false},
		"waiting for its next attempt":       {job.Execution{Status: job.RetryWait}, false},
		"MISSED, which is no failure of its": {job.Execution{Status: job.Missed}, false},
	} {
		if got := lifecycle.AwaitsPerson(&row.e); got != row.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A person who looks after two days and asks for another attempt gets one, although
// the first began longer ago than max_age.
func TestTheAgeCountsAnewWhenAPersonAsksForAnotherAttempt(t *testing.T) {
	e := &job.Execution{Status: job.RetryWait, Attempt: 1, StartedAt: noon.Add(-48 * time.Hour), AvailableAt: noon, Epoch: 1}
	facts := lifecycle.Facts{Item: e, Message: lifecycle.Message{Epoch: 1}, Retry: job.Retry{MaxAttempts: 3, MaxLost: 3, MaxAge: job.Duration(24 * time.Hour)}, Now: noon.Add(time.Second)}
	if got := lifecycle.Decide(facts); got.Act != lifecycle.Close {
		t.Fatalf("without a verdict: %+v", got)
	}
	e.Review = &job.Resolution{As: job.TryAgain, At: noon}
	if got := lifecycle.Decide(facts); got.Act != lifecycle.Claim {
		t.Errorf("after a verdict: %+v", got)
	}
	facts.Now = noon.Add(25 * time.Hour)
	if got := lifecycle.Decide(facts); got.Act != lifecycle.Close {
		t.Errorf("a day after the verdict: %+v", got)
	}
}
