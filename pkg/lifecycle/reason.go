package lifecycle

import "github.com/belfry-scheduler/belfry/pkg/job"

// The closed list of reasons. Timeline, log, metric label, API and console
// share these words; Sentence renders them for people.
const (
	Materialised    job.Reason = "MATERIALISED"
	CaughtUp        job.Reason = "CAUGHT_UP"
	Backfilled      job.Reason = "BACKFILLED"
	ManualRun       job.Reason = "MANUAL_RUN"
	Replayed        job.Reason = "REPLAYED"
	FannedOut       job.Reason = "FANNED_OUT"
	ChildrenEnded   job.Reason = "CHILDREN_ENDED"
	ChildrenFailed  job.Reason = "CHILDREN_FAILED"
	ParentEnded     job.Reason = "PARENT_ENDED"
	Claimed         job.Reason = "CLAIMED"
	TakenOver       job.Reason = "TAKEN_OVER"
	Done            job.Reason = "DONE"
	FoundDone       job.Reason = "FOUND_DONE"
	HandlerError    job.Reason = "HANDLER_ERROR"
	HandlerPanic    job.Reason = "HANDLER_PANIC"
	Throttled       job.Reason = "THROTTLED"
	TimedOut        job.Reason = "TIMED_OUT"
	Permanent       job.Reason = "PERMANENT"
	WorkerStopped   job.Reason = "WORKER_STOPPED"
	AttemptsUsedUp  job.Reason = "ATTEMPTS_USED_UP"
	MaxAge          job.Reason = "MAX_AGE"
	MaxRun          job.Reason = "MAX_RUN"
	LeaseLost       job.Reason = "LEASE_LOST"
	Poison          job.Reason = "POISON"
	RedrivesUsedUp  job.Reason = "REDRIVES_USED_UP"
	CancelRequested job.Reason = "CANCEL_REQUESTED"
	Superseded      job.Reason = "SUPERSEDED"
	JobPaused       job.Reason = "JOB_PAUSED"
	JobEdited       job.Reason = "JOB_EDITED"
	JobResumed      job.Reason = "JOB_RESUMED"
	JobDeleted      job.Reason = "JOB_DELETED"
	JobSuspended    job.Reason = "JOB_SUSPENDED"
	Misfire         job.Reason = "MISFIRE"
	Coalesced       job.Reason = "COALESCED"
	Overlap         job.Reason = "OVERLAP"
	StartDeadline   job.Reason = "START_DEADLINE"
	Uncertain       job.Reason = "UNCERTAIN"
	Reviewed        job.Reason = "REVIEWED"
	RetryAsked      job.Reason = "RETRY_ASKED"
	ZoneGone        job.Reason = "ZONE_GONE"
	ScheduleInvalid job.Reason = "SCHEDULE_INVALID"
	Restored        job.Reason = "RESTORED"
)

var sentences = map[job.Reason]string{
	Materialised:    "made ahead of its scheduled time",
	CaughtUp:        "its time had passed unseen; the misfire policy runs it late",
	Backfilled:      "a backfill made it for a time that had passed",
	ManualRun:       "a person asked for it",
	Replayed:        "a person asked to repeat an earlier execution",
	FannedOut:       "an execution handed it this part of its work",
	ChildrenEnded:   "all children of an execution have ended",
	ChildrenFailed:  "more children failed than may",
	ParentEnded:     "the execution that it is a child of did not succeed",
	Claimed:         "a worker took it",
	TakenOver:       "the lease of the last worker had passed; another worker took it over",
	Done:            "the handler finished",
	FoundDone:       "an earlier attempt had taken effect unheard; the handler found that out before it tried again",
	HandlerError:    "the handler returned an error",
	HandlerPanic:    "the handler panicked",
	Throttled:       "the target asked to be called later",
	TimedOut:        "the attempt took longer than its timeout",
	Permanent:       "the handler said that trying again cannot help",
	WorkerStopped:   "the worker was told to stop and gave the attempt back",
	AttemptsUsedUp:  "every allowed attempt failed",
	MaxAge:          "the first attempt began longer ago than retries are allowed to go on",
	MaxRun:          "its attempts together ran as long as they may",
	LeaseLost:       "too many attempts lost their worker",
	Poison:          "the attempt killed its worker although it ran alone",
	RedrivesUsedUp:  "it was dispatched again and again and never taken",
	CancelRequested: "a person asked to cancel it",
	Superseded:      "a later change of the job replaced it before it began",
	JobPaused:       "the job was paused",
	JobEdited:       "the job was edited",
	JobResumed:      "the job was resumed",
	JobDeleted:      "the job was deleted",
	JobSuspended:    "the job was suspended: it failed too often in a row",
	Misfire:         "the scheduled time was later than the misfire policy runs",
	Coalesced:       "a later execution stands for it: the misfire policy runs one for the whole range",
	Overlap:         "another execution of the job was still running",
	StartDeadline:   "no worker took it before its start deadline",
	Uncertain:       "it is unknown whether the last attempt took effect",
	Reviewed:        "a person decided what became of it",
	RetryAsked:      "a person asked for the next attempt at once",
	ZoneGone:        "the time zone of the schedule is no longer known",
	ScheduleInvalid: "the stored schedule can no longer be read",
	Restored:        "the tables were restored from a backup; this is what became of it then",
}

// Reasons lists every reason in the order in which they are documented.
var Reasons = []job.Reason{Materialised, CaughtUp, Backfilled, ManualRun, Replayed, FannedOut, ChildrenEnded, ChildrenFailed, ParentEnded, Claimed, TakenOver, Done, FoundDone, HandlerError, HandlerPanic, Throttled,
	TimedOut, Permanent, WorkerStopped, AttemptsUsedUp, MaxAge, MaxRun, LeaseLost, Poison, RedrivesUsedUp, CancelRequested, Superseded,
	JobPaused, JobEdited, JobResumed, JobDeleted, JobSuspended, Misfire, Coalesced, Overlap, StartDeadline, Uncertain, Reviewed, RetryAsked, ZoneGone, ScheduleInvalid, Restored}

// Sentence says in words what reason r means; an empty or unknown reason gives "".
func Sentence(r job.Reason) string { return sentences[r] }
