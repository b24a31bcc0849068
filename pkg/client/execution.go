package client

import "github.com/belfry-scheduler/belfry/pkg/job"

// Execution is one logical execution, or the record of a range of scheduled
// times that share a disposition (Kind "range").
type Execution struct {
	ID           string     `json:"id" example:"nightly~20260712T013000Z~v3" doc:"Readable id; it carries job, key and current revision"`
	Job          string     `json:"job"`
	Kind         string     `json:"kind" enum:"scheduled,manual,replay,range,child,reduce"`
	ScheduledAt  Time       `json:"scheduled_at" format:"date-time"`
	DueAt        Time       `json:"due_at" nullable:"true" format:"date-time" doc:"When it is due, of a job with jitter: its slot after the scheduled time; null = at the scheduled time"`
	CoversFrom   Time       `json:"covers_from" nullable:"true" format:"date-time" doc:"Where its data interval begins, when it stands for a range of missed times (COALESCE); null = at the scheduled time before"`
	Status       job.Status `json:"status" enum:"SCHEDULED,RUNNING,RETRY_WAIT,SUCCEEDED,FAILED,DEAD,CANCELED,SKIPPED,MISSED,WITHDRAWN,NEEDS_REVIEW"`
	Ready        bool       `json:"ready" doc:"True while it could be claimed now: SCHEDULED or RETRY_WAIT, and its time has come"`
	Attempt      int        `json:"attempt" doc:"Attempts begun, lost ones included"`
	Lost         int        `json:"lost" doc:"Attempts whose worker was lost"`
	Revision     int        `json:"revision" doc:"Revision of the job that it runs"`
	Pool         string     `json:"pool"`
	Type         Text       `json:"type" nullable:"true" doc:"The job's type when it was made; null = none"`
	Target       Text       `json:"target" nullable:"true" doc:"Kind of the job's target when it was made"`
	CreatedAt    Time       `json:"created_at" nullable:"true" format:"date-time"`
	AvailableAt  Time       `json:"available_at" nullable:"true" format:"date-time" doc:"No claim before this"`
	StartedAt    Time       `json:"started_at" nullable:"true" format:"date-time" doc:"Start of the first attempt"`
	FinishedAt   Time       `json:"finished_at" nullable:"true" format:"date-time" doc:"When it ended for good"`
	FencingToken *int64     `json:"fencing_token" nullable:"true" doc:"Token of the latest attempt; null before the first"`
	Owner        Text       `json:"owner" nullable:"true" doc:"Worker that holds the lease"`
	LeaseUntil   Time       `json:"lease_until" nullable:"true" format:"date-time"`
	Reason       Text       `json:"reason" nullable:"true" doc:"Word of the closed list of reasons"`
	ReasonText   Text       `json:"reason_text" nullable:"true" doc:"The reason in words"`
	ErrorCode    Text       `json:"error_code" nullable:"true" doc:"Code of the last error"`
	ErrorText    Text       `json:"error_text" nullable:"true" doc:"First part of the last error's text"`
	Cancel       *Cancel    `json:"cancel" doc:"Request to stop it while it runs; null = none"`
	Range        *Range     `json:"range" doc:"What a record of kind range covers; null otherwise"`
	ReplayOf     Text       `json:"replay_of" nullable:"true" doc:"Id of the execution that this one repeats"`
	Origin       Text       `json:"origin" nullable:"true" doc:"Of a replay of a replay: id of the first execution of the chain, whose scheduled time and idempotency key all have"`
	ReplayedBy   []string   `json:"replayed_by" nullable:"false" doc:"Ids of its replays that a person asked for"`
	InputDigest  Text       `json:"input_digest" nullable:"true" doc:"SHA-256 of the payload that it ran with, in hex; of FAILED, DEAD and NEEDS_REVIEW only; null = it has no payload"`
	PayloadRef   Text       `json:"payload_ref" nullable:"true" doc:"Where the payload lies that this run was given in place of the job's own; null = it has the job's"`
	PayloadSum   Text       `json:"payload_sum" nullable:"true" doc:"SHA-256, in hex, of the payload that the first attempt found at its reference: every attempt gets exactly that one; null = nothing was pinned"`
	Stack        Text       `json:"stack" nullable:"true" doc:"The last error in full with the stack of a panic, up to 4 KB; of FAILED, DEAD and NEEDS_REVIEW only, and not in lists; null = error_text is all of it"`
	Resolution   *Verdict   `json:"resolution" doc:"How a person closed it as a dead letter; null = nobody has"`
	Review       *Verdict   `json:"review" doc:"How a person ended the doubt about it; null = nobody has, or there was none"`
	Actor        Text       `json:"actor" nullable:"true" doc:"Who asked for a manual run or replay"`
	FanOut       *FanOut    `json:"fan_out" doc:"What is known of its children; null = it has none, and in lists"`
	Backfill     Text       `json:"backfill" nullable:"true" doc:"Id of the backfill that made it; null = none did"`
}

// Cancel is a request to stop a running execution.
type Cancel struct {
	At       Time   `json:"at" format:"date-time"`
	By       string `json:"by"`
	Declined bool   `json:"declined" doc:"True when the handler that runs has said that it cannot be canceled: it runs to its end, and no retry begins"`
}

// FanOut is what is known of an execution's children.
type FanOut struct {
	Children   int    `json:"children" doc:"How many there are"`
	Failed     int    `json:"failed" doc:"Children that ended without success, as told so far"`
	MayFail    int    `json:"may_fail" doc:"Children that may fail before the rest is canceled"`
	Made       bool   `json:"made" doc:"True once all of them are on their way"`
	Ended      bool   `json:"ended" doc:"True once all of them have ended"`
	Handler    string `json:"handler" doc:"Handler that each of them runs"`
	Reduce     Text   `json:"reduce" nullable:"true" doc:"Handler that runs once all have ended; null = none does"`
	ReduceID   Text   `json:"reduce_id" nullable:"true" doc:"Id of the execution that runs it, made once all have ended; null = none does"`
	CanceledBy Text   `json:"canceled_by" nullable:"true" doc:"Who canceled those that had not ended; belfry when too many failed, or their parent did; null = nobody has"`
}

// Range is a span of scheduled times, both ends included.
type Range struct {
	From  Time `json:"from" format:"date-time"`
	To    Time `json:"to" format:"date-time"`
	Count int  `json:"count" doc:"Scheduled times in it"`
}

// Entry is one line of an execution's timeline. Status is READY for the view of
// an execution whose time had come before a worker took it; nothing was written
// then.
type Entry struct {
	At           Time   `json:"at" format:"date-time"`
	Status       string `json:"status" enum:"SCHEDULED,READY,RUNNING,RETRY_WAIT,SUCCEEDED,FAILED,DEAD,CANCELED,SKIPPED,MISSED,WITHDRAWN,NEEDS_REVIEW"`
	Attempt      int    `json:"attempt"`
	FencingToken *int64 `json:"fencing_token" nullable:"true"`
	Reason       Text   `json:"reason" nullable:"true"`
	ReasonText   Text   `json:"reason_text" nullable:"true"`
	Actor        Text   `json:"actor" nullable:"true"`
	ErrorCode    Text   `json:"error_code" nullable:"true"`
}
