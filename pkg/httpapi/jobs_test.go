package httpapi

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func decode[T any](t *testing.T, body interface{ Bytes() []byte }) T {
	t.Helper()
	var out T
	if err := json.Unmarshal(body.Bytes(), &out); err != nil {
		t.Fatalf("%v in %s", err, body.Bytes())
	}
	return out
}

func TestPuttingAJob(t *testing.T) {
	t.Run("that is new creates revision 1 and tells the times that appear", func(t *testing.T) {
		w := newWorld()
		answer := w.ask("PUT", "/v1/jobs/nightly", `{"schedule":{"cron":"30 3 * * *","zone":"Europe/Berlin"},"target":{"log":{}}}`)
		got := decode[client.PutResult](t, answer.Body)
		if answer.Code != 201 || answer.Header().Get("ETag") != `"1"` || got.Action != "created" || got.Revision != 1 || got.State != job.Enabled {
			t.Errorf("%d %v %+v", answer.Code, answer.Header(), got)
		}
		if len(got.Appear) != 20 || got.Appear[0].String() != "2026-07-13T01:30:00.000Z" || got.NextFireAt != got.Appear[0] || len(got.Vanish) != 0 {
			t.Errorf("appear %v vanish %v next %v", got.Appear, got.Vanish, got.NextFireAt)
		}
	})
	t.Run("with another schedule is an edit", func(t *testing.T) {
		w := newWorld()
		w.jobs.head, w.jobs.revision = enabledHead(), enabledRevision()
		answer := w.ask("PUT", "/v1/jobs/nightly", `{"schedule":{"cron":"30 4 * * *","zone":"Europe/Berlin"},"target":{"log":{}}}`, `If-Match: "3"`)
		got := decode[client.PutResult](t, answer.Body)
		if answer.Code != 200 || got.Action != "updated" || got.Revision != 4 || len(got.Vanish) == 0 || len(w.jobs.changed) != 1 {
			t.Errorf("%d %+v", answer.Code, got)
		}
	})
	t.Run("as it is changes nothing", func(t *testing.T) {
		w := newWorld()
		w.jobs.head, w.jobs.revision = enabledHead(), enabledRevision()
		answer := w.ask("PUT", "/v1/jobs/nightly", `{"schedule":{"cron":"30 3 * * *","zone":"Europe/Berlin"},"target":{"log":{}}}`)
		got := decode[client.PutResult](t, answer.Body)
		if got.Action != "unchanged" || got.Revision != 3 || len(w.jobs.changed) != 0 || !strings.Contains(answer.Body.String(), `"appear":[],"vanish":[]`) {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
	})
	t.Run("in a dry run writes nothing", func(t *testing.T) {
		w := newWorld()
		answer := w.ask("PUT", "/v1/jobs/nightly?dry_run=true", logJob)
		got := decode[client.PutResult](t, answer.Body)
		if answer.Code != 200 || !got.DryRun || got.Action != "created" || len(w.jobs.changed) != 0 {
			t.Errorf("%d %+v", answer.Code, got)
		}
	})
	for name, header := range map[string]string{"only if it is absent": "If-None-Match: *", "at a revision that has passed": `If-Match: "2"`} {
		t.Run(name+" fails when it is not so", func(t *testing.T) {
			w := newWorld()
			w.jobs.head, w.jobs.revision = enabledHead(), enabledRevision()
			if answer := w.ask("PUT", "/v1/jobs/nightly", logJob, header); answer.Code != 412 || len(w.jobs.changed) != 0 {
				t.Errorf("%d %s", answer.Code, answer.Body)
			}
		})
	}
}

func TestReadingAJobShowsItsDefinitionAndItsRevisionAsETag(t *testing.T) {
	w := newWorld()
	w.jobs.head, w.jobs.revision = enabledHead(), enabledRevision()
	answer := w.ask("GET", "/v1/jobs/nightly", "")
	const want = `{"job":"nightly","state":"ENABLED","revision":3,"epoch":7,"pool":"fast-io",` +
		`"schedule":{"cron":"30 3 * * *","dialect":"unix","zone":"Europe/Berlin"},"next_fire_at":"2026-07-13T01:30:00.000Z","last_scheduled_at":null,` +
		`"created_at":"2026-07-12T11:00:00.001Z","updated_at":"2026-07-12T11:59:00.001Z","changed_by":"ada","reason":null,"reason_text":null,` +
		`"definition":{"job":"nightly","schedule":{"cron":"30 3 * * *","dialect":"unix","zone":"Europe/Berlin"},"target":{"log":{}},"pool":"fast-io",` +
		`"priority":"normal","timeout":"1m","retry":{"max_attempts":5,"base":"1s","max":"5m","max_age":"1d","max_lost":3},"concurrency":"ALLOW",` +
		`"misfire":{"policy":"FIRE_ONCE","window":"1d","max":1000,"tolerance":"1m"}}}`
	if got := strings.TrimSpace(answer.Body.String()); got != want || answer.Header().Get("ETag") != `"3"` {
		t.Errorf("ETag %s\n got %s\nwant %s", answer.Header().Get("ETag"), got, want)
	}
}

func TestAJobWhoseGapIsNotRecordedYetShowsTheTimeAfterTheGap(t *testing.T) {
	head := enabledHead()
	head.NextFireAt, head.Gap = noon.Truncate(time.Second), &job.Gap{Then: noon.Add(time.Hour)}
	if got := showJob(head).NextFireAt.String(); got != "2026-07-12T13:00:00.001Z" {
		t.Errorf("next is %s", got)
	}
	head.Gap.Then = time.Time{}
	if got := showJob(head).NextFireAt; !got.IsZero() {
		t.Errorf("a job without a time after the gap shows %s", got)
	}
}

func TestListsHaveACursorUntilTheLastPage(t *testing.T) {
	w := newWorld()
	w.jobs.head = enabledHead()
	first := w.ask("GET", "/v1/jobs", "")
	page := decode[client.Page[client.Job]](t, first.Body)
	if len(page.Items) != 1 || page.NextCursor != "second" {
		t.Errorf("first page: %+v", page)
	}
	if last := w.ask("GET", "/v1/jobs?cursor=second", "").Body.String(); !strings.HasSuffix(strings.TrimSpace(last), `"next_cursor":null}`) {
		t.Errorf("last page: %s", last)
	}
}

func TestDeleting(t *testing.T) {
	deleted := enabledHead()
	deleted.State = job.Deleted
	rows := []struct {
		name    string
		head    *job.Head
		status  int
		written int
	}{
		{"a job ends it", enabledHead(), 204, 1},
		{"a deleted job is no error and writes nothing", deleted, 204, 0},
		{"what never was a job is not found", nil, 404, 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld()
			w.jobs.head = row.head
			answer := w.ask("DELETE", "/v1/jobs/nightly", "")
			if answer.Code != row.status || len(w.jobs.changed) != row.written {
				t.Errorf("%d %s, %d writes", answer.Code, answer.Body, len(w.jobs.changed))
			}
		})
	}
}

func TestNextFiresShowTheWallClockAndWhatAChangeOfClocksDid(t *testing.T) {
	w := newWorld()
	w.jobs.head, w.jobs.revision = enabledHead(), enabledRevision()
	w.jobs.head.Schedule.Cron = "30 2 * * *"
	got := decode[client.Fires](t, w.ask("GET", "/v1/jobs/nightly/next?count=1&after=2026-03-28T12:00:00Z", "").Body)
	if len(got.Items) != 1 || got.Items[0].At.String() != "2026-03-29T01:00:00.000Z" || got.Items[0].Local != "2026-03-29 03:00:00 +02:00" ||
		!strings.Contains(string(got.Items[0].Note), "shifted") || got.Exhausted || got.Zone != "Europe/Berlin" || got.Description == "" {
		t.Errorf("%+v", got)
	}
}

func TestAScheduleCanBeTriedWithoutAJob(t *testing.T) {
	w := newWorld()
	got := decode[client.Fires](t, w.ask("POST", "/v1/schedule/next", `{"every":"10s","count":2}`).Body)
	if len(got.Items) != 2 || got.Items[0].At.String() != "2026-07-12T12:00:10.000Z" || got.Items[0].Note != "" {
		t.Errorf("%+v", got)
	}
	once := decode[client.Fires](t, w.ask("POST", "/v1/schedule/next", `{"at":"2026-07-12T13:00:00Z","count":2}`).Body)
	if len(once.Items) != 1 || !once.Exhausted {
		t.Errorf("%+v", once)
	}
	p := problemOf(t, w.ask("POST", "/v1/schedule/next", `{"cron":"61 * * * *"}`))
	if p.Status != 422 || p.Code != job.CodeScheduleInvalid || p.Bound == "" {
		t.Errorf("%+v", p)
	}
}

// What a Go client sends is what the server reads, whatever the definition.
func TestADefinitionSurvivesTheWire(t *testing.T) {
	duration := rapid.Map(rapid.Int64Range(0, 400*24*3600), func(s int64) job.Duration { return job.Duration(time.Duration(s) * time.Second) })
	instant := rapid.Map(rapid.Int64Range(0, 4102444799), func(s int64) time.Time {
		if s == 0 {
			return time.Time{}
		}
		return time.Unix(s, 0).UTC()
	})
	word := rapid.StringN(0, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		sent := job.Definition{
			Job: word.Draw(t, "job"), Pool: word.Draw(t, "pool"), Type: word.Draw(t, "type"), Priority: word.Draw(t, "priority"), Description: word.Draw(t, "description"),
			Schedule: job.Schedule{Cron: word.Draw(t, "cron"), Every: duration.Draw(t, "every"), At: instant.Draw(t, "at"), Zone: word.Draw(t, "zone"), Dialect: job.Dialect(word.Draw(t, "dialect")),
				Gap: job.GapPolicy(word.Draw(t, "gap")), Overlap: job.OverlapPolicy(word.Draw(t, "overlap")), Start: instant.Draw(t, "start"), End: instant.Draw(t, "end"), Jitter: duration.Draw(t, "jitter")},
			Target: rapid.SampledFrom([]job.Target{{Log: &job.LogTarget{Message: "x"}}, {Webhook: &job.Webhook{URL: "http://a", Headers: map[string]string{"A": "b"}}},
				{Handler: &job.HandlerTarget{Name: "h"}}}).Draw(t, "target"),
			Timeout: duration.Draw(t, "timeout"), Payload: rapid.SampledFrom([]json.RawMessage{nil, []byte(`{"a":[1,null]}`), []byte(`"x"`)}).Draw(t, "payload"),
			Retry:       job.Retry{MaxAttempts: rapid.IntRange(0, 9).Draw(t, "n"), Base: duration.Draw(t, "base"), Max: duration.Draw(t, "max"), MaxAge: duration.Draw(t, "age"), MaxLost: rapid.IntRange(0, 9).Draw(t, "lost")},
			Concurrency: job.Concurrency(word.Draw(t, "concurrency")), SuspendAfter: rapid.IntRange(0, 9).Draw(t, "suspend"), Paused: rapid.Bool().Draw(t, "paused"),
			Labels: rapid.SampledFrom([]map[string]string{nil, {"a": "b"}}).Draw(t, "labels"), Limits: rapid.SampledFrom([][]string{nil, {"a"}}).Draw(t, "limits"),
		}
		if rapid.Bool().Draw(t, "misfire") {
			sent.Misfire = &job.Misfire{Policy: job.MisfirePolicy(word.Draw(t, "policy")), Window: duration.Draw(t, "window"), Max: rapid.IntRange(0, 9).Draw(t, "max misfires"), Rate: 1.5, Tolerance: duration.Draw(t, "tolerance")}
		}
		body, err := json.Marshal(sent)
		if err != nil {
			t.Fatal(err)
		}
		var wire Definition
		if err := strictJSON.Unmarshal(body, &wire); err != nil {
			t.Fatal(err)
		}
		read, err := wire.definition()
		if err != nil {
			t.Fatalf("%v in %s", err, body)
		}
		again, err := json.Marshal(read)
		if err != nil || string(again) != string(body) {
			t.Fatalf("%v\nsent %s\nread %s", err, body, again)
		}
	})
}
