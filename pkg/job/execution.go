package job

import (
	"encoding/json"
	"time"
)

// Status is the stored state of an execution. The table of arrows is in
// pkg/lifecycle.
type Status string

// The statuses. READY is no status: it is SCHEDULED or RETRY_WAIT whose
// AvailableAt has passed.
const (
	Scheduled   Status = "SCHEDULED"
	Running     Status = "RUNNING"
	RetryWait   Status = "RETRY_WAIT"
	Succeeded   Status = "SUCCEEDED"
	Failed      Status = "FAILED"
	Dead        Status = "DEAD"
	Canceled    Status = "CANCELED"
	Skipped     Status = "SKIPPED"
	Missed      Status = "MISSED"
	Withdrawn   Status = "WITHDRAWN"
	NeedsReview Status = "NEEDS_REVIEW"
)

// Reason is a word of the closed list in pkg/lifecycle that says why a
// transition happened. Empty = no reason beyond the status itself.
type Reason string

// Lease is who runs an execution, and until when nobody else may.
type Lease struct {
	Owner string    // name of the worker
	Nonce string    // drawn at each claim, so that a worker recognises its own
	Until time.Time // zero when there is no lease
}

// Wake is a promise in the wake index that somebody looks at the execution
// again. Version survives everything, so a late remover cannot remove a newer
// promise.
type Wake struct {
	At      time.Time // zero = none
	Shard   string
	Version int64
}

// Cancel is a request to stop a running execution.
type Cancel struct {
	At     time.Time `json:"at"`
	By     string    `json:"by"`
	Reason Reason    `json:"reason"`
	// Declined: the handler that runs has said that it cannot be canceled. It runs to
	// its end; a retry is not begun.
	Declined bool `json:"declined,omitempty"`
}

// Range is what a record of kind range covers: every scheduled time in
// [From, To] without an execution that has begun.
type Range struct {
	From  time.Time
	To    time.Time
	Count int
}

// Execution is one logical execution, or the record of a range.
type Execution struct {
	Ref
	Key
	Revision int
	Epoch    int64
	Status   Status
	Attempt  int // attempts begun, lost ones included; never decreases
	Lost     int // attempts whose worker was lost
	Released int // attempts given back, not counted: the worker was told to stop, or a circuit breaker was open
	Redrives int // times that the dead-letter consumer dispatched it anew
	// Doubt: an attempt timed out, lost its worker or said so itself, and none since
	// has told: it may have taken effect.
	Doubt        bool
	Pool         string
	Type         string // the job's, empty = none: only for figures and for people
	Target       string // kind of the job's target, such as webhook; the same
	CreatedAt    time.Time
	AvailableAt  time.Time
	Ran          time.Duration // by attempts that have ended, of a job that bounds it (Retry.MaxRun)
	Slot         time.Duration // how long after its scheduled time it is due, of a job with jitter; zero = at it
	StartedAt    time.Time     // start of the first attempt
	FinishedAt   time.Time     // terminal settle
	Lease        Lease
	FencingToken int64
	Reason       Reason
	ErrorCode    string
	ErrorText    string // first bytes of the last error, for people
	Stack        string // the last error in full, with the stack of a panic; only of what waits for a person, and only when ErrorText does not hold it all
	Cancel       *Cancel
	Wake         Wake
	Range        *Range
	Covers       time.Time // where its data interval begins, when it stands for more than one scheduled time; zero = at the time before
	Timeline     []Entry
	Dropped      int             // timeline entries that fell out into history items
	ReplayOf     string          // id of the execution that this one repeats: of a replay of a replay, the first one
	ReplayedFrom string          // id of the replay that this one replays; empty = it replays ReplayOf itself
	ReplayedBy   []string        // ids of its replays that a person asked for, in no order
	Resolution   *Resolution     // how a person closed a dead letter; nil = nobody has
	Review       *Resolution     // how a person ended the doubt about it; nil = nobody has, or there was none
	FromScratch  bool            // as a replay it does not go on from a checkpoint of what it repeats
	Input        json.RawMessage // a child's own payload; empty = none
	FannedOut    bool            // it has children, or was about to
	Backfill     string          // id of the backfill that made it; empty = none
	PayloadRef   string          // where the payload of a manual run lies that was given one of its own; empty = the job's
	PayloadSum   string          // SHA-256 in hex of what the first attempt found at its reference; empty = none has, or the reference itself tells
	Actor        string          // who asked for a manual run, a replay or a backfill
	Schema       int
}

// ID is the execution's readable id under its current revision.
func (e *Execution) ID() string { return ID(e.Job, e.Key, e.Revision) }

// Stands is the key of the scheduled time that the execution stands for: of a
// replay, that of what it repeats.
func (e *Execution) Stands() Key {
	if name, key, _, err := ParseID(e.ReplayOf); err == nil && name == e.Job {
		return key
	}
	return e.Key
}

// DueAt is when its first attempt is due: its scheduled time, or its slot after that.
func (e *Execution) DueAt() time.Time { return e.ScheduledAt.Add(e.Slot) }

// Follows reports whether its end is not all: a child is taken off its page, and
// children of one that did not succeed are canceled. Its message, or its wake-up, is
// kept until that is done.
func (e *Execution) Follows() bool {
	return e.Kind == KindChild || e.FannedOut && e.Status != Succeeded
}

// Fenced reports whether the claim rule holds for its first attempt: it stands for
// a scheduled time of the job as it is now, unlike what a person asked for by itself.
func (e *Execution) Fenced() bool { return e.Kind == KindScheduled || e.Backfill != "" }

// Entry is one line of a timeline.
type Entry struct {
	At        time.Time
	To        Status
	Attempt   int
	Token     int64
	Reason    Reason
	Actor     string
	ErrorCode string
}

// Schema is the version of stored items and messages that this build writes
// and the highest that it reads.
const Schema = 1

// RangeRecord is the one record of many scheduled times that share a
// disposition: every time in Range without an execution that has begun.
type RangeRecord struct {
	Ref      Ref
	Range    Range
	Revision int
	Epoch    int64
	Pool     string
	Status   Status
	Reason   Reason
	At       time.Time
}
