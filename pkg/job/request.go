package job

import "time"

// The values that the planes hand to the store and the queue. They live here
// because those rooms know the nouns but no plane.

// HeadChange is one verb's write: HEAD from Old to New, the new revision when
// there is one, and the audit entry, all or nothing.
type HeadChange struct {
	Old      *Head // nil: the job must not exist yet
	New      Head
	Revision *Revision // nil: the content stays
	// Fresh are the calendars that were read for this change: they must still be of
	// their versions.
	Fresh   []PinnedCalendar
	Waiting *Revision // what takes over at its CarryUntil, without a number yet; nil: none, or it stays
	Verb    string
	Actor   string
	At      time.Time
	// AtCursor also demands the cursor of Old, and that no plan and no gap stands in
	// the head: for a change that is worked out from them.
	AtCursor bool
}

// ClaimRequest is one attempt to take an execution.
type ClaimRequest struct {
	Ref   Ref
	Key   Key
	Epoch int64 // of the message
	Owner string
	Nonce string
	Now   time.Time
	Until time.Time // end of the lease
	// Seen is the state that the claim is decided on. Nil: the first attempt of
	// an execution that nobody has read, allowed while it is SCHEDULED under
	// Epoch, available, never begun and not canceled.
	Seen *Execution
	// Ran is how long all attempts before have run, where a takeover adds to it;
	// zero = what the execution says already.
	Ran time.Duration
}

// Parcel is one execution to be sent to its pool's queue.
type Parcel struct {
	Ref          Ref
	Key          Key
	Epoch        int64
	RestoreEpoch int64
	Pool         string
	NotBefore    time.Time // when it is due or available again
	Isolated     bool      // to the pool's isolation queue
}

// ExecutionQuery selects executions for a list.
type ExecutionQuery struct {
	Ref      Ref // Job empty: of the whole tenant
	Statuses []Status
	Before   time.Time // only scheduled times up to this; zero = no bound
	Cursor   string    // of the page before; empty = from the start
	Limit    int       // 1 to 1000
}

// Audit is one entry of who did what to a job, or to one of its executions.
type Audit struct {
	At        time.Time
	Ref       Ref
	Verb      string
	Actor     string
	Epoch     int64
	Revision  int
	Execution string // id of the execution that the verb was about; empty = the job
	Note      string // a person's
}

// Advance moves a job's cursor.
type Advance struct {
	Head        *Head     // as read: the condition is its epoch and cursor
	Next        time.Time // the new cursor; zero = none, the job is COMPLETED
	Last        time.Time // last scheduled time advanced over
	Planned     bool      // over the late plan in the head; else there must be none
	SettledUpto time.Time // from a look-back; zero = unchanged
}
