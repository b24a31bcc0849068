package job

import "time"

// RestorePhase is how far the repair after a restore has come.
type RestorePhase string

// The phases, in their order. The zero value is a repair that has not begun.
const (
	RestoreExecutions RestorePhase = "executions" // what had not ended gets back what keeps it
	RestoreJobs       RestorePhase = "jobs"       // every head is lifted above all that the backup has seen
	RestoreDone       RestorePhase = "done"
)

// PlaceDone says that a part of a table was walked through.
const PlaceDone = "done"

// RestoreProgress is the one record of the repair of one restore epoch. Until
// its phase is RestoreDone nothing becomes due and no verb is taken.
type RestoreProgress struct {
	Phase RestorePhase
	Step  int64 // raised by each write of it
	// Places are where the next page of each part of the phase's table begins: empty
	// = its beginning, PlaceDone = the part is done. None yet: the phase begins.
	Places []string

	Executions int // read
	Rearmed    int // executions that will run: made valid again and given a wake-up
	Withdrawn  int // executions that the restored jobs do not want
	GivenUp    int // begun executions whose job is not in the backup
	Jobs       int // heads read
	Lifted     int // heads lifted
	SetBack    int // heads whose cursor had run ahead of the executions
	BegunAt    time.Time
	DoneAt     time.Time
}

// Rearm is what a restored execution is given so that it runs on.
type Rearm struct {
	Epoch    int64     // of one that has not begun: the epoch that its head is lifted to
	Revision int       // whose definition it runs
	Pool     string    // whose queue it is sent to
	Wake     time.Time // when a scan looks at it: new queues hold no message
	At       time.Time
	Actor    string
}

// RestoreBase is the lowest epoch and fencing token of a restore epoch: the
// high part of both. All that was given out before lies below it.
func RestoreBase(epoch int64) int64 { return epoch << 32 }

// Reconciled is what one call of a reconcile did.
type Reconciled struct {
	Scanned int    // executions looked at
	Sent    int    // messages sent again
	Next    string // where the next call goes on; empty = all was looked through
}

// Part is a place in one of the parts into which a table is cut, so that several
// can be walked through at a time.
type Part struct {
	Number, Of int
	Start      string // where the next page begins; empty = the part's beginning
}
