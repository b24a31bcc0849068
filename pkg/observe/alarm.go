package observe

import "time"

// Alarm is a state that somebody is told of, with the page that says what to do
// then. It measures its last series; those before it are what that one is
// computed from. One with All measures nothing: it rings when all of those do.
type Alarm struct {
	Name    string // after the installation's prefix
	Says    string // what is wrong and what it means, in a sentence or two
	Runbook string // page of docs/runbooks, without its ending
	Series  []Series
	Period  time.Duration // of one data point
	AtLeast float64       // the value that is wrong, or more
	Below   float64       // instead of AtLeast: less than this is wrong, and so is silence
	For     int           // how many data points must be wrong
	Of      int           // out of how many; zero = For
	All     []string      // names of alarms that must all ring
	Part    bool          // it is only there for an alarm with All, and tells nobody
}

// runbooks is where the pages are read.
const runbooks = "https://github.com/belfry-scheduler/belfry/blob/main/docs/runbooks/"

// RunbookURL is the address of a page of docs/runbooks, for the descriptions of
// alarms.
func RunbookURL(page string) string { return runbooks + page + ".md" }

// Description is what a person reads who is paged.
func (a Alarm) Description() string { return a.Says + " What to do: " + RunbookURL(a.Runbook) }

// The budget: one start in a thousand may be late. Burnt 14.4 times as fast, an
// hour spends a fiftieth of a month's budget; six times as fast, five days spend
// all of it.
const (
	budget   = 0.1 // per cent
	fastBurn = 14.4 * budget
	slowBurn = 6 * budget
)

// Alarms are those that measure figures of the list. What AWS measures of one
// queue, table or function is watched where that one is made; PartAlarms lists
// these.
func Alarms(s Site) []Alarm {
	alarms := append(burns(), found()...)
	alarms = append(alarms, ends()...)
	if !s.TickOff {
		alarms = append(alarms, Alarm{Name: "tick-missing", Runbook: "tick-missing", Says: "No minute was fanned out for three minutes: nothing new becomes due.",
			Series: []Series{own(&Ticks.Metric, "ticks")}, Period: time.Minute, Below: 1, For: 3})
	}
	return append(alarms, Alarm{Name: "figures-refused", Runbook: "figures-refused", Says: "CloudWatch refuses the figures of executions, so the alarms about them are blind.",
		Series: []Series{awsOwn("AWS/Logs", "EMFValidationErrors", "Sum", "refused", Property{"LogGroupName", "/aws/lambda/" + s.Record})},
		Period: 5 * time.Minute, AtLeast: 1, For: 2, Of: 3})
}

// burns measure the budget over a short and a long window each: the long one
// says that it matters, the short one that it still goes on.
func burns() []Alarm {
	burn := func(window string, period time.Duration, rate float64) Alarm {
		return Alarm{Name: "slo-burn-" + window, Runbook: "slo-burn", Says: "Too many executions started more than 30 s late, over " + window + ".", Part: true,
			Series: []Series{own(&LateStarts.Metric, "").named("late"), own(&StartLag.Metric, "").at("SampleCount").named("starts"),
				math("IF(late > 2, 100 * late / starts, 0)", "late, of 100")}, Period: period, AtLeast: rate, For: 1}
	}
	return []Alarm{
		burn("5m", 5*time.Minute, fastBurn), burn("1h", time.Hour, fastBurn), burn("30m", 30*time.Minute, slowBurn), burn("6h", 6*time.Hour, slowBurn),
		{Name: "slo-burn-fast", Runbook: "slo-burn", Says: "Executions start more than 30 s late, so many that a month's error budget is gone in two days.", All: []string{"slo-burn-5m", "slo-burn-1h"}},
		{Name: "slo-burn-slow", Runbook: "slo-burn", Says: "Executions start more than 30 s late, so many that a month's error budget is gone in five days.", All: []string{"slo-burn-30m", "slo-burn-6h"}},
	}
}

func found() []Alarm {
	return []Alarm{
		{Name: "oldest-overdue", Runbook: "oldest-overdue", Says: "A job is more than a minute overdue and has no execution yet: scans do not keep up, or one job cannot be written.",
			Series: []Series{own(&Overdue.Metric, "most overdue")}, Period: time.Minute, AtLeast: 60_000, For: 3, Of: 5},
		{Name: "scan-delay", Runbook: "scan-trouble", Says: "Scan messages wait for more than 30 s; beyond 90 s they are dropped and that minute's shards go unscanned.",
			Series: []Series{own(&ScanDelay.Metric, "oldest")}, Period: time.Minute, AtLeast: 30_000, For: 3, Of: 5},
		{Name: "scans-failed", Runbook: "scan-trouble", Says: "Scans fail minute after minute: what is due in their shards is found late.",
			Series: []Series{own(&ScansFailed.Metric, "failed")}, Period: time.Minute, AtLeast: 1, For: 3, Of: 5},
		{Name: "scans-lost", Runbook: "scan-trouble", Says: "More than a quarter of the scans that ticks send never go through: nobody takes them, they run out of time, or they wait until they are dropped.",
			Series: []Series{own(&ScansSent.Metric, "").named("sent"), own(&ScansCompleted.Metric, "").named("completed"),
				math("IF(sent > 0, 100 * (1 - FILL(completed, 0) / sent), 0)", "lost, of 100")}, Period: 5 * time.Minute, AtLeast: 25, For: 2, Of: 3},
		{Name: "clock-skew", Runbook: "clock-skew", Says: "A machine that scans has a clock that is off by 5 s or more: it finds times too early or too late.",
			Series: []Series{own(&ClockSkew.Metric, "off")}, Period: time.Minute, AtLeast: 5_000, For: 2, Of: 3},
		{Name: "missed", Runbook: "missed", Says: "Scheduled times passed unseen and their jobs' policies do not run them any more.",
			Series: []Series{{Metric: &Missed.Metric, Stat: Missed.Stat, Split: Reason, Value: "MISFIRE", Label: "missed"}}, Period: 5 * time.Minute, AtLeast: 1, For: 1},
	}
}

func ends() []Alarm {
	return []Alarm{
		{Name: "dead-rate", Runbook: "dead-rate", Says: "More than one in twenty executions ends DEAD: Belfry gave up on them, and each needs a person.",
			Series: []Series{own(&Dead.Metric, "").named("dead"), own(&Succeeded.Metric, "").named("succeeded"), own(&Failed.Metric, "").named("failed"),
				math("IF(FILL(dead, 0) > 4, 100 * dead / (dead + FILL(succeeded, 0) + FILL(failed, 0)), 0)", "dead, of 100")},
			Period: 5 * time.Minute, AtLeast: 5, For: 3, Of: 4},
		{Name: "leases-lost", Runbook: "leases-lost", Says: "Workers are lost in the middle of attempts: they crash, are killed, or cannot reach DynamoDB.",
			Series: []Series{own(&LeasesLost.Metric, "lost")}, Period: 5 * time.Minute, AtLeast: 10, For: 2, Of: 3},
	}
}

// PartAlarm is a kind of alarm that is made together with what it watches.
type PartAlarm struct {
	Name    string // with the part's name in angle brackets
	Runbook string
	Says    string
}

// PartAlarms lists the kinds.
var PartAlarms = []PartAlarm{
	{"<pool>-dlq-not-empty", "dead-letters", "Messages stay in a dead-letter queue."},
	{"<pool>-oldest", "queue-oldest", "The oldest message of a pool's queue has waited for long."},
	{"<pool>-isolation-oldest", "queue-oldest", "The same of its isolation queue."},
	{"tick-signal-oldest", "scan-trouble", "Signals wait in the tick queue."},
	{"scan-signal-oldest", "scan-trouble", "Signals wait in the scan queue."},
	{"<function>-errors", "function-errors", "A function ends in errors."},
	{"record-behind", "record-behind", "The lists and figures are more than five minutes behind."},
	{"schedule-dropped", "tick-missing", "EventBridge could not invoke the tick."},
	{"failures-not-empty", "failures", "An invocation of tick or record was given up."},
	{"archive-behind", "archive-behind", "Changes are not archived for 15 minutes."},
	{"archive-failures-not-empty", "archive-failures", "A part of a stream was given up and is not in the archive."},
	{"throttled-<table or index>", "throttled", "A table or index throttles writes."},
}
