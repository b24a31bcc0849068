package lifecycle

import (
	"fmt"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Page is the whole of docs/states.md: both state diagrams and the list of
// reasons, drawn from the tables of this package. A test compares the two.
func Page() string {
	var b strings.Builder
	b.WriteString("# States\n\nThis page is drawn from the tables in `pkg/lifecycle`; a test refuses it when it differs from them.\n" +
		"Write it anew with `go test ./pkg/lifecycle -run TestThePage -update`.\n\n")
	b.WriteString("## An execution\n\nEach scheduled time, manual run and replay is one execution. What cannot change any more is *terminal*.\n" +
		"WITHDRAWN is void rather than terminal: a newer life of the job may make the same time again. NEEDS_REVIEW\n" +
		"waits for a person. READY is no state: it is SCHEDULED or RETRY_WAIT whose time has come. A range of missed times is\n" +
		"one record, born as MISSED.\n\n")
	b.WriteString(Diagram(ExecutionArrows, map[job.Status]string{job.Scheduled: "made ahead of its time", job.Missed: "range of missed times"}, Terminal))
	b.WriteString("\n| state | what it means |\n|---|---|\n")
	for _, s := range Statuses {
		fmt.Fprintf(&b, "| %s | %s |\n", s, statusSentences[s])
	}
	b.WriteString("\n## A job\n\nEach verb of a person raises the job's epoch, also where the state stays.\nDELETED is kept as a tombstone, so that an epoch is never used twice.\n\n")
	b.WriteString(Diagram(JobArrows, map[job.State]string{job.Enabled: "create", job.Paused: "create, paused"}, func(job.State) bool { return false }))
	b.WriteString("\n| state | what it means |\n|---|---|\n")
	for _, s := range States {
		fmt.Fprintf(&b, "| %s | %s |\n", s, stateSentences[s])
	}
	b.WriteString("\n## Reasons\n\nTimeline, log, metric labels, API and console share these words. The list is closed.\n\n| reason | what it says |\n|---|---|\n")
	for _, r := range Reasons {
		fmt.Fprintf(&b, "| %s | %s |\n", r, Sentence(r))
	}
	return b.String()
}

// Diagram draws a table of arrows as a Mermaid state diagram. births are the
// states in which things come into being, with the event; ends tells which
// states are terminal.
func Diagram[S ~string](table []Arrow[S], births map[S]string, ends func(S) bool) string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	drawn := map[S]bool{}
	var order []S
	for _, a := range table {
		for _, s := range []S{a.From, a.To} {
			if !drawn[s] {
				drawn[s] = true
				order = append(order, s)
			}
		}
	}
	for _, s := range order {
		if event, born := births[s]; born {
			fmt.Fprintf(&b, "    [*] --> %s: %s\n", s, event)
		}
	}
	for _, a := range table {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", a.From, a.To, a.Event)
	}
	for _, s := range order {
		if ends(s) {
			fmt.Fprintf(&b, "    %s --> [*]\n", s)
		}
	}
	b.WriteString("```\n")
	return b.String()
}

var statusSentences = map[job.Status]string{
	job.Scheduled:   "made, not begun",
	job.Running:     "a worker holds its lease, or has lost it and nobody has taken over yet",
	job.RetryWait:   "an attempt failed or was given back; another begins when its time has come",
	job.NeedsReview: "it is unknown whether the last attempt took effect; a person decides",
	job.Withdrawn:   "void: a change of the job replaced it before it began",
	job.Succeeded:   "the handler finished; terminal",
	job.Failed:      "the handler said that trying again cannot help; terminal, can be replayed",
	job.Dead:        "Belfry gave up; terminal, can be replayed",
	job.Canceled:    "a person stopped it; terminal",
	job.Skipped:     "the concurrency policy left it out; terminal",
	job.Missed:      "nobody could begin it in time; terminal",
}

var stateSentences = map[job.State]string{
	job.Enabled:   "its times become executions",
	job.Paused:    "a person stopped it; running executions go on",
	job.Suspended: "it failed too often in a row",
	job.Broken:    "its schedule can no longer be evaluated, as when a time zone has vanished",
	job.Completed: "no further time will come",
	job.Deleted:   "a person ended it; its history stays until retention ends",
}
