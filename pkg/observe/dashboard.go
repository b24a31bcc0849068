package observe

import (
	"strconv"
	"strings"
)

// View is how a widget shows its series.
type View string

// The views.
const (
	Lines   View = "lines"
	Stacked View = "stacked"
	Numbers View = "numbers"
	States  View = "states" // of alarms, in place of series
)

// Section is a heading of the dashboard and the widgets below it, which fill
// rows of 24 columns.
type Section struct {
	Title   string
	Says    string // what to look for, in a sentence
	Widgets []Widget
}

// Widget is one picture.
type Widget struct {
	Title  string
	View   View
	Width  int    // in columns of 24
	Unit   string // of the axis; empty = a count
	Series []Series
	Alarms []string // with States: their names after the installation's prefix
}

// Dashboard is what an installation shows of itself, from what people are
// promised down to what AWS provides. Every metric of the list is in it.
func Dashboard(s Site) []Section {
	return []Section{promise(s), finding(), waiting(s), running(), kinds(), trouble(), beneath(s)}
}

const inTime = "100 * (1 - FILL(late, 0) / starts)"

func promise(s Site) Section {
	var letters []Series
	var sum []string
	for n, p := range s.Pools {
		id := "dlq" + strconv.Itoa(n)
		letters = append(letters, awsOwn("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", p.Name, Property{"QueueName", p.DeadLetter}).named(id))
		sum = append(sum, "FILL("+id+", 0)")
	}
	return Section{Title: "What is promised", Says: "99.9 % of executions start within 30 s of their scheduled second, and none is forgotten.", Widgets: []Widget{
		{Title: "Alarms", View: States, Width: 24, Alarms: rung(s)},
		{Title: "Started in time", View: Numbers, Width: 5, Unit: "%", Series: []Series{own(&LateStarts.Metric, "").named("late"),
			own(&StartLag.Metric, "").at("SampleCount").named("starts"), math(inTime, "within 30 s")}},
		{Title: "Succeeded", View: Numbers, Width: 5, Unit: "%", Series: []Series{own(&Succeeded.Metric, "").named("succeeded"), own(&Failed.Metric, "").named("failed"),
			own(&Dead.Metric, "").named("dead"), math("100 * FILL(succeeded, 0) / "+ended, "of those that ended")}},
		{Title: "Start lag, p99", View: Numbers, Width: 4, Unit: "ms", Series: []Series{own(&StartLag.Metric, "scheduled to started")}},
		{Title: "Most overdue job", View: Numbers, Width: 5, Unit: "ms", Series: []Series{own(&Overdue.Metric, "behind, at most")}},
		{Title: "Messages in dead-letter queues", View: Numbers, Width: 5, Series: append(letters, math(strings.Join(sum, " + "), "messages"))},
		{Title: "Start lag", View: Lines, Width: 12, Unit: "ms", Series: []Series{own(&StartLag.Metric, "p50").at("p50"), own(&StartLag.Metric, "p99"), own(&StartLag.Metric, "p99.9").at("p99.9")}},
		{Title: "Start lag by pool, p99", View: Lines, Width: 12, Unit: "ms", Series: []Series{split(&StartLag.Metric, Pool)}},
	}}
}

// rung names the alarms that somebody is told of.
func rung(s Site) []string {
	var names []string
	for _, a := range Alarms(s) {
		if !a.Part {
			names = append(names, a.Name)
		}
	}
	return names
}

func finding() Section {
	return Section{Title: "Finding what is due", Says: "One tick a minute, scans that begin within seconds, and no job that is found after its time.", Widgets: []Widget{
		{Title: "Ticks a minute", View: Lines, Width: 4, Series: []Series{own(&Ticks.Metric, "ticks")}},
		{Title: "Scans", View: Lines, Width: 5, Series: []Series{own(&ScansSent.Metric, "sent"), own(&ScansCompleted.Metric, "completed")}},
		{Title: "Age of scan messages", View: Lines, Width: 5, Unit: "ms", Series: []Series{own(&ScanDelay.Metric, "oldest")}},
		{Title: "Jobs due", View: Lines, Width: 5, Series: []Series{own(&DueJobs.Metric, "due"), own(&LateJobs.Metric, "found late")}},
		{Title: "Overdue", View: Lines, Width: 5, Unit: "ms", Series: []Series{own(&Overdue.Metric, "most overdue job"), own(&ScheduleLag.Metric, "stored after its time, p99")}},
	}}
}

func waiting(s Site) Section {
	depth := Widget{Title: "Messages waiting", View: Lines, Width: 8}
	age := Widget{Title: "Oldest message", View: Lines, Width: 8, Unit: "s"}
	for _, p := range s.Pools {
		depth.Series = append(depth.Series, awsOwn("AWS/SQS", "ApproximateNumberOfMessagesVisible", "Maximum", p.Name, Property{"QueueName", p.Queue}))
		age.Series = append(age.Series, awsOwn("AWS/SQS", "ApproximateAgeOfOldestMessage", "Maximum", p.Name, Property{"QueueName", p.Queue}))
	}
	return Section{Title: "Waiting for a worker", Says: "A pool whose wait and depth grow together has too few workers.", Widgets: []Widget{
		{Title: "Wait of attempts by pool, p99", View: Lines, Width: 8, Unit: "ms", Series: []Series{split(&QueueWait.Metric, Pool)}}, depth, age,
	}}
}

func running() Section {
	return Section{Title: "Running", Says: "What handlers take, and what becomes of executions.", Widgets: []Widget{
		{Title: "Duration of attempts by pool, p99", View: Lines, Width: 6, Unit: "ms", Series: []Series{split(&RunDuration.Metric, Pool)}},
		{Title: "Succeeded by pool", View: Stacked, Width: 6, Series: []Series{split(&Succeeded.Metric, Pool)}},
		{Title: "Other ends", View: Stacked, Width: 6, Series: []Series{own(&Failed.Metric, "failed"), own(&Dead.Metric, "dead"), own(&Canceled.Metric, "canceled"),
			own(&Missed.Metric, "missed")}},
		{Title: "Per 100 ends", View: Lines, Width: 6, Series: []Series{own(&Succeeded.Metric, "").named("succeeded"), own(&Failed.Metric, "").named("failed"),
			own(&Dead.Metric, "").named("dead"), own(&Retries.Metric, "").named("retries"),
			math("100 * FILL(failed, 0) / "+ended, "failed"), math("100 * FILL(dead, 0) / "+ended, "dead"), math("100 * FILL(retries, 0) / "+ended, "retries")}},
	}}
}

// ended are the executions that ended by themselves.
const ended = "(FILL(succeeded, 0) + FILL(failed, 0) + FILL(dead, 0))"

func kinds() Section {
	return Section{Title: "By type and target", Says: "Types are those that the settings list; a job without one counts as none.", Widgets: []Widget{
		{Title: "Start lag by type, p99", View: Lines, Width: 8, Unit: "ms", Series: []Series{split(&StartLag.Metric, Type)}},
		{Title: "Wait of attempts by type, p99", View: Lines, Width: 8, Unit: "ms", Series: []Series{split(&QueueWait.Metric, Type)}},
		{Title: "Duration of attempts by type, p99", View: Lines, Width: 8, Unit: "ms", Series: []Series{split(&RunDuration.Metric, Type)}},
		{Title: "Succeeded by type", View: Stacked, Width: 6, Series: []Series{split(&Succeeded.Metric, Type)}},
		{Title: "Failed and dead by type", View: Stacked, Width: 6, Series: []Series{split(&Failed.Metric, Type).called("failed"), split(&Dead.Metric, Type).called("dead")}},
		{Title: "Duration of attempts by target, p99", View: Lines, Width: 6, Unit: "ms", Series: []Series{split(&RunDuration.Metric, Target)}},
		{Title: "Failed by target", View: Stacked, Width: 6, Series: []Series{split(&Failed.Metric, Target)}},
	}}
}

func trouble() Section {
	return Section{Title: "Trouble", Says: "Apart from a few retries, these are flat lines at zero on a good day.", Widgets: []Widget{
		{Title: "Retries by reason", View: Stacked, Width: 8, Series: []Series{split(&Retries.Metric, Reason)}},
		{Title: "Dead by reason", View: Stacked, Width: 8, Series: []Series{split(&Dead.Metric, Reason)}},
		{Title: "Missed by reason", View: Stacked, Width: 8, Series: []Series{split(&Missed.Metric, Reason)}},
		{Title: "Failed, dead and retried by pool", View: Stacked, Width: 8, Series: []Series{split(&Failed.Metric, Pool).called("failed"), split(&Dead.Metric, Pool).called("dead"),
			split(&Retries.Metric, Pool).called("retried")}},
		{Title: "Workers lost", View: Lines, Width: 8, Series: []Series{split(&LeasesLost.Metric, Pool).called("leases lost"), own(&Takeovers.Metric, "taken over")}},
		{Title: "Late starts", View: Lines, Width: 4, Series: []Series{own(&LateStarts.Metric, "more than 30 s late")}},
		{Title: "Held back by breakers", View: Stacked, Width: 4, Series: []Series{split(&BreakerOpen.Metric, Pool)}},
		{Title: "Clocks off", View: Lines, Width: 5, Unit: "ms", Series: []Series{own(&ClockSkew.Metric, "most, of a scanner")}},
		{Title: "Scans in trouble", View: Lines, Width: 5, Series: []Series{own(&ScansFailed.Metric, "failed"), own(&ScansRedelivered.Metric, "came again")}},
		{Title: "Dead letters", View: Lines, Width: 5, Series: []Series{own(&Redriven.Metric, "taken up"), own(&DeadLettersKept.Metric, "kept")}},
		{Title: "Archive", View: Lines, Width: 4, Series: []Series{own(&ArchiveUnread.Metric, "did not read")}},
		{Title: "Sweeps", View: Lines, Width: 5, Series: []Series{own(&TimesMoved.Metric, "times moved"), own(&JobsPurged.Metric, "purged")}},
	}}
}

func beneath(s Site) Section {
	throttles := Widget{Title: "DynamoDB writes throttled", View: Lines, Width: 8}
	for _, t := range s.Tables {
		of, label := []Property{{"TableName", t.Table}}, t.Table
		if t.Index != "" {
			of, label = append(of, Property{"GlobalSecondaryIndexName", t.Index}), t.Table+" "+t.Index
		}
		throttles.Series = append(throttles.Series, awsOwn("AWS/DynamoDB", "WriteThrottleEvents", "Sum", label, of...))
	}
	errors := Widget{Title: "Function errors", View: Lines, Width: 8}
	for _, f := range s.Functions {
		errors.Series = append(errors.Series, awsOwn("AWS/Lambda", "Errors", "Sum", f, Property{"FunctionName", f}))
	}
	return Section{Title: "Beneath", Says: "What AWS says of tables and functions. A throttled index rejects the writes of its table.", Widgets: []Widget{throttles, errors,
		{Title: "Stream behind", View: Lines, Width: 8, Unit: "ms", Series: []Series{awsOwn("AWS/Lambda", "IteratorAge", "Maximum", s.Record, Property{"FunctionName", s.Record})}},
	}}
}
