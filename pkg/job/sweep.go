package job

import "time"

// Walk is one walk over all jobs, done in pieces by one tick after another.
type Walk struct {
	Start   string    // place of the next page; empty = the beginning, or the end once DoneAt is set
	BegunAt time.Time // zero = there was none yet
	DoneAt  time.Time // zero = it is under way
	Jobs    int       // heads read
	Changed int       // jobs whose next time moved, or that were purged
	Left    int       // jobs that could not be judged now: the next walk does
}

// Running reports whether the walk has begun and not ended.
func (w Walk) Running() bool { return !w.BegunAt.IsZero() && w.DoneAt.IsZero() }

// TZDBSweep is how far the jobs follow the newest time zone database that a tick
// of this installation has run with.
type TZDBSweep struct {
	Version   string    // such as "2025c"; empty = none was noted yet
	NotedAt   time.Time // first tick with it
	OtherAt   time.Time // last tick since with an older one; zero = none
	Walk      Walk      // the current or last walk
	Walks     int       // begun with this version
	Moved     int       // jobs whose next time moved, by all walks with this version
	Withdrawn int       // executions made ahead whose time is gone
}

// SweepSettle is for how long a new version may share the installation with the
// one before: a scan of the old build can move a job by the old database until
// then, so the jobs are looked at once more.
const SweepSettle = 15 * time.Minute

// Settled reports whether every job goes by the noted version: the last walk
// left nothing, and began when nobody could run with another any more.
func (t TZDBSweep) Settled() bool {
	w := t.Walk
	return t.Version != "" && !w.DoneAt.IsZero() && w.Left == 0 && !w.BegunAt.Before(t.NotedAt.Add(SweepSettle)) && t.OtherAt.Before(w.BegunAt)
}

// PurgeSweep is how far the daily purge of deleted jobs has come.
type PurgeSweep struct {
	Walk   Walk
	Purged int // by all walks
}

// Sweeps is the one record of the walks over all jobs.
type Sweeps struct {
	Step  int64 // raised by each write of it
	TZDB  TZDBSweep
	Purge PurgeSweep
}
