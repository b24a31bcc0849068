package sweep

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// task is what a piece of a sweep is about.
type task int

const (
	nothing task = iota
	note         // an older build has ticked: the record says so, and no more is done
	retime       // a page of jobs whose next time is computed anew
	purge        // a page of jobs among which deleted ones may be over
)

// purgeAfter is how far into a day, in UTC, the daily purge begins.
const purgeAfter = 3 * time.Hour

// decide says what is to be done next, and begins the walk for it. Of two
// versions the newer one wins: an older build only leaves its mark, so that the
// jobs are looked at again once it is gone.
func decide(seen job.Sweeps, now time.Time, version string) (job.Sweeps, task) {
	next := seen
	t := &next.TZDB
	switch {
	case version > t.Version:
		*t = job.TZDBSweep{Version: version, NotedAt: now}
		t.Walk, t.Walks = job.Walk{BegunAt: now}, t.Walks+1
		return next, retime
	case version < t.Version && !t.OtherAt.After(t.Walk.BegunAt):
		t.OtherAt = now
		return next, note
	case version == t.Version && t.Walk.Running():
		return next, retime
	case version == t.Version && !t.Settled() && !now.Before(t.Walk.BegunAt.Add(job.SweepSettle)):
		t.Walk, t.Walks = job.Walk{BegunAt: now}, t.Walks+1
		return next, retime
	}
	p := &next.Purge
	switch today := now.Add(-purgeAfter).Truncate(24 * time.Hour).Add(purgeAfter); {
	case p.Walk.Running():
		return next, purge
	case p.Walk.BegunAt.Before(today):
		p.Walk = job.Walk{BegunAt: now}
		return next, purge
	}
	return next, nothing
}
