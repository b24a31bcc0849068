package sweep

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

const (
	// farthest is how far a time can move: Samoa changed sides of the date line.
	farthest = 25 * time.Hour
	// sameTime is how far a time that has come can move later and still be known as
	// the one that has come.
	sameTime = 3 * time.Hour
)

// facts is all that judge looks at.
type facts struct {
	head  *job.Head
	plan  *schedule.Plan  // the head's schedule under the database of this build
	ahead []job.Execution // times made before they came, oldest first
	last  time.Time       // last scheduled time that had come by now; zero = none
	now   time.Time
}

// judgement is what becomes of a job whose times moved.
type judgement struct {
	moved    bool      // false: all its times are where they were
	cursor   time.Time // zero = no further time
	last     time.Time // last scheduled time that stays dealt with
	carry    time.Time // what was made up to here still runs
	withdraw []*job.Execution
}

// judge compares the times that a job has with those that its schedule has now.
//
// The cursor of a job whose times moved goes to the first time of the schedule that
// has not come: behind the last one that has, so that none which moved earlier is
// lost, even into the past; and over those that were made ahead, which are made
// again. To carry them instead would bind the next edit, too: the claim asks what
// the first edit after a revision carried, and what an edit takes back before its
// time must not run.
func judge(f facts) judgement {
	cursor := f.head.NextFireAt
	j := judgement{last: f.last, carry: f.now, cursor: f.head.AfterSwitch()} // where a definition that waits takes over
	first, ok := f.first()
	if ok {
		j.cursor = first
	}
	agreed := f.agreed()
	j.moved = agreed < len(f.ahead) || !f.behind(j.cursor).Equal(cursor)
	if !cursor.IsZero() && !j.carry.Before(cursor) {
		j.carry = cursor.Add(-time.Second)
	}
	for i := agreed; i < len(f.ahead); i++ {
		e := &f.ahead[i]
		if at, ok := f.plan.Next(e.ScheduledAt.Add(-time.Second)); !ok || !at.Equal(e.ScheduledAt) {
			j.withdraw = append(j.withdraw, e)
		}
	}
	return j
}

// behind is where the cursor stands once the times made ahead are passed, if they
// begin with first.
func (f facts) behind(first time.Time) time.Time {
	if len(f.ahead) == 0 || !first.Equal(f.ahead[0].ScheduledAt) {
		return first
	}
	if at, ok := f.plan.Next(f.ahead[len(f.ahead)-1].ScheduledAt); ok {
		return at
	}
	return f.head.AfterSwitch()
}

// agreed counts the times made ahead that the schedule has, without a time of its
// own between them.
func (f facts) agreed() int {
	at, ok := f.plan.Next(f.now)
	for i := range f.ahead {
		if !ok || !at.Equal(f.ahead[i].ScheduledAt) {
			return i
		}
		at, ok = f.plan.Next(at)
	}
	return len(f.ahead)
}

// first is the first time of the schedule that has not come.
//
// Times up to the last verb were dealt with by it, unless it set the cursor back
// itself, and those up to a switch-over under the definition before. A time soon
// after the last one that came since, and nearer to it than to the one that was to
// come next, is that last one, moved: it does not come twice. Those of an interval do
// not move, they only come and go with the hours of a calendar.
func (f facts) first() (time.Time, bool) {
	coming := f.head.NextFireAt
	if len(f.ahead) > 0 {
		coming = f.ahead[0].ScheduledAt
	}
	begun := latest(f.head.UpdatedAt, f.head.SwitchedAt)
	floor := latest(f.last, begun, earliest(f.now, coming).Add(-farthest))
	if !coming.IsZero() && !coming.After(floor) {
		floor = coming.Add(-time.Second)
	}
	at, ok := f.plan.Next(floor)
	if !ok || f.head.Schedule.Cron == "" || !f.last.After(begun) || coming.IsZero() || !at.Before(coming) || !at.After(f.last) {
		return at, ok
	}
	if since := at.Sub(f.last); since <= sameTime && since < coming.Sub(at) {
		return f.plan.Next(at)
	}
	return at, ok
}

func latest(times ...time.Time) (last time.Time) {
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// earliest is the earlier one; a time that is zero is none.
func earliest(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}
