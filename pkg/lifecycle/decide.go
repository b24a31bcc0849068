package lifecycle

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// MaxRedrives is how often the dead-letter consumer dispatches an execution
// that nobody ever claimed before it gives up.
const MaxRedrives = 5

// Message is what a queue message says: a pointer, never the work itself.
type Message struct {
	job.Ref
	Key          job.Key
	Epoch        int64
	RestoreEpoch int64
	Receives     int  // how often the queue has handed it out, this time included
	Isolated     bool // it came from the pool's isolation queue
}

// Facts is all that Decide looks at.
type Facts struct {
	Message      Message
	Item         *job.Execution // as last read, or as a failed condition returned it; nil = absent
	Nonce        string         // of the caller's own claim
	MayBegin     bool           // the claim rule's answer; only used before the first attempt of what it holds for (job.Execution.Fenced)
	Retry        job.Retry
	Start        job.Duration // the definition's start deadline; zero = none
	RestoreEpoch int64        // of this installation
	Now          time.Time
	Epsilon      time.Duration // bound of the clocks' difference
}

// Act is what to do with a message.
type Act string

// The acts. Every act but Hide, Own and Claim ends with the message deleted;
// each of those is allowed by the deletion rule (docs/architecture.md).
const (
	Delete  Act = "delete"  // nothing to do any more
	Hide    Act = "hide"    // make it visible again at Until
	Own     Act = "own"     // our own claim whose answer was lost: run
	Claim   Act = "claim"   // claim exactly what was read, then run
	Close   Act = "close"   // apply Transition to exactly what was read, then delete
	Isolate Act = "isolate" // send a successor to the isolation queue, then delete
	Rewake  Act = "rewake"  // write a new wake-up, then delete
)

// Disposition is Decide's answer.
type Disposition struct {
	Act        Act
	Until      time.Time  // for Hide
	Transition Transition // for Close
	Why        string     // one word for the log
}

// Hidden for this long when nothing tells a better time.
const unsureWait = 30 * time.Second

// Decide says what a worker does with a message.
func Decide(f Facts) Disposition {
	if settled, why := overtaken(f); settled {
		return Disposition{Act: Delete, Why: why}
	}
	item := f.Item
	switch {
	case item.Schema > job.Schema:
		return Disposition{Act: Hide, Until: f.Now.Add(unsureWait), Why: "newer-schema"}
	case item.Epoch < f.Message.Epoch:
		return Disposition{Act: Hide, Until: f.Now.Add(unsureWait), Why: "message-ahead"}
	}
	switch item.Status {
	case job.Running:
		return decideRunning(f)
	case job.RetryWait:
		return decideRetry(f)
	case job.Scheduled:
		return decideScheduled(f)
	case job.Succeeded, job.Failed, job.Dead, job.Canceled, job.Skipped, job.Missed, job.Withdrawn, job.NeedsReview:
		return Disposition{Act: Delete, Why: "ended"}
	}
	return Disposition{Act: Hide, Until: f.Now.Add(unsureWait), Why: "unknown-status"}
}

// overtaken is the deletion rule's first half: what has been seen makes the
// message void. An absent item was put before its message was sent, so it has
// ended and its retention is over, or the tables were restored.
func overtaken(f Facts) (bool, string) {
	switch {
	case f.Message.RestoreEpoch < f.RestoreEpoch:
		return true, "restored"
	case f.Item == nil:
		return true, "absent"
	case f.Item.Epoch > f.Message.Epoch:
		return true, "newer-life"
	case f.Item.Schema <= job.Schema && (Terminal(f.Item.Status) || f.Item.Status == job.NeedsReview):
		return true, "ended"
	case f.Item.Schema <= job.Schema && f.Item.Status == job.Withdrawn:
		return true, "withdrawn"
	}
	return false, ""
}

func decideRunning(f Facts) Disposition {
	item := f.Item
	free := item.Lease.Until.Add(2 * f.Epsilon)
	switch {
	case f.Nonce != "" && item.Lease.Nonce == f.Nonce && f.Now.Before(item.Lease.Until):
		// After it, somebody else may take over at any moment: too late to begin.
		return Disposition{Act: Own, Why: "own-claim"}
	case f.Now.Before(free):
		return Disposition{Act: Hide, Until: free, Why: "leased"}
	case item.Cancel != nil:
		return Disposition{Act: Close, Transition: canceledFor(f.Now, item.Cancel), Why: "canceled"}
	case item.Lost+1 >= f.Retry.MaxLost:
		return Disposition{Act: Close, Transition: GivenUp(f.Now, "", lostReason(f), Failure{Code: string(LeaseLost)}), Why: "lost-too-often"}
	case tooOld(item, f.Retry, f.Now):
		return Disposition{Act: Close, Transition: GivenUp(f.Now, "", MaxAge, Failure{Code: string(LeaseLost)}), Why: "too-old"}
	case f.Retry.MaxRun > 0 && RanUntil(item, item.Lease.Until) >= f.Retry.MaxRun.Std():
		return Disposition{Act: Close, Transition: GivenUp(f.Now, "", MaxRun, Failure{Code: string(LeaseLost)}), Why: "ran-too-long"}
	case !f.Message.Isolated:
		return Disposition{Act: Isolate, Why: "lost"}
	}
	return Disposition{Act: Claim, Why: "takeover"}
}

func lostReason(f Facts) job.Reason {
	if f.Message.Isolated {
		return Poison
	}
	return LeaseLost
}

func decideRetry(f Facts) Disposition {
	item := f.Item
	switch {
	case item.Cancel != nil:
		return Disposition{Act: Close, Transition: canceledFor(f.Now, item.Cancel), Why: "canceled"}
	case tooOld(item, f.Retry, f.Now):
		return Disposition{Act: Close, Transition: GivenUp(f.Now, "", MaxAge, Failure{Code: item.ErrorCode, Text: item.ErrorText}), Why: "too-old"}
	case item.AvailableAt.After(f.Now):
		return Disposition{Act: Hide, Until: item.AvailableAt, Why: "waiting"}
	}
	return Disposition{Act: Claim, Why: "retry"}
}

func decideScheduled(f Facts) Disposition {
	item := f.Item
	switch {
	case item.Cancel != nil:
		return Disposition{Act: Close, Transition: canceledFor(f.Now, item.Cancel), Why: "canceled"}
	case item.Fenced() && !f.MayBegin:
		return Disposition{Act: Close, Transition: WithdrawnBy(f.Now, "", Superseded), Why: "superseded"}
	case item.AvailableAt.After(f.Now):
		return Disposition{Act: Hide, Until: item.AvailableAt, Why: "early"}
	case f.Start > 0 && f.Now.After(StartBy(item, f.Start)):
		return Disposition{Act: Close, Transition: MissedBy(f.Now, "", StartDeadline), Why: "start-deadline"}
	}
	return Disposition{Act: Claim, Why: "first"}
}

// StartBy is the last moment at which a first attempt of e may begin under a
// start deadline: counted from its scheduled time, or from when it was made, if
// that was later. What a misfire policy runs late thus has the whole of it.
func StartBy(e *job.Execution, deadline job.Duration) time.Time {
	from := e.AvailableAt
	if e.CreatedAt.After(from) {
		from = e.CreatedAt
	}
	return from.Add(deadline.Std())
}

// DecideDeadLetter says what the dead-letter consumer does with a message:
// drop what is over, end what is used up or canceled, and write a new wake-up
// for all else.
func DecideDeadLetter(f Facts) Disposition {
	if settled, why := overtaken(f); settled {
		return Disposition{Act: Delete, Why: why}
	}
	item := f.Item
	passed := item.Status == job.Running && !f.Now.Before(item.Lease.Until.Add(2*f.Epsilon))
	switch {
	case item.Schema > job.Schema:
		return Disposition{Act: Rewake, Why: "newer-schema"}
	case passed && item.Cancel != nil:
		return Disposition{Act: Close, Transition: canceledFor(f.Now, item.Cancel), Why: "canceled"}
	case passed && item.Lost+1 >= f.Retry.MaxLost:
		return Disposition{Act: Close, Transition: GivenUp(f.Now, "", Poison, Failure{Code: string(LeaseLost)}), Why: "lost-too-often"}
	case item.Status == job.Scheduled && item.Redrives >= MaxRedrives:
		return Disposition{Act: Close, Transition: GivenUp(f.Now, "", RedrivesUsedUp, Failure{Code: string(RedrivesUsedUp)}), Why: "redrives-used-up"}
	}
	return Disposition{Act: Rewake, Why: "redrive"}
}

// canceledFor is CanceledBy with whoever asked, and why.
func canceledFor(at time.Time, c *job.Cancel) Transition {
	t := CanceledBy(at, c.By)
	if c.Reason != "" {
		t.reason = c.Reason
	}
	return t
}
