package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/httpapi"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

const payingFile = `job: paying
schedule: {cron: "0 3 * * *"}
target: {log: {}}
payload: {account: 7}
---
job: other
schedule: {cron: "0 4 * * *"}
target: {log: {}}
`

// ended makes an execution of a job for a day's scheduled time, ends it as a worker
// would, and lists it as the stream consumer would. It tells the id.
func ended(t *testing.T, b *assemble.Belfry, name string, day int, to lifecycle.Transition) string {
	t.Helper()
	at := time.Date(2026, 7, day, 3, 0, 0, 0, time.UTC)
	e := &job.Execution{Ref: job.Ref{Tenant: job.DefaultTenant, Job: name}, Key: job.ScheduledKey(at), Revision: 1, Epoch: 1, Pool: job.DefaultPool, Type: "billing", CreatedAt: at, AvailableAt: at, Reason: lifecycle.Materialised}
	_, err := b.Store.Put(t.Context(), e)
	if err == nil {
		e, err = b.Store.Claim(t.Context(), job.ClaimRequest{Ref: e.Ref, Key: e.Key, Epoch: 1, Owner: "w1", Nonce: "n", Now: at, Until: noon.Add(time.Minute)})
	}
	if err == nil {
		err = b.Store.Settle(t.Context(), e, to, time.Time{})
	}
	if err == nil {
		e, err = b.Store.Execution(t.Context(), e.Ref, e.Key)
	}
	if err == nil && lifecycle.Matters(e.Status) {
		err = b.Store.WriteAttention(t.Context(), e, e.Timeline[len(e.Timeline)-1].At)
	}
	if err != nil {
		t.Fatal(err)
	}
	return e.ID()
}

func after(day int) time.Time { return time.Date(2026, 7, day, 3, 5, 0, 0, time.UTC) }

// What a person does the morning after: look, replay, close, decide; each step on
// what the steps before left.
func TestAMorningWithDeadLetters(t *testing.T) {
	t.Parallel()
	b := assembled(t)
	server := httptest.NewServer(httpapi.New(b.Control, httpapi.Options{Version: "1.2.3"}))
	defer server.Close()
	step := func(name string, args ...string) { golden(t, "dead "+name, belfry(t, server.URL, "", args...)) }
	step("nothing waits", "dead", "list")
	if got := belfry(t, server.URL, payingFile, "apply", "-f", "-"); got.code != exitOK {
		t.Fatal(got.err)
	}
	panicked := lifecycle.Failure{Code: "PANIC", Text: "no such account\nmain.pay(0x7)\n\tpay.go:17\n" + strings.Repeat("main.more()\n", 30)}
	full := ended(t, b, "paying", 1, lifecycle.GivenUp(after(1), "w1", lifecycle.AttemptsUsedUp, panicked))
	refused := ended(t, b, "paying", 2, lifecycle.FailedForGood(after(2), "w1", lifecycle.Failure{Code: "HTTP_404", Text: "not found"}))
	doubt := ended(t, b, "paying", 3, lifecycle.LeftForReview(after(3), "w1", lifecycle.Failure{Code: "TIMEOUT", Text: "no answer"}))
	ended(t, b, "other", 4, lifecycle.FailedForGood(after(4), "w1", lifecycle.Failure{Code: "HTTP_404", Text: "not found"}))
	ended(t, b, "other", 5, lifecycle.Settled(after(5), "w1"))
	waiting := ended(t, b, "paying", 6, lifecycle.Waiting(after(6), noon.Add(time.Hour), "w1", lifecycle.HandlerError, panicked))

	step("what waits", "dead", "list")
	step("what waits by filter", "dead", "list", "--type", "billing", "--status", "dead,failed", "--since", "2026-07-01T12:00:00Z")
	step("one with its stack", "executions", "show", full)
	step("a dry run of replays", "replay", "--code", "HTTP_404", "--dry-run")
	step("a dry run of replays as JSON", "replay", "--job", "paying", "--dry-run", "--json")
	step("replaying one", "replay", refused)
	step("the replayed one", "executions", "get", refused)
	step("replaying what is left", "replay", "--code", "HTTP_404", "--rate", "100/s")
	step("replaying when nothing is left", "replay", "--code", "HTTP_404", "--json")
	step("replaying nothing in particular", "replay")
	step("replaying one by filter", "replay", refused, "--job", "paying")
	step("replaying what is in doubt", "replay", doubt)
	step("retrying what has ended", "executions", "retry", full)
	step("retrying now", "executions", "retry", waiting)
	step("closing", "dead", "resolve", full, "--as", "handled", "--note", "paid by hand")
	step("closing otherwise", "dead", "resolve", full, "--as", "ignored", "--json")
	step("closing otherwise by force", "dead", "resolve", full, "--as", "ignored", "--force")
	step("closing without a verdict", "dead", "resolve", full)
	step("deciding as what is none", "executions", "resolve", doubt, "--as", "handled", "--note", "x")
	step("deciding without a note", "executions", "resolve", doubt, "--as", "retry")
	step("deciding", "executions", "resolve", doubt, "--as", "succeeded", "--note", "the bank shows it")
	step("what became of the doubt", "executions", "show", doubt)
	step("nothing waits any more", "dead", "list")
	step("what was dealt with", "dead", "list", "--closed")
	step("a status that needs nobody", "dead", "list", "--status", "SUCCEEDED")
	step("a time that is none", "dead", "list", "--since", "yesterday")
	step("help", "dead", "resolve", "--help")
	step("help for replays", "replay", "--help")
}

// A run whose job is gone replays what it can, tells what it could not, and ends as a
// failure; cut short it goes on by its name.
func TestARunOfReplaysTellsWhatWasRefusedAndGoesOnByName(t *testing.T) {
	t.Parallel()
	b := assembled(t)
	server := httptest.NewServer(httpapi.New(b.Control, httpapi.Options{Version: "1.2.3"}))
	defer server.Close()
	if got := belfry(t, server.URL, payingFile, "apply", "-f", "-"); got.code != exitOK {
		t.Fatal(got.err)
	}
	for day := 1; day < 4; day++ {
		ended(t, b, "paying", day, lifecycle.FailedForGood(after(day), "w1", lifecycle.Failure{Code: "X"}))
	}
	ended(t, b, "other", 4, lifecycle.FailedForGood(after(4), "w1", lifecycle.Failure{Code: "X"}))
	if got := belfry(t, server.URL, "", "jobs", "delete", "other"); got.code != exitOK {
		t.Fatal(got.err)
	}
	const run = "01KXB35NG0RE2M4Q0T5N6V8XYZ" // named at noon
	first, err := b.Control.Replays(t.Context(), control.ReplaysRequest{Tenant: job.DefaultTenant, Filter: control.DeadFilter{Job: "paying"}, Run: run, Limit: 2, Actor: "ada"})
	if err != nil || len(first.Results) != 2 || !first.Results[1].Made {
		t.Fatalf("%+v, %v", first, err)
	}
	golden(t, "dead going on with a run", belfry(t, server.URL, "", "replay", "--all", "--run", run, "--rate", "100/s"))
	golden(t, "dead going on with all of a run", belfry(t, server.URL, "", "replay", "--all", "--again", "--run", run, "--rate", "100/s", "--json"))
}

// A run keeps to its rate, page by page; where the service stops answering, the command
// says how to go on.
func TestARunOfReplaysIsPacedAndSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	const page = `{"run":"01KXB35NG0RE2M4Q0T5N6V8XYZ","dry_run":%v,"items":[{"execution":"a~1","replay":"a~2","made":true,"refused":null},{"execution":"a~3","replay":"a~4","made":true,"refused":null}],"next_cursor":%s}`
	for says, row := range map[string]struct {
		failing int // the page that is refused, from 1; 0 = none
		code    int
		out     string
	}{
		"all pages come":          {0, exitOK, "run ULID: 6 of 2 replayed\n"},
		"the second one does not": {2, exitFailed, ""},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			var asked []client.ReplaysQuestion
			var when []time.Time
			api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if r.URL.Query().Get("dry_run") == "true" {
					fmt.Fprintf(w, page, true, "null")
					return
				}
				var q client.ReplaysQuestion
				_ = json.NewDecoder(r.Body).Decode(&q)
				asked, when = append(asked, q), append(when, time.Now())
				if len(asked) == row.failing {
					w.WriteHeader(http.StatusInternalServerError)
					fmt.Fprint(w, `{"status":500,"code":"INTERNAL","detail":"it failed"}`)
					return
				}
				next := `"more"`
				if len(asked) == 3 {
					next = "null"
				}
				fmt.Fprintf(w, page, false, next)
			}))
			defer api.Close()
			got := belfry(t, api.URL, "", "replay", "--code", "X", "--rate", "20/s")
			if got.code != row.code || steady(got.out) != row.out || (row.failing != 0) != strings.Contains(got.err, "repeat the command with --run 01KXB35NG0RE2M4Q0T5N6V8XYZ\n") {
				t.Errorf("exit code %d, %q, %q", got.code, got.out, got.err)
			}
			for i, q := range asked {
				if q.Run != "01KXB35NG0RE2M4Q0T5N6V8XYZ" || q.Limit != 20 || (q.Cursor == "more") != (i > 0) {
					t.Errorf("page %d is asked for as %+v", i, q)
				}
				if i > 0 && when[i].Sub(when[i-1]) < 100*time.Millisecond {
					t.Errorf("page %d comes %s after the one before, two replays at 20/s", i, when[i].Sub(when[i-1]))
				}
			}
		})
	}
}
