package observe_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/observe"
)

const intro = "# Metrics\n\n" +
	"What an installation tells about itself, and who is told when it is wrong. This page is made from `pkg/observe`, as are the dashboard and\n" +
	"the alarms; [dashboard.html](dashboard.html) shows the dashboard with made-up figures.\n\n" +
	"The functions write figures among their log lines in CloudWatch's embedded metric format, one write a batch, and CloudWatch makes metrics of\n" +
	"them: no call is made and nothing waits. `BELFRY_METRICS=off` leaves them out. Metrics are in the namespace `Belfry/<prefix>`, so that two\n" +
	"installations in one account stay apart.\n\n" +
	"Every metric is published as a whole, and split by each dimension alone. The dimensions are the pool, the job's type (one of those\n" +
	"that the settings list, at most 20), the kind of its target and the reason. A value that the installation does not know counts as `other`, a job\n" +
	"without a type as `none`. Tenants, jobs and executions are never dimensions: API and command line answer about those, and\n" +
	"`belfry shards` about the shards of the due index.\n\n" +
	"How many messages wait, and how old the oldest is, are SQS's own figures, by pool: all types of a pool share its queue, so neither is known by type.\n" +
	"What waiting did to a type is its `queue_wait`. Times that are overdue and not stored yet are the backlog of catching up: `late_jobs` and `overdue`.\n\n" +
	"Figures of executions come from the stream of the executions table. A record that comes again after a failure is counted once, unless the\n" +
	"function died between its last write and its answer; CloudWatch itself promises at least once.\n\n"

func TestTheListIsDocumented(t *testing.T) {
	var page strings.Builder
	page.WriteString(intro + "## The list\n\n| metric | unit | split by | emitted by | look at | meaning |\n|---|---|---|---|---|---|\n")
	for _, m := range observe.Metrics {
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s | %s | %s |\n", m.Name, m.Unit, dimensions(m.By), m.From, m.Stat, m.Means)
	}
	page.WriteString("\n## Alarms\n\nAn alarm's name begins with the installation's prefix. *Points* says how many data points must be wrong.\n\n" +
		"| alarm | measures | wrong when | points | what it means |\n|---|---|---|---|---|\n")
	for _, a := range observe.Alarms(site()) {
		if !a.Part {
			fmt.Fprintf(&page, "| [`%s`](runbooks/%s.md) | %s | %s | %s | %s |\n", a.Name, a.Runbook, measured(a), wrong(a), points(a), a.Says)
		}
	}
	page.WriteString("\nThese are made together with what they watch, from AWS's own metrics:\n\n| alarm | what it means |\n|---|---|\n")
	for _, a := range observe.PartAlarms {
		fmt.Fprintf(&page, "| [`%s`](runbooks/%s.md) | %s |\n", a.Name, a.Runbook, a.Says)
	}
	page.WriteString(burn + traces + cost())
	golden(t, "../../docs/metrics.md", page.String())
}

func dimensions(by []observe.Dimension) string {
	if len(by) == 0 {
		return "–"
	}
	words := make([]string, len(by))
	for i, d := range by {
		words[i] = string(d)
	}
	return strings.Join(words, ", ")
}

func measured(a observe.Alarm) string {
	if len(a.All) > 0 {
		return "`" + strings.Join(a.All, "` and `") + "`"
	}
	last := a.Series[len(a.Series)-1]
	switch {
	case last.Expression != "":
		return "`" + last.Expression + "`"
	case last.Value != "":
		return "`" + last.Metric.Name + "` of " + last.Value + ", " + last.Stat
	case last.Metric != nil:
		return "`" + last.Metric.Name + "`, " + last.Stat
	}
	return last.Namespace + " `" + last.Name + "`, " + last.Stat
}

func wrong(a observe.Alarm) string {
	switch {
	case len(a.All) > 0:
		return "all ring"
	case a.Below > 0:
		return "below " + number(a.Below) + ", or silent"
	}
	return number(a.AtLeast) + " or more"
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func points(a observe.Alarm) string {
	if len(a.All) > 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d, each of %v", a.For, max(a.For, a.Of), strings.TrimSuffix(a.Period.String(), "0s"))
}

const burn = "\n### The error budget\n\n" +
	"99.9 % of executions start within 30 s of their scheduled second: one in a thousand may be late. Two speeds of burning are alarms, each over a\n" +
	"long window, which says that it matters, and a short one, which says that it still goes on:\n\n" +
	"| alarm | windows | late starts | a month's budget lasts |\n|---|---|---|---|\n" +
	"| `slo-burn-fast` | 5 min and 1 h | 1.44 % | two days |\n| `slo-burn-slow` | 30 min and 6 h | 0.6 % | five days |\n\n" +
	"Up to two late starts in a window are no alarm, so that one slow start of a small installation wakes nobody. An execution that never starts is not\n" +
	"late but missing: `oldest-overdue`, `tick-missing` and `missed` are about those.\n"

const traces = "\n## Traces\n\n" +
	"What one execution went through is its timeline (`belfry executions timeline ID`); as spans, with what receivers and handlers of your own measure, it is\n" +
	"[a trace](traces.md).\n"

func cost() string {
	by := map[observe.Dimension]int{}
	for _, m := range observe.Metrics {
		for _, d := range m.By {
			by[d]++
		}
	}
	return fmt.Sprintf("\n## What it costs\n\nCloudWatch charges for each metric that exists in a month. There are %d, %d more for each pool in use, %d for each type (`none`\n"+
		"is one), %d for each kind of target, and one for each reason that occurs among `dead`, `retries` and `missed`; by the hour in which it gets\n"+
		"values. Dashboard and alarms cost beside that, and the lines are logs. `metrics: false` in the settings of the stack leaves all of it out; alarms\n"+
		"from AWS's own metrics stay, that about the tick among them.\n", len(observe.Metrics), by[observe.Pool], by[observe.Type], by[observe.Target])
}
