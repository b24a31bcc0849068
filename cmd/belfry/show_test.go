package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/cmd/belfry/jobfile"
	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/signing"
)

func TestHowFarATimeLiesAway(t *testing.T) {
	rows := map[time.Duration]string{
		0: "now", 900 * time.Millisecond: "now", -900 * time.Millisecond: "now", time.Second: "in 1 s", -59 * time.Second: "59 s ago", 60 * time.Second: "in 1 min",
		4*time.Hour + 12*time.Minute + 59*time.Second: "in 4 h 12 min", -time.Hour: "1 h ago", 24 * time.Hour: "in 1 d", 400*24*time.Hour + time.Hour + time.Minute: "in 400 d 1 h",
	}
	for d, want := range rows {
		if got := distance(d); got != want {
			t.Errorf("%s is told as %q, want %q", d, got, want)
		}
	}
	if got := span(999 * time.Millisecond); got != "999 ms" {
		t.Errorf("got %q", got)
	}
}

// screen is an app whose text is kept, at noon.
func screen(color bool) (*app, *bytes.Buffer) {
	var out bytes.Buffer
	return &app{out: &out, err: &out, now: func() time.Time { return noon }, local: time.UTC, color: color}, &out
}

func TestAListOfExecutionsTellsWhatAPersonWantsToKnow(t *testing.T) {
	at := func(d time.Duration) client.Time { return client.At(noon.Truncate(time.Second).Add(d)) }
	page := client.Page[client.Execution]{Items: []client.Execution{
		{ID: "a~1~v1", Status: job.Succeeded, ScheduledAt: at(-10 * time.Second), StartedAt: at(-9900 * time.Millisecond), FinishedAt: at(-8 * time.Second), Attempt: 1, Reason: "DONE", ReasonText: client.Text(lifecycle.Sentence(lifecycle.Done))},
		{ID: "a~2~v1", Status: job.Dead, ScheduledAt: at(-time.Hour), StartedAt: at(-time.Hour), FinishedAt: at(-30 * time.Minute), Attempt: 5, ReasonText: client.Text(lifecycle.Sentence(lifecycle.AttemptsUsedUp)), ErrorCode: "HTTP_503"},
		{ID: "a~3~v1", Status: job.RetryWait, Ready: true, ScheduledAt: at(-time.Minute), StartedAt: at(-59 * time.Second), Attempt: 1, ReasonText: "the handler returned\x1b[2J an error"},
		{ID: "a~x-4~v1", Status: job.Missed, ScheduledAt: at(-2 * time.Hour), Range: &client.Range{Count: 61}, ReasonText: client.Text(lifecycle.Sentence(lifecycle.JobPaused))},
		{ID: "a~6~v1", Status: job.RetryWait, ScheduledAt: at(-time.Minute), StartedAt: at(-time.Minute), AvailableAt: at(90 * time.Second), Attempt: 2, ReasonText: "the handler returned an error", ErrorCode: "HTTP_500"},
		{ID: "a~5~v1", Status: job.Running, ScheduledAt: at(-time.Second), StartedAt: at(-time.Second), Attempt: 1, Cancel: &client.Cancel{By: "ada"}},
		{ID: "a~7~v1", Status: job.Running, ScheduledAt: at(-time.Second), StartedAt: at(-time.Second), Attempt: 1, Cancel: &client.Cancel{By: "ada", Declined: true}},
	}, NextCursor: "more"}
	a, out := screen(false)
	a.showExecutions(page)
	want := `ID        STATUS                     SCHEDULED                            STARTED  TOOK    ATTEMPT  WHY
a~1~v1    SUCCEEDED                  2026-07-12 11:59:50 UTC (10 s ago)   +100 ms  1 s     1        -
a~2~v1    DEAD                       2026-07-12 11:00:00 UTC (1 h ago)    +0 ms    30 min  5        every allowed attempt failed (HTTP_503)
a~3~v1    RETRY_WAIT (ready)         2026-07-12 11:59:00 UTC (1 min ago)  +1 s     -       1        the handler returned [2J an error
a~x-4~v1  MISSED ×61                 2026-07-12 10:00:00 UTC (2 h ago)    -        -       0        the job was paused
a~6~v1    RETRY_WAIT                 2026-07-12 11:59:00 UTC (1 min ago)  +0 ms    -       2        the handler returned an error (HTTP_500), again in 1 min 29 s
a~5~v1    RUNNING (canceling)        2026-07-12 11:59:59 UTC (1 s ago)    +0 ms    -       1        -
a~7~v1    RUNNING (cancel declined)  2026-07-12 11:59:59 UTC (1 s ago)    +0 ms    -       1        -
there is more: repeat the command with --all, or with --cursor more
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAnExecutionIsShownWithTheBackfillThatMadeIt(t *testing.T) {
	for backfill, want := range map[client.Text]bool{"01JZXW7GB0RE2M4Q0T5N6V8XYZ": true, "": false} {
		a, out := screen(false)
		a.showExecution(client.Execution{ID: "a~1~v1", Status: job.Succeeded, Backfill: backfill})
		if got := strings.Contains(out.String(), "backfill"); got != want || !strings.Contains(out.String(), string(backfill)) {
			t.Errorf("made by %q it is shown as\n%s", backfill, out)
		}
	}
}

func TestOnlyTheStateIsColouredAndColumnsStayAligned(t *testing.T) {
	page := client.Page[client.Execution]{Items: []client.Execution{{ID: "FAILED", Status: job.Failed, ReasonText: "DEAD"}, {ID: "b", Status: job.Succeeded}}}
	plainApp, plain := screen(false)
	plainApp.showExecutions(page)
	colored, out := screen(true)
	colored.showExecutions(page)
	if n := strings.Count(out.String(), "\x1b["); n != 4 || !strings.Contains(out.String(), "\x1b[31mFAILED\x1b[0m ") {
		t.Errorf("%d marks in %q", n, out)
	}
	bare := strings.NewReplacer("\x1b[31m", "", "\x1b[32m", "", "\x1b[0m", "").Replace(out.String())
	if bare != plain.String() {
		t.Errorf("colour moved the columns:\n%s\n%s", bare, plain)
	}
}

func TestAScheduleIsDescribedByWhatIsKnownOfIt(t *testing.T) {
	at := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	hour := job.Duration(time.Hour)
	for want, s := range map[string]job.Schedule{
		"every 1h": {Every: hour},
		"every 1h, not after 2027-01-01T00:00:00Z":                                     {Every: hour, End: at},
		"every 1h, counted from 2027-01-01T00:00:00Z, not before 2027-01-01T00:00:00Z": {Every: hour, Start: at},
		"at 00:00, every day, UTC":                                                     {Cron: "@daily"},
		"once, at 2027-01-01T00:00:00Z":                                                {At: at},
	} {
		if got := describe(s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTheExitCodeFollowsFromWhatWentWrong(t *testing.T) {
	coded := func(code job.Code) error {
		return fmt.Errorf("while at work: %w", &job.Error{Code: code, Message: "m"})
	}
	rows := []struct {
		err  error
		want int
	}{
		{errors.New("whatever"), 1}, {coded(job.CodeInternal), 1}, {coded(job.CodeThrottled), 1}, {coded("NEVER_HEARD_OF"), 1},
		{&usageError{}, 2}, {coded(job.CodeNotFound), 3}, {coded(job.CodeRevisionConflict), 4}, {coded(job.CodeAlreadyExists), 4}, {coded(job.CodeStateConflict), 4},
		{coded(job.CodeInvalid), 5}, {coded(job.CodeScheduleNever), 5}, {jobfile.Faults{{Err: &job.Error{Code: job.CodeUnknownField}}}, 5},
		{jobfile.Faults{{Err: &job.Error{Code: job.CodeStateConflict}}}, 4}, {&client.Unreachable{}, 6}, {&client.Denied{}, 7}, {&signing.UnsentError{}, 7}, {coded(job.CodeUnavailable), 6}, {silent{10}, 10},
	}
	for _, row := range rows {
		if got := codeOf(row.err); got != row.want {
			t.Errorf("%v ends with %d, want %d", row.err, got, row.want)
		}
	}
}

func TestEveryCommandHasAnExampleThatIsItsOwn(t *testing.T) {
	a, _ := screen(false)
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Short == "" || !strings.Contains(c.Example, "belfry") {
			t.Errorf("%s explains itself too little", c.CommandPath())
		}
		if c.HasParent() && !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("the example of %s is that of another command: %s", c.CommandPath(), c.Example)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(a.root())
}
