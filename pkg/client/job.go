package client

import (
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Job is a job as the API shows it. Lists leave Definition out.
type Job struct {
	Job             string          `json:"job" doc:"Name of the job" example:"nightly"`
	State           job.State       `json:"state" enum:"ENABLED,PAUSED,SUSPENDED,BROKEN,COMPLETED,DELETED" doc:"What the job is doing"`
	Revision        int             `json:"revision" doc:"Number of the current revision, from 1; it is also the ETag"`
	Epoch           int64           `json:"epoch" doc:"Raised by every verb on the job, never reused"`
	Pool            string          `json:"pool" doc:"Pool whose workers run it"`
	Schedule        job.Schedule    `json:"schedule" doc:"When it is due"`
	NextFireAt      Time            `json:"next_fire_at" nullable:"true" format:"date-time" doc:"Next scheduled time from now; null = none"`
	CursorAt        Time            `json:"cursor_at" nullable:"true" format:"date-time" doc:"First scheduled time that has not been turned into an execution yet; some minutes ahead"`
	LastScheduledAt Time            `json:"last_scheduled_at" nullable:"true" format:"date-time" doc:"Last scheduled time that has been dealt with"`
	CreatedAt       Time            `json:"created_at" nullable:"true" format:"date-time"`
	UpdatedAt       Time            `json:"updated_at" nullable:"true" format:"date-time"`
	SwitchAt        Time            `json:"switch_at" nullable:"true" format:"date-time" doc:"When a definition that waits takes over, or the current revision, which is made up to 5 minutes ahead of that; null = none does"`
	ChangedBy       Text            `json:"changed_by" nullable:"true" doc:"Who made the last change"`
	Reason          Text            `json:"reason" nullable:"true" doc:"Why the job is in this state, when that was nobody's wish"`
	ReasonText      Text            `json:"reason_text" nullable:"true" doc:"The reason in words"`
	Definition      *job.Definition `json:"definition,omitempty" doc:"The current revision with every default filled in; left out of lists"`
	Waiting         *job.Definition `json:"waiting,omitempty" doc:"The definition that takes over at switch_at; left out of lists"`
}

// PutResult tells what a Put did or, in a dry run, would do.
type PutResult struct {
	Action      string    `json:"action" enum:"created,updated,unchanged"`
	DryRun      bool      `json:"dry_run" doc:"True when nothing was written"`
	Job         string    `json:"job"`
	State       job.State `json:"state" enum:"ENABLED,PAUSED,SUSPENDED,BROKEN,COMPLETED,DELETED"`
	Revision    int       `json:"revision" doc:"Current revision afterwards"`
	NextFireAt  Time      `json:"next_fire_at" nullable:"true" format:"date-time"`
	SwitchAt    Time      `json:"switch_at" nullable:"true" format:"date-time" doc:"When a definition that waits takes over; null = none does"`
	TakenBackAt Time      `json:"taken_back_at" nullable:"true" format:"date-time" doc:"When a definition that waited would have taken over, which this change took back; null = none waited"`
	Appear      []Time    `json:"appear" nullable:"false" doc:"Coming scheduled times that the change adds, the first 20 compared; where those are the same, the first 20 after a definition that waits, or waited, takes over"`
	Vanish      []Time    `json:"vanish" nullable:"false" doc:"Coming scheduled times that the change takes away"`
	Warnings    []Warning `json:"warnings" nullable:"false" doc:"What the schedule probably does not mean; nothing is refused for it"`
}

// Warning says what a schedule probably does not mean.
type Warning struct {
	Code    string `json:"code" doc:"Stable name" example:"UNEVEN_STEP"`
	Field   string `json:"field" doc:"Of the schedule, of the expression, or of the job"`
	Message string `json:"message" doc:"What will happen"`
	Fix     string `json:"fix" doc:"What to write if that is not meant"`
}

// Fire is one coming scheduled time.
type Fire struct {
	At    Time   `json:"at" format:"date-time"`
	Local string `json:"local" example:"2026-03-29 03:00:00 +02:00" doc:"The same instant on the schedule's wall clock, with its offset"`
	Note  Text   `json:"note" nullable:"true" doc:"What became of this time, or of those before it, in words: changes of clocks, times left out; null = nothing"`
}

// Fires answers which times a schedule has next.
type Fires struct {
	Items       []Fire            `json:"items" nullable:"false"`
	Exhausted   bool              `json:"exhausted" doc:"True when fewer times exist than were asked for"`
	Description string            `json:"description" doc:"The schedule in words, with the next changes of clocks that touch it"`
	Zone        string            `json:"zone" doc:"The zone whose wall clock it follows"`
	Gap         job.GapPolicy     `json:"gap,omitempty" enum:"SKIP,SHIFT_FORWARD" doc:"What becomes of a wall-clock time that does not exist, as given or by default; cron only"`
	Overlap     job.OverlapPolicy `json:"overlap,omitempty" enum:"FIRST,SECOND,BOTH" doc:"What becomes of one that exists twice, as given or by default; cron only"`
	Warnings    []Warning         `json:"warnings" nullable:"false" doc:"What the schedule probably does not mean"`
}

// Page is one page of a list. NextCursor is null on the last page.
type Page[T any] struct {
	Items      []T  `json:"items" nullable:"false"`
	NextCursor Text `json:"next_cursor" nullable:"true" doc:"Hand it back as cursor for the next page; null = this was the last"`
}

// Health says that the service answers.
type Health struct {
	Status  string `json:"status" enum:"ok"`
	Version string `json:"version"`
	TZDB    string `json:"tzdb" doc:"Version of the time zone database in use"`
	Time    Time   `json:"time" format:"date-time" doc:"The service's clock"`
}

// Reconciled tells what a reconcile did.
type Reconciled struct {
	Scanned    int  `json:"scanned" doc:"Executions looked at"`
	Sent       int  `json:"sent" doc:"Messages sent again"`
	NextCursor Text `json:"next_cursor" nullable:"true" doc:"Hand it back as cursor to go on; null = everything was looked through"`
}

// Shards tells which shards of the due index hold overdue jobs, the longest
// overdue first.
type Shards struct {
	Layouts []job.Layout `json:"layouts" nullable:"false" doc:"The live shard layouts"`
	Items   []Shard      `json:"items" nullable:"false"`
}

// Shard is one that holds jobs whose time has passed without an execution.
type Shard struct {
	Generation int   `json:"generation" doc:"Of its layout"`
	Number     int   `json:"number"`
	Overdue    int   `json:"overdue" doc:"Jobs whose time has passed; at most 100 are counted"`
	More       bool  `json:"more" doc:"Whether there may be more than were counted"`
	OldestJob  Text  `json:"oldest_job" nullable:"true" doc:"The most overdue one; null = it is not yours"`
	OldestAt   Time  `json:"oldest_at" format:"date-time" doc:"Its time"`
	BehindMS   int64 `json:"behind_ms" doc:"How long that is past, in milliseconds"`
}

// Restored tells how far the repair after a restore has come. The counts are of
// the whole repair so far.
type Restored struct {
	Phase      string `json:"phase" enum:"executions,jobs,done" doc:"What is being repaired"`
	Executions int    `json:"executions" doc:"Executions looked at"`
	Rearmed    int    `json:"rearmed" doc:"Executions that run on: valid again, with a wake-up in place of their message"`
	Withdrawn  int    `json:"withdrawn" doc:"Executions that had not begun and that the restored jobs do not want"`
	GivenUp    int    `json:"given_up" doc:"Executions that had begun and whose job is not in the backup; they are dead letters"`
	Jobs       int    `json:"jobs" doc:"Jobs looked at"`
	Lifted     int    `json:"lifted" doc:"Jobs lifted above all that was given out before the restore"`
	SetBack    int    `json:"set_back" doc:"Jobs whose cursor stood ahead of the restored executions"`
	BegunAt    Time   `json:"begun_at" nullable:"true" format:"date-time"`
	DoneAt     Time   `json:"done_at" nullable:"true" format:"date-time"`
}
