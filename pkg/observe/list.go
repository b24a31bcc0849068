package observe

// The functions that emit.
const (
	fromRecord     = "record"
	fromScan       = "scan"
	fromTick       = "tick"
	fromDeadLetter = "deadletter"
	fromArchive    = "archive"
	fromWork       = "work"
)

var (
	byPool        = []Dimension{Pool}
	byPoolAndType = []Dimension{Pool, Type}
	byWhatRuns    = []Dimension{Pool, Type, Target}
)

func timer(name, from string, by []Dimension, stat, means string) Timer {
	return Timer{Metric{Name: name, Unit: Milliseconds, Means: means, By: by, From: from, Stat: stat}}
}

func counter(name, from string, by []Dimension, means string) Counter {
	return Counter{Metric{Name: name, Unit: Count, Means: means, By: by, From: from, Stat: "Sum"}}
}

// The figures of single executions, out of the stream of the executions table.
var (
	StartLag = timer("start_lag", fromRecord, byPoolAndType, "p99",
		"From the scheduled time to the start of the first attempt. The service level objective is about this one. Scheduled executions only.")
	LateStarts = counter("late_starts", fromRecord, nil,
		"Executions whose start_lag was more than 30 s: those that burn the error budget. Zero when all were in time.")
	ScheduleLag = timer("schedule_lag", fromRecord, nil, "p99",
		"How long after its scheduled time an execution was stored; 0 when it was stored ahead, as it should be.")
	QueueWait = timer("queue_wait", fromRecord, byPoolAndType, "p99",
		"From the moment an attempt could begin (its time had come, or its retry) to its start. Takeovers are left out.")
	RunDuration = timer("run_duration", fromRecord, byWhatRuns, "p99",
		"From the start of an attempt to its end, as the worker that ran it recorded both.")
	Succeeded = counter("succeeded", fromRecord, byPoolAndType, "Executions that ended SUCCEEDED.")
	Failed    = counter("failed", fromRecord, byWhatRuns, "Executions that ended FAILED: the handler said that trying again cannot help.")
	Dead      = counter("dead", fromRecord, []Dimension{Pool, Type, Reason}, "Executions that ended DEAD: Belfry gave up, for the reason named.")
	Canceled  = counter("canceled", fromRecord, nil, "Executions that ended CANCELED: a person asked.")
	Missed    = counter("missed", fromRecord, []Dimension{Reason},
		"Scheduled times that were not run and will not be, for the reason named. A ranged record counts every time in it.")
	Retries    = counter("retries", fromRecord, []Dimension{Pool, Reason}, "Attempts that failed and will be tried again, for the reason named.")
	Takeovers  = counter("takeovers", fromRecord, nil, "Running executions that another worker took over because the lease had passed.")
	LeasesLost = counter("leases_lost", fromRecord, byPool, "Attempts whose worker was lost: its lease passed before it settled.")
)

// The figures of finding what is due.
var (
	Ticks            = counter("ticks", fromTick, nil, "Minutes that were fanned out to the scans. One a minute.")
	ScansSent        = counter("scans_sent", fromTick, nil, "Scan messages that a tick sent, one a range of shards.")
	ScansCompleted   = counter("scans_completed", fromScan, nil, "Scans that went through. Far fewer than were sent: scans are lost, run out of time, fail or are dropped.")
	ScanDelay        = timer("scan_delay", fromScan, nil, "Maximum", "Age of a scan message when its scan began. Beyond 90 s the message is dropped.")
	DueJobs          = counter("due_jobs", fromScan, nil, "Jobs that a scan found due inside the horizon of 300 s.")
	LateJobs         = counter("late_jobs", fromScan, nil, "Jobs among them whose time had already passed: found too late to start on the second.")
	Overdue          = timer("overdue", fromScan, nil, "Maximum", "How far the most overdue job of a scan is behind; 0 when none is.")
	ScansRedelivered = counter("scans_redelivered", fromScan, nil, "Scan messages that came more than once. Their queue keeps them no longer than it hides them, so these are few: "+
		"SQS delivered twice, or the function was throttled. What is lost shows as scans_sent without scans_completed.")
	TimesMoved  = counter("times_moved", fromTick, nil, "Jobs whose next time moved because a build with a newer time zone database began to tick. Zero while a sweep finds none.")
	JobsPurged  = counter("jobs_purged", fromTick, nil, "Deleted jobs whose definition went, since nothing of their history is left. Told by the daily sweep.")
	ClockSkew   = timer("clock_skew", fromScan, nil, "Maximum", "By how much a scanner's clock is off at least, by what AWS says of the time in its answers; 0 when nothing shows that it is.")
	ScansFailed = counter("scans_failed", fromScan, nil, "Scans that did not go through, so that their message stays in the queue.")
)

// The figures of messages that were received too often.
var (
	Redriven = counter("redriven", fromDeadLetter, nil, "Messages of a dead-letter queue that were taken up: over, ended, or woken again. "+
		"A container worker that takes them itself, which none of a deployment does, tells no figures.")
	DeadLettersKept = counter("dead_letters_kept", fromDeadLetter, nil, "Messages that stay in a dead-letter queue: unreadable, of a newer build, or not carried through.")
)

// BreakerOpen is the figure of the workers.
var BreakerOpen = counter("breaker_open", fromWork, byPool,
	"Attempts that did not begin because the circuit breaker of what they call was open. Each is counted again whenever it comes back too early; none is lost.")

// ArchiveUnread is the figure of the archive.
var ArchiveUnread = counter("archive_unread", fromArchive, nil,
	"Records of the streams that the archive could not read and keeps as they came: of a newer build in the middle of a deployment, or broken.")

// Metrics is the list, in the order in which it is documented.
var Metrics = []*Metric{
	&StartLag.Metric, &LateStarts.Metric, &ScheduleLag.Metric, &QueueWait.Metric, &RunDuration.Metric,
	&Succeeded.Metric, &Failed.Metric, &Dead.Metric, &Canceled.Metric, &Missed.Metric, &Retries.Metric, &Takeovers.Metric, &LeasesLost.Metric,
	&Ticks.Metric, &ScansSent.Metric, &ScansCompleted.Metric, &ScanDelay.Metric, &DueJobs.Metric, &LateJobs.Metric, &Overdue.Metric, &ScansRedelivered.Metric, &ScansFailed.Metric, &ClockSkew.Metric,
	&TimesMoved.Metric, &JobsPurged.Metric,
	&Redriven.Metric, &DeadLettersKept.Metric, &ArchiveUnread.Metric, &BreakerOpen.Metric,
}

// Find is the metric of that name; nil when the list has none.
func Find(name string) *Metric {
	for _, m := range Metrics {
		if m.Name == name {
			return m
		}
	}
	return nil
}
