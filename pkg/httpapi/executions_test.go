package httpapi

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

var nightly = job.Ref{Tenant: job.DefaultTenant, Job: "nightly"}

func scheduledAt(at time.Time) *job.Execution {
	return &job.Execution{Ref: nightly, Key: job.ScheduledKey(at), Revision: 3, Epoch: 7, Status: job.Scheduled, Pool: job.DefaultPool, Type: "report", Target: "webhook",
		CreatedAt: noon.Add(-time.Hour), AvailableAt: at, Reason: lifecycle.Materialised,
		Timeline: []job.Entry{{At: noon.Add(-time.Hour), To: job.Scheduled, Reason: lifecycle.Materialised, Actor: "scan"}}}
}

func TestReadingAnExecution(t *testing.T) {
	ended := scheduledAt(noon.Add(-30 * time.Minute))
	ended.Status, ended.Attempt, ended.FencingToken, ended.Reason, ended.ErrorCode = job.Dead, 5, 4294967301, lifecycle.AttemptsUsedUp, "HTTP_503"
	ended.StartedAt, ended.FinishedAt, ended.Lease.Owner = noon.Add(-20*time.Minute), noon, "w1"
	ended.Backfill = "01JZXW7GB0RE2M4Q0T5N6V8XYZ"
	w := newWorld(t)
	w.service.Executions = showing{execution: ended}
	const want = `{"id":"nightly~20260712T113000Z~v3","job":"nightly","kind":"scheduled","scheduled_at":"2026-07-12T11:30:00.000Z","due_at":null,"covers_from":null,"status":"DEAD","ready":false,` +
		`"attempt":5,"lost":0,"revision":3,"pool":"fast-io","type":"report","target":"webhook","created_at":"2026-07-12T11:00:00.001Z","available_at":"2026-07-12T11:30:00.001Z",` +
		`"started_at":"2026-07-12T11:40:00.001Z","finished_at":"2026-07-12T12:00:00.001Z","fencing_token":4294967301,"owner":null,"lease_until":null,` +
		`"reason":"ATTEMPTS_USED_UP","reason_text":"every allowed attempt failed","error_code":"HTTP_503","error_text":null,"cancel":null,"range":null,"replay_of":null,"origin":null,"replayed_by":[],"input_digest":null,"payload_ref":null,"payload_sum":null,"stack":null,"resolution":null,"review":null,"actor":null,"fan_out":null,"backfill":"01JZXW7GB0RE2M4Q0T5N6V8XYZ"}`
	// The id of another revision finds the execution under its current one.
	answer := w.ask("GET", "/v1/executions/nightly~20260712T113000Z~v1", "")
	if got := strings.TrimSpace(answer.Body.String()); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestWhatIsReady(t *testing.T) {
	waiting := scheduledAt(noon.Add(-time.Minute))
	waiting.Status = job.RetryWait
	running := scheduledAt(noon.Add(-time.Minute))
	running.Status = job.Running
	rows := map[string]struct {
		execution *job.Execution
		want      bool
	}{
		"its time has come":      {scheduledAt(noon), true},
		"its time has not come":  {scheduledAt(noon.Add(time.Second)), false},
		"a wait that is over":    {waiting, true},
		"one that runs is taken": {running, false},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			if got := showExecution(row.execution, noon).Ready; got != row.want {
				t.Errorf("ready is %v", got)
			}
		})
	}
}

func TestARangeIsListedAsMissedWithWhatItCovers(t *testing.T) {
	w := newWorld(t)
	w.service.Lists = &listing{list: []job.Execution{{Ref: nightly, Key: job.RangeKey(noon), Revision: 3, Status: job.Missed, Reason: lifecycle.JobPaused,
		Range: &job.Range{From: noon.Truncate(time.Second), To: noon.Truncate(time.Second).Add(time.Hour), Count: 61}}}}
	answer := w.ask("GET", "/v1/jobs/nightly/executions", "").Body.String()
	for _, part := range []string{`"id":"nightly~x-20260712T120000Z~v3"`, `"kind":"range"`, `"status":"MISSED"`, `"fencing_token":null`, `"reason_text":"the job was paused"`,
		`"range":{"from":"2026-07-12T12:00:00.000Z","to":"2026-07-12T13:00:00.000Z","count":61}`} {
		if !strings.Contains(answer, part) {
			t.Errorf("%s is missing in %s", part, answer)
		}
	}
}

func TestListsLeaveOutWhatHasNotComeUnlessAsked(t *testing.T) {
	rows := []struct {
		name, path string
		bounded    bool
		statuses   int
		job        string
	}{
		{"by default", "/v1/jobs/nightly/executions", true, 0, "nightly"},
		{"of every job", "/v1/executions?limit=7&cursor=c", true, 0, ""},
		{"with upcoming", "/v1/jobs/nightly/executions?upcoming=true", false, 0, "nightly"},
		{"asked for SCHEDULED", "/v1/jobs/nightly/executions?status=SCHEDULED&status=DEAD", false, 2, "nightly"},
		{"asked for DEAD alone", "/v1/jobs/nightly/executions?status=DEAD", true, 1, "nightly"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w, lists := newWorld(t).with(t, "nightly", logJob), &listing{}
			w.service.Lists = lists
			answer := w.ask("GET", row.path, "")
			if got := strings.TrimSpace(answer.Body.String()); got != `{"items":[],"next_cursor":null}` {
				t.Fatalf("%d %s", answer.Code, got)
			}
			asked := lists.asked
			if !asked.Before.IsZero() != row.bounded || len(asked.Statuses) != row.statuses || asked.Ref != (job.Ref{Tenant: job.DefaultTenant, Job: row.job}) {
				t.Errorf("asked %+v", asked)
			}
			if row.job == "" && (asked.Limit != 7 || asked.Cursor != "c") || row.job != "" && asked.Limit != 100 {
				t.Errorf("asked %+v", asked)
			}
		})
	}
}

func TestTheTimelineShowsWhenTheTimeHadCome(t *testing.T) {
	at := noon.Truncate(time.Second)
	claimed := func(when time.Time) job.Entry { return job.Entry{At: when, To: job.Running, Attempt: 1, Token: 9} }
	waiting := job.Entry{At: at.Add(-time.Minute), To: job.RetryWait, Attempt: 1, Token: 9}
	made := job.Entry{At: at.Add(-time.Hour), To: job.Scheduled}
	rows := []struct {
		name      string
		scheduled time.Time
		available time.Time
		entries   []job.Entry
		want      string
	}{
		{"not yet", at.Add(time.Minute), at.Add(time.Minute), []job.Entry{made}, "SCHEDULED"},
		{"ready and not taken", at.Add(-time.Minute), at.Add(-time.Minute), []job.Entry{made}, "SCHEDULED READY"},
		{"ready, then taken", at.Add(-time.Minute), at.Add(-time.Minute), []job.Entry{made, claimed(at.Add(-59 * time.Second))}, "SCHEDULED READY RUNNING"},
		{"taken in the instant of its time", at.Add(-time.Minute), at.Add(-time.Minute), []job.Entry{made, claimed(at.Add(-time.Minute))}, "SCHEDULED READY RUNNING"},
		{"withdrawn before its time", at.Add(-time.Minute), at, []job.Entry{made, {At: at.Add(-30 * time.Minute), To: job.Withdrawn}}, "SCHEDULED WITHDRAWN"},
		{"made after its time", at.Add(-2 * time.Hour), at, []job.Entry{made}, "SCHEDULED READY"},
		{"waiting for a retry", at.Add(-time.Hour), at.Add(time.Minute), []job.Entry{claimed(at.Add(-time.Hour)), waiting}, "RUNNING RETRY_WAIT"},
		{"a wait that is over", at.Add(-time.Hour), at.Add(-time.Second), []job.Entry{claimed(at.Add(-time.Hour)), waiting}, "RUNNING RETRY_WAIT READY"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			e := scheduledAt(row.scheduled)
			e.AvailableAt, e.Timeline = row.available, row.entries
			w := newWorld(t)
			w.service.Executions = showing{execution: e}
			page := decode[client.Page[client.Entry]](t, w.ask("GET", "/v1/executions/"+e.ID()+"/timeline", ""))
			var words []string
			last := time.Time{}
			for _, entry := range page.Items {
				words = append(words, entry.Status)
				if entry.At.Before(last) {
					t.Errorf("%s at %s is out of order", entry.Status, entry.At)
				}
				last = entry.At.Time
			}
			if got := strings.Join(words, " "); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func TestAManualRunIsListedReadAndCanceled(t *testing.T) {
	w := newWorld(t).with(t, "nightly", nightlyJob)
	answer := w.ask("POST", "/v1/jobs/nightly/run", "")
	made := decode[client.Execution](t, answer)
	if answer.Code != 201 || made.Kind != "manual" || made.Actor != "anonymous" || !made.Ready || answer.Header().Get("Location") != "/v1/executions/"+made.ID {
		t.Errorf("%d %v %+v", answer.Code, answer.Header(), made)
	}
	if page := decode[client.Page[client.Execution]](t, w.ask("GET", "/v1/jobs/nightly/executions", "")); len(page.Items) != 1 || page.Items[0].ID != made.ID {
		t.Errorf("listed are %+v", page.Items)
	}
	if got := decode[client.Execution](t, w.ask("GET", answer.Header().Get("Location"), "")); got.Status != job.Scheduled || got.FencingToken != nil {
		t.Errorf("read is %+v", got)
	}
	if got := decode[client.Execution](t, w.ask("POST", "/v1/executions/"+made.ID+"/cancel", "")); got.Status != job.Canceled || got.Reason != client.Text(lifecycle.CancelRequested) || got.FinishedAt.IsZero() {
		t.Errorf("canceled is %+v", got)
	}
	if p := problemOf(t, w.ask("POST", "/v1/executions/"+made.ID+"/cancel", "")); p.Status != 409 || p.Code != job.CodeStateConflict {
		t.Errorf("canceled again: %+v", p)
	}
	if p := problemOf(t, w.ask("GET", "/v1/executions/nightly~20260101T000000Z~v1", "")); p.Status != 404 {
		t.Errorf("one that is not: %+v", p)
	}
}

func TestWhatIsMadeAheadIsListedOnlyWhenAskedFor(t *testing.T) {
	w := newWorld(t).with(t, "often", logJob)
	rows := map[string]int{"": 0, "?upcoming=true": 30, "?status=SCHEDULED&limit=7": 7, "?upcoming=true&status=RUNNING": 0}
	for query, want := range rows {
		page := decode[client.Page[client.Execution]](t, w.ask("GET", "/v1/jobs/often/executions"+query, ""))
		if len(page.Items) != want {
			t.Errorf("with %q %d are listed, want %d", query, len(page.Items), want)
		}
		for i := 1; i < len(page.Items); i++ {
			if page.Items[i].ScheduledAt.After(page.Items[i-1].ScheduledAt.Time) {
				t.Errorf("%s stands after %s", page.Items[i].ID, page.Items[i-1].ID)
			}
		}
	}
}

func TestARequestToStopIsShownWhileTheExecutionRuns(t *testing.T) {
	w := newWorld(t)
	e := scheduledAt(noon)
	e.Status, e.Attempt, e.Lease = job.Running, 1, job.Lease{Owner: "w1", Until: noon.Add(15 * time.Second)}
	e.Cancel = &job.Cancel{At: noon, By: "ada"}
	w.service.Executions = showing{execution: e}
	got := decode[client.Execution](t, w.ask("POST", "/v1/executions/nightly~20260712T120000Z~v3/cancel", ""))
	if got.Cancel == nil || got.Cancel.By != "ada" || got.Cancel.Declined || got.Owner != "w1" || got.Status != job.Running {
		t.Errorf("%+v", got)
	}
	e.Cancel.Declined = true
	if got := decode[client.Execution](t, w.ask("GET", "/v1/executions/nightly~20260712T120000Z~v3", "")); !got.Cancel.Declined {
		t.Error("that the handler declined it is not shown")
	}
}

type reconcilerStub struct{ err error }

func (s reconcilerStub) Reconcile(_ context.Context, start string) (job.Reconciled, error) {
	return job.Reconciled{Scanned: 12, Sent: 3, Next: strings.TrimSuffix("further", start)}, s.err
}

func (s reconcilerStub) Step(_ context.Context, actor string) (job.RestoreProgress, error) {
	return job.RestoreProgress{Phase: job.RestoreJobs, Executions: 7, Rearmed: 2, Jobs: len(actor), BegunAt: noon}, s.err
}

func TestReconciling(t *testing.T) {
	w := newWorld(t)
	if p := problemOf(t, w.ask("POST", "/v1/reconcile", "")); p.Code != job.CodeNotSupported {
		t.Errorf("without a reconciler: %+v", p)
	}
	w.options.Reconciler = reconcilerStub{}
	if got := strings.TrimSpace(w.ask("POST", "/v1/reconcile", "").Body.String()); got != `{"scanned":12,"sent":3,"next_cursor":"further"}` {
		t.Errorf("got %s", got)
	}
	if got := strings.TrimSpace(w.ask("POST", "/v1/reconcile?cursor=further", "").Body.String()); got != `{"scanned":12,"sent":3,"next_cursor":null}` {
		t.Errorf("got %s", got)
	}
	w.options.Reconciler = reconcilerStub{err: &job.Error{Code: job.CodeThrottled, Message: "full", Fix: "wait"}}
	if answer := w.ask("POST", "/v1/reconcile", ""); answer.Code != 429 {
		t.Errorf("got %d", answer.Code)
	}
}

func TestRepairingARestore(t *testing.T) {
	w := newWorld(t)
	if p := problemOf(t, w.ask("POST", "/v1/restore", "")); p.Code != job.CodeNotSupported {
		t.Errorf("without a restorer: %+v", p)
	}
	w.options.Restorer = reconcilerStub{}
	got := decode[client.Restored](t, w.ask("POST", "/v1/restore", ""))
	if got.Phase != "jobs" || got.Executions != 7 || got.Rearmed != 2 || got.Jobs == 0 || got.BegunAt.IsZero() {
		t.Errorf("got %+v", got)
	}
	w.options.Restorer = reconcilerStub{err: &job.Error{Code: job.CodeRestorePending, Message: "pending", Fix: "repair it"}}
	if answer := w.ask("POST", "/v1/restore", ""); answer.Code != 409 {
		t.Errorf("got %d", answer.Code)
	}
}

func TestHealthSaysWhetherTheServiceCanServe(t *testing.T) {
	w := newWorld(t)
	if got := w.ask("GET", "/v1/health", "").Body.String(); !strings.Contains(got, `"status":"ok","version":"test","tzdb":"20`) || !strings.Contains(got, `"time":"2026-07-12T12:00:00.001Z"`) {
		t.Errorf("got %s", got)
	}
	w.options.Ready = func(context.Context) error { return context.DeadlineExceeded }
	if answer := w.ask("GET", "/v1/health", ""); answer.Code != 503 || answer.Header().Get("Retry-After") == "" {
		t.Errorf("got %d", answer.Code)
	}
}
