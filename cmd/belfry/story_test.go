package main

import (
	"regexp"
	"strings"
	"testing"
)

// story is a newcomer's afternoon, each step on what the steps before left; {id}
// is the manual run's.
var story = []struct {
	name  string
	stdin string
	args  []string
}{
	{"no jobs yet", "", []string{"jobs", "list"}},
	{"a dry run of new jobs", jobsFile, []string{"apply", "-f", "-", "--dry-run"}},
	{"nothing was written by the dry run", "", []string{"jobs", "list", "--json"}},
	{"applying new jobs", jobsFile, []string{"apply", "-f", "-"}},
	{"applying them again", jobsFile, []string{"apply", "-f", "-", "--json"}},
	{"a dry run without changes", jobsFile, []string{"apply", "-f", "-", "--dry-run"}},
	{"a dry run of an edit", strings.Replace(jobsFile, "30 3", "30 4", 1), []string{"apply", "-f", "-", "--dry-run", "--json"}},
	{"applying an edit", strings.Replace(jobsFile, "30 3", "30 4", 1), []string{"apply", "-f", "-"}},
	{"listing jobs", "", []string{"jobs", "list"}},
	{"listing one job of several", "", []string{"jobs", "list", "--limit", "1"}},
	{"reading a job", "", []string{"jobs", "get", "nightly"}},
	{"reading a job as JSON", "", []string{"jobs", "get", "nightly", "--json"}},
	{"coming times of a job", "", []string{"jobs", "next", "nightly", "--count", "2", "--after", "2026-10-24T00:00:00Z"}},
	{"pausing", "", []string{"jobs", "pause", "often"}},
	{"resuming", "", []string{"jobs", "resume", "often"}},
	{"patching", "", []string{"jobs", "patch", "often", "timeout=2m", "labels.team=data", "--dry-run"}},
	{"letting a definition wait", "", []string{"jobs", "patch", "often", "timeout=3m", "--effective-at", "2026-12-24T00:00:00Z"}},
	{"reading a job that is to change", "", []string{"jobs", "get", "often"}},
	{"taking it back", "", []string{"jobs", "patch", "often", "description=kept"}},
	{"patching with what is none", "", []string{"jobs", "patch", "often", "tiemout=2m", "--json"}},
	{"patching without saying what", "", []string{"jobs", "patch", "often"}},
	{"patching a part and the whole", "", []string{"jobs", "patch", "often", "retry=null", "retry.base=1s"}},
	{"executions whose time has come", "", []string{"executions", "list", "often"}},
	{"upcoming executions", "", []string{"executions", "list", "often", "--upcoming", "--limit", "2"}},
	{"executions of a status as JSON", "", []string{"executions", "list", "often", "--status", "scheduled", "--limit", "1", "--json"}},
	{"running now", "", []string{"jobs", "run", "nightly"}},
	{"the manual run in the list", "", []string{"executions", "list", "nightly"}},
	{"reading an execution", "", []string{"executions", "get", "{id}"}},
	{"canceling", "", []string{"executions", "cancel", "{id}"}},
	{"canceling again", "", []string{"executions", "cancel", "{id}"}},
	{"the timeline", "", []string{"executions", "timeline", "{id}"}},
	{"the timeline as JSON", "", []string{"executions", "timeline", "{id}", "--json"}},
	{"a dry run of a backfill", "", []string{"backfill", "nightly", "--from", "2026-07-01T00:00:00Z", "--rate", "30/min", "--dry-run"}},
	{"a dry run of a backfill as JSON", "", []string{"backfill", "nightly", "--from", "2026-07-01T00:00:00Z", "--dry-run", "--json"}},
	{"a backfill", "", []string{"backfill", "nightly", "--from", "2026-07-01T00:00:00Z", "--to", "2026-07-10T00:00:00Z"}},
	{"a dry run of a backfill that meets it", "", []string{"backfill", "nightly", "--from", "2026-07-01T00:00:00Z", "--dry-run"}},
	{"a backfill of a paused job", "", []string{"backfill", "asleep", "--from", "2026-07-01T00:00:00Z", "--dry-run"}},
	{"a backfill of too long ago", "", []string{"backfill", "nightly", "--from", "2025-07-01T00:00:00Z"}},
	{"a backfill of the future", "", []string{"backfill", "nightly", "--from", "2026-07-01T00:00:00Z", "--to", "2026-08-01T00:00:00Z", "--json"}},
	{"a backfill without times", "", []string{"backfill", "nightly", "--from", "2026-07-01T04:00:00Z", "--to", "2026-07-01T05:00:00Z"}},
	{"listing backfills", "", []string{"backfill", "list", "nightly"}},
	{"canceling a backfill", "", []string{"backfill", "cancel", "nightly", "{backfill}"}},
	{"a backfill that was canceled, as JSON", "", []string{"backfill", "list", "nightly", "--json"}},
	{"canceling a backfill that is none", "", []string{"backfill", "cancel", "nightly", "x"}},
	{"deleting", "", []string{"jobs", "delete", "asleep"}},
	{"deleting again", "", []string{"jobs", "delete", "asleep", "--json"}},
	{"reading what was deleted", "", []string{"jobs", "get", "asleep"}},
	{"deleting another revision", "", []string{"jobs", "delete", "nightly", "--if-revision", "9", "--json"}},
	{"putting a job only if it is absent", "job: fresh\nschedule: {every: 1h}\ntarget: {log: {}}\n", []string{"jobs", "put", "-f", "-", "--if-absent"}},
	{"putting it again", "job: fresh\nschedule: {every: 1h}\ntarget: {log: {}}\n", []string{"jobs", "put", "-f", "-", "--if-absent"}},
	{"putting at a revision", "job: fresh\nschedule: {every: 2h}\ntarget: {log: {}}\n", []string{"jobs", "put", "-f", "-", "--if-revision", "1", "--json"}},
	{"putting what the service refuses", "job: fresh\nschedule: {every: 2h}\ntarget: {log: {}}\npool: x\n", []string{"jobs", "put", "-f", "-"}},
	{"putting several jobs", jobsFile, []string{"jobs", "put", "-f", "-"}},
	{"health", "", []string{"health"}},
	{"shards that are behind", "", []string{"shards"}},
	{"reconciling", "", []string{"reconcile", "--json"}},
	{"repairing a restore", "", []string{"reconcile", "--dr"}},
}

func TestAStoryAtTheCommandLine(t *testing.T) {
	t.Parallel()
	url := service(t)
	id, backfill := "", ""
	for _, step := range story {
		args := append([]string{}, step.args...)
		for i := range args {
			args[i] = strings.NewReplacer("{id}", id, "{backfill}", backfill).Replace(args[i])
		}
		got := belfry(t, url, step.stdin, args...)
		if found := regexp.MustCompile(`nightly~m-\w{26}~v\d+`).FindString(got.out); found != "" {
			id = found
		}
		if found := regexp.MustCompile(`backfill (\w{26}):`).FindStringSubmatch(got.out); found != nil {
			backfill = found[1]
		}
		golden(t, "story "+step.name, got)
	}
}
