package lifecycle

import "github.com/belfry-scheduler/belfry/pkg/job"

// Arrow is one allowed change of state, with the event that causes it.
type Arrow[S ~string] struct {
	From  S
	To    S
	Event string
}

// ExecutionArrows is the whole table of an execution. WITHDRAWN is void, not
// terminal: a newer life of the job may make the time again.
var ExecutionArrows = []Arrow[job.Status]{
	{job.Scheduled, job.Running, "claim"},
	{job.Scheduled, job.Skipped, "concurrency policy"},
	{job.Scheduled, job.Missed, "start deadline or misfire policy"},
	{job.Scheduled, job.Canceled, "cancel"},
	{job.Scheduled, job.Withdrawn, "superseded by a verb"},
	{job.Scheduled, job.Dead, "redrives used up"},
	{job.Withdrawn, job.Scheduled, "made again by a newer epoch"},
	{job.Running, job.Running, "takeover"},
	{job.Running, job.Succeeded, "settle"},
	{job.Running, job.RetryWait, "settle, to be tried again"},
	{job.Running, job.Failed, "settle, permanent"},
	{job.Running, job.Dead, "given up"},
	{job.Running, job.Canceled, "cancel"},
	{job.Running, job.NeedsReview, "outcome unknown"},
	{job.RetryWait, job.Running, "claim"},
	{job.RetryWait, job.RetryWait, "retry now"},
	{job.RetryWait, job.Dead, "given up"},
	{job.RetryWait, job.Canceled, "cancel"},
	{job.NeedsReview, job.Succeeded, "resolved by a person"},
	{job.NeedsReview, job.Failed, "resolved by a person"},
	{job.NeedsReview, job.RetryWait, "resolved by a person"},
}

// JobArrows is the whole table of a job.
var JobArrows = []Arrow[job.State]{
	{job.Enabled, job.Paused, "pause"},
	{job.Enabled, job.Suspended, "too many failures in a row"},
	{job.Enabled, job.Broken, "schedule cannot be evaluated"},
	{job.Enabled, job.Completed, "last time materialised"},
	{job.Enabled, job.Deleted, "delete"},
	{job.Enabled, job.Enabled, "edit"},
	{job.Paused, job.Enabled, "resume"},
	{job.Paused, job.Paused, "edit"},
	{job.Paused, job.Deleted, "delete"},
	{job.Suspended, job.Enabled, "resume"},
	{job.Suspended, job.Suspended, "edit"},
	{job.Suspended, job.Paused, "pause"},
	{job.Suspended, job.Deleted, "delete"},
	{job.Broken, job.Enabled, "edit or resume"},
	{job.Broken, job.Paused, "pause"},
	{job.Broken, job.Deleted, "delete"},
	{job.Completed, job.Enabled, "edit"},
	{job.Completed, job.Paused, "pause before its last time has come, or edit"},
	{job.Completed, job.Deleted, "delete"},
	{job.Deleted, job.Enabled, "create again"},
	{job.Deleted, job.Paused, "create again, paused"},
}

// Statuses lists every status in the order of a life.
var Statuses = []job.Status{job.Scheduled, job.Running, job.RetryWait, job.NeedsReview, job.Withdrawn,
	job.Succeeded, job.Failed, job.Dead, job.Canceled, job.Skipped, job.Missed}

// States lists every job state.
var States = []job.State{job.Enabled, job.Paused, job.Suspended, job.Broken, job.Completed, job.Deleted}

// Allowed reports whether the table holds the arrow from → to.
func Allowed[S ~string](table []Arrow[S], from, to S) bool {
	for _, a := range table {
		if a.From == from && a.To == to {
			return true
		}
	}
	return false
}

// Terminal reports whether an execution in s has ended for good.
func Terminal(s job.Status) bool {
	switch s {
	case job.Succeeded, job.Failed, job.Dead, job.Canceled, job.Skipped, job.Missed:
		return true
	case job.Scheduled, job.Running, job.RetryWait, job.Withdrawn, job.NeedsReview:
		return false
	}
	return false
}

// DeadLetter reports whether s is an end that a person may replay.
func DeadLetter(s job.Status) bool { return s == job.Failed || s == job.Dead }
