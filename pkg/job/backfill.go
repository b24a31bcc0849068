package job

import "time"

// BackfillState is what a backfill is doing. The last two are ends.
type BackfillState string

// The states of a backfill.
const (
	BackfillRunning  BackfillState = "RUNNING"
	BackfillDone     BackfillState = "DONE" // every time of it has begun, or was passed over
	BackfillCanceled BackfillState = "CANCELED"
)

// Bounds of a backfill.
const (
	MaxBackfill         = 100_000 // scheduled times of one backfill
	DefaultBackfillRate = 1.0     // executions a second
	MinRate             = 0.001   // of a backfill and of a drain rate, executions a second
	MaxRate             = 10.0    // the same: 600 a minute, which one scan can release
)

// Backfill makes the executions of scheduled times that have passed, at a rate. It
// is a cursor over the times of one revision in [From, To], which the scan works off.
type Backfill struct {
	Ref
	ID       string // a ULID
	State    BackfillState
	From, To time.Time // first and last scheduled time
	Total    int       // scheduled times from From to To
	Revision int       // whose schedule and definition
	Rate     float64   // executions a second
	Rerun    bool      // also times that have an execution
	Reason   Reason    // why its executions are made
	Actor    string    // who asked; empty = a misfire policy
	// Kept is how long the history of executions is kept: of a time longer ago
	// nothing is known, and so nothing is made. Zero: make it all the same.
	Kept Duration

	Cursor     time.Time // first time not yet looked at; zero = none is left
	Settled    time.Time // every time up to it has begun, ended or was passed over; zero = none yet
	Paced      time.Time // from when on the next execution may begin
	LookedBack time.Time // when lost messages were last made good
	Made       int       // executions made, under way and ended ones included
	Skipped    int       // times passed over, since they have an execution or nothing is known of them
	Step       int64     // raised by every write: its fence

	CreatedAt  time.Time
	DoneAt     time.Time // zero while it runs
	EndReason  Reason    // why it was canceled
	EndedBy    string    // who canceled it
	NextFireAt time.Time // when the scan has something to do for it; zero when it has ended
	Schema     int
}

// BackfillChange is one write of a backfill: from Old to New and, when a person
// asked for it, the audit entry, all or nothing.
type BackfillChange struct {
	Old   *Backfill // nil: it must not exist yet
	New   Backfill
	Audit *Audit // nil = none
}

// Due is one entry of the due index: a job whose cursor is due or, when Backfill
// is set, one of its backfills.
type Due struct {
	Ref      Ref
	Backfill string // id; empty = the job itself
	At       time.Time
}
