package restore

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// act is what the repair does to one execution.
type act string

const (
	leave    act = "leave"    // it has ended, or is repaired, or the cursor makes it again
	rearm    act = "rearm"    // it runs on: Judgement.Rearm says how
	withdraw act = "withdraw" // the restored job does not want it
	giveUp   act = "give up"  // it has begun, and its job is not in the backup
)

// facts is all that judge looks at.
type facts struct {
	execution *job.Execution
	head      *job.Head      // as the backup has it; nil = the job is not in it
	plan      *schedule.Plan // the head's schedule; nil = it cannot be evaluated
	carry     time.Time      // bound of the edit after the execution's revision
	base      int64          // lowest epoch of this restore
	now       time.Time
	open      bool // of a child that has ended: what its end asks for may not be done
}

// judgement is judge's answer.
type judgement struct {
	act   act
	rearm job.Rearm // for rearm; Actor and At are the caller's
	lost  int       // a revision that the backup's head does not know; zero = none
}

// judge says what becomes of one restored execution.
func judge(f facts) judgement {
	e := f.execution
	var j judgement
	if f.head != nil && e.Revision > f.head.Revision {
		j.lost = e.Revision
	}
	switch {
	case lifecycle.Terminal(e.Status) && f.open:
		j.act, j.rearm = rearm, job.Rearm{Epoch: e.Epoch, Revision: e.Revision, Pool: e.Pool, Wake: f.now}
	case e.Range != nil || lifecycle.Terminal(e.Status) || e.Status == job.NeedsReview:
		j.act = leave
	case e.Attempt > 0:
		j.act, j.rearm = f.judgeBegun()
	case e.Outside() || e.Kind == job.KindChild:
		j.act, j.rearm = f.judgeOutside()
	default:
		j.act, j.rearm = f.judgeScheduled()
	}
	return j
}

// judgeBegun lets what has begun go on under its own epoch, as always; it has
// no message, and its lease cannot be live any more once it has passed.
func (f facts) judgeBegun() (act, job.Rearm) {
	e := f.execution
	if f.head == nil {
		return giveUp, job.Rearm{}
	}
	wake := f.now
	switch e.Status {
	case job.Running:
		wake = later(f.now, e.Lease.Until)
	case job.RetryWait:
		wake = later(f.now, e.AvailableAt)
	case job.Scheduled, job.NeedsReview, job.Withdrawn, job.Succeeded, job.Failed, job.Dead, job.Canceled, job.Skipped, job.Missed:
	}
	revision := min(e.Revision, f.head.Revision)
	if revision == e.Revision && !e.Wake.At.IsZero() && !e.Wake.At.After(wake) {
		return leave, job.Rearm{}
	}
	return rearm, job.Rearm{Epoch: e.Epoch, Revision: revision, Pool: e.Pool, Wake: wake}
}

// judgeOutside keeps manual runs and children: no cursor makes them again.
func (f facts) judgeOutside() (act, job.Rearm) {
	e := f.execution
	switch {
	case e.Status != job.Scheduled || e.Epoch >= f.base:
		return leave, job.Rearm{}
	case f.head == nil:
		return withdraw, job.Rearm{}
	}
	return rearm, job.Rearm{Epoch: f.base + 1, Revision: min(e.Revision, f.head.Revision), Pool: e.Pool, Wake: later(f.now, e.AvailableAt)}
}

// judgeScheduled settles what a scheduled time that has not begun is worth
// under the restored head. An epoch of this restore says that it was judged.
func (f facts) judgeScheduled() (act, job.Rearm) {
	e := f.execution
	again := job.Rearm{Epoch: f.base + 1, Wake: later(f.now, e.AvailableAt)}
	switch {
	case e.Epoch >= f.base:
		return leave, job.Rearm{}
	case e.Status == job.Scheduled && lifecycle.MayBegin(f.head, e.Epoch, e.ScheduledAt, f.carry):
		again.Revision, again.Pool = min(e.Revision, f.head.Revision), e.Pool
		return rearm, again
	case f.wants():
		if e.Status == job.Withdrawn && !f.behindCursor() {
			return leave, job.Rearm{} // the cursor comes to it and makes it again
		}
		again.Revision, again.Pool = f.head.Revision, f.head.Pool
		return rearm, again
	case e.Status == job.Scheduled:
		return withdraw, job.Rearm{}
	}
	return leave, job.Rearm{}
}

// wants reports whether the restored head, had it gone on, would have this
// time: it is enabled, the last verb that the backup knows lies before the time, and
// the schedule has it.
func (f facts) wants() bool {
	if f.head == nil || f.plan == nil || f.head.State != job.Enabled && f.head.State != job.Completed {
		return false
	}
	at := f.execution.ScheduledAt
	if !at.After(f.head.UpdatedAt) {
		return false
	}
	next, ok := f.plan.Next(at.Add(-time.Second))
	return ok && next.Equal(at)
}

func (f facts) behindCursor() bool {
	return f.head.NextFireAt.IsZero() || f.execution.ScheduledAt.Before(f.head.NextFireAt)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
