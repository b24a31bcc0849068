package lifecycle

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Transition is one allowed change of an execution that exists. Only the
// constructors of this package make one, so whatever the store is handed lies
// on the table.
type Transition struct {
	from        []job.Status
	to          job.Status
	reason      job.Reason
	at          time.Time
	actor       string
	errorCode   string
	errorText   string
	availableAt time.Time
	ran         time.Duration
	givesBack   bool
}

// From lists the statuses in which the transition may be applied.
func (t Transition) From() []job.Status { return t.from }

// To is the status that it leads to.
func (t Transition) To() job.Status { return t.to }

// Reason is why.
func (t Transition) Reason() job.Reason { return t.reason }

// At is the clock of whoever decided.
func (t Transition) At() time.Time { return t.at }

// ErrorCode is the handler's or target's code; empty when nothing failed.
func (t Transition) ErrorCode() string { return t.errorCode }

// ErrorText is the first part of the error's text; empty when nothing failed.
func (t Transition) ErrorText() string { return t.errorText }

// AvailableAt is when a RETRY_WAIT execution may be claimed; zero otherwise.
func (t Transition) AvailableAt() time.Time { return t.availableAt }

// Ran is how long all attempts have run, where the execution is to remember it; zero
// otherwise.
func (t Transition) Ran() time.Duration { return t.ran }

// GivesBack reports whether the attempt that it ends is not counted: its worker was
// told to stop, or an open circuit breaker spares it.
func (t Transition) GivesBack() bool { return t.givesBack }

// Ends reports whether the transition ends the execution for good.
func (t Transition) Ends() bool { return Terminal(t.to) }

// Entry is the timeline entry of the transition for execution e.
func (t Transition) Entry(e *job.Execution) job.Entry {
	return job.Entry{At: t.at, To: t.to, Attempt: e.Attempt, Token: e.FencingToken, Reason: t.reason, Actor: t.actor, ErrorCode: t.errorCode}
}

// Settled is the handler's success.
func Settled(at time.Time, owner string) Transition {
	return Transition{from: []job.Status{job.Running}, to: job.Succeeded, reason: Done, at: at, actor: owner}
}

// Confirmed is a success that the handler found out about afterwards: an earlier
// attempt had taken effect although nobody heard of it.
func Confirmed(at time.Time, owner string) Transition {
	return Transition{from: []job.Status{job.Running}, to: job.Succeeded, reason: FoundDone, at: at, actor: owner}
}

// LeftForReview leaves it to a person what becomes of an execution of which nobody
// knows whether it took effect.
func LeftForReview(at time.Time, owner string, f Failure) Transition {
	return Transition{from: []job.Status{job.Running}, to: job.NeedsReview, reason: Uncertain, at: at, actor: owner, errorCode: f.Code, errorText: f.Text}
}

// Waiting gives an attempt back to be tried again at availableAt.
func Waiting(at, availableAt time.Time, owner string, reason job.Reason, f Failure) Transition {
	return Transition{from: []job.Status{job.Running}, to: job.RetryWait, reason: reason, at: at, actor: owner,
		errorCode: f.Code, errorText: f.Text, availableAt: availableAt, givesBack: reason == WorkerStopped || f.Spared}
}

// FailedForGood is a failure that trying again cannot mend.
func FailedForGood(at time.Time, owner string, f Failure) Transition {
	return Transition{from: []job.Status{job.Running}, to: job.Failed, reason: Permanent, at: at, actor: owner, errorCode: f.Code, errorText: f.Text}
}

// GivenUp is Belfry's own end of an execution: attempts, age, lost workers or
// redrives are used up.
func GivenUp(at time.Time, actor string, reason job.Reason, f Failure) Transition {
	return Transition{from: []job.Status{job.Running, job.RetryWait, job.Scheduled}, to: job.Dead, reason: reason, at: at, actor: actor,
		errorCode: f.Code, errorText: f.Text}
}

// CanceledBy ends an execution because somebody asked.
func CanceledBy(at time.Time, actor string) Transition {
	return Transition{from: []job.Status{job.Running, job.RetryWait, job.Scheduled}, to: job.Canceled, reason: CancelRequested, at: at, actor: actor}
}

// WithdrawnBy voids an execution that has not begun, because of a verb.
func WithdrawnBy(at time.Time, actor string, reason job.Reason) Transition {
	return Transition{from: []job.Status{job.Scheduled}, to: job.Withdrawn, reason: reason, at: at, actor: actor}
}

// MissedBy ends an execution that has not begun and that nobody will run any
// more: its time is too late.
func MissedBy(at time.Time, actor string, reason job.Reason) Transition {
	return Transition{from: []job.Status{job.Scheduled}, to: job.Missed, reason: reason, at: at, actor: actor}
}
