package lifecycle

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// RetriedNow ends the wait of an execution for its next attempt. Its attempts stay
// counted, so the wait after a further failure is as long as it would have been.
func RetriedNow(at time.Time, actor string) Transition {
	at = at.Truncate(time.Millisecond)
	return Transition{from: []job.Status{job.RetryWait}, to: job.RetryWait, reason: RetryAsked, at: at, actor: actor, availableAt: at}
}

// reviewedTo is where a verdict leads an execution that is in NEEDS_REVIEW.
var reviewedTo = map[job.Verdict]job.Status{job.ItWorked: job.Succeeded, job.ItFailed: job.Failed, job.TryAgain: job.RetryWait}

// ReviewVerdicts lists the verdicts that end a doubt.
var ReviewVerdicts = []job.Verdict{job.ItWorked, job.ItFailed, job.TryAgain}

// LetterVerdicts lists the verdicts that close a dead letter.
var LetterVerdicts = []job.Verdict{job.Handled, job.Ignored}

// ReviewedAs carries out what a person decided about an execution in NEEDS_REVIEW;
// false when as is no such verdict. One that is to be tried again may be claimed
// at once.
func ReviewedAs(as job.Verdict, at time.Time, actor string) (Transition, bool) {
	to, known := reviewedTo[as]
	if !known {
		return Transition{}, false
	}
	t := Transition{from: []job.Status{job.NeedsReview}, to: to, reason: Reviewed, at: at.Truncate(time.Millisecond), actor: actor}
	if to == job.RetryWait {
		t.availableAt = t.at
	}
	return t, true
}

// AwaitsPerson reports whether a person still has to do something about e: it is in
// doubt, or a dead letter that nobody has replayed or closed.
func AwaitsPerson(e *job.Execution) bool {
	if DeadLetter(e.Status) {
		return e.Resolution == nil && len(e.ReplayedBy) == 0
	}
	return e.Status == job.NeedsReview
}

// Matters reports whether s is a state in which an execution asks for a person.
func Matters(s job.Status) bool { return DeadLetter(s) || s == job.NeedsReview }

// AgeFrom is when the age of an execution begins, which max_age bounds: at the
// start of its first attempt, or when a person asked for another one.
func AgeFrom(e *job.Execution) time.Time {
	if e.Review != nil && e.Review.At.After(e.StartedAt) {
		return e.Review.At
	}
	return e.StartedAt
}
