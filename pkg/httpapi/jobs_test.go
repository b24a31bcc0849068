package httpapi

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestPuttingAJob(t *testing.T) {
	t.Run("that is new creates revision 1 and tells the times that appear", func(t *testing.T) {
		answer := newWorld(t).ask("PUT", "/v1/jobs/nightly", nightlyJob)
		got := decode[client.PutResult](t, answer)
		if answer.Code != 201 || answer.Header().Get("ETag") != `"1"` || got.Action != "created" || got.Revision != 1 || got.State != job.Enabled {
			t.Errorf("%d %v %+v", answer.Code, answer.Header(), got)
		}
		if len(got.Appear) != 20 || got.Appear[0].String() != "2026-07-13T01:30:00.000Z" || got.NextFireAt != got.Appear[0] || len(got.Vanish) != 0 {
			t.Errorf("appear %v vanish %v next %v", got.Appear, got.Vanish, got.NextFireAt)
		}
	})
	t.Run("with another schedule is an edit", func(t *testing.T) {
		w := newWorld(t).with(t, "nightly", nightlyJob)
		answer := w.ask("PUT", "/v1/jobs/nightly", strings.Replace(nightlyJob, "30 3", "30 4", 1), `If-Match: "1"`)
		got := decode[client.PutResult](t, answer)
		if answer.Code != 200 || got.Action != "updated" || got.Revision != 2 || answer.Header().Get("ETag") != `"2"` ||
			got.Vanish[0].String() != "2026-07-13T01:30:00.000Z" || got.Appear[0].String() != "2026-07-13T02:30:00.000Z" {
			t.Errorf("%d %+v", answer.Code, got)
		}
	})
	t.Run("as it is changes nothing", func(t *testing.T) {
		w := newWorld(t).with(t, "nightly", nightlyJob)
		before := w.epoch(t, "nightly")
		answer := w.ask("PUT", "/v1/jobs/nightly", nightlyJob)
		if got := decode[client.PutResult](t, answer); got.Action != "unchanged" || got.Revision != 1 || w.epoch(t, "nightly") != before ||
			!strings.Contains(answer.Body.String(), `"appear":[],"vanish":[]`) {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
	})
	t.Run("in a dry run writes nothing", func(t *testing.T) {
		w := newWorld(t)
		answer := w.ask("PUT", "/v1/jobs/nightly?dry_run=true", logJob)
		if got := decode[client.PutResult](t, answer); answer.Code != 200 || !got.DryRun || got.Action != "created" || w.epoch(t, "nightly") != 0 {
			t.Errorf("%d %+v", answer.Code, got)
		}
	})
	for name, header := range map[string]string{"only if it is absent": "If-None-Match: *", "at a revision that is not current": `If-Match: "2"`} {
		t.Run(name+" fails when it is not so", func(t *testing.T) {
			w := newWorld(t).with(t, "nightly", nightlyJob)
			before := w.epoch(t, "nightly")
			if answer := w.ask("PUT", "/v1/jobs/nightly", logJob, header); answer.Code != 412 || w.epoch(t, "nightly") != before {
				t.Errorf("%d %s", answer.Code, answer.Body)
			}
		})
	}
}

func TestReadingAJobShowsItsDefinitionAndItsRevisionAsETag(t *testing.T) {
	answer := newWorld(t).with(t, "nightly", nightlyJob).ask("GET", "/v1/jobs/nightly", "")
	const want = `{"job":"nightly","state":"ENABLED","revision":1,"epoch":1,"pool":"fast-io",` +
		`"schedule":{"cron":"30 3 * * *","dialect":"unix","zone":"Europe/Berlin"},"next_fire_at":"2026-07-13T01:30:00.000Z","cursor_at":"2026-07-13T01:30:00.000Z","last_scheduled_at":null,` +
		`"created_at":"2026-07-12T12:00:00.001Z","updated_at":"2026-07-12T12:00:00.001Z","switch_at":null,"changed_by":"anonymous","reason":null,"reason_text":null,` +
		`"definition":{"job":"nightly","schedule":{"cron":"30 3 * * *","dialect":"unix","zone":"Europe/Berlin"},"target":{"log":{}},"pool":"fast-io",` +
		`"priority":"normal","timeout":"1m","retry":{"max_attempts":5,"base":"1s","max":"5m","max_age":"1d","max_lost":3},"concurrency":"ALLOW","on_resume":"FROM_NOW",` +
		`"misfire":{"policy":"FIRE_ONCE","window":"1d","max":1000,"tolerance":"1m"}}}`
	if got := strings.TrimSpace(answer.Body.String()); got != want || answer.Header().Get("ETag") != `"1"` {
		t.Errorf("ETag %s\n got %s\nwant %s", answer.Header().Get("ETag"), got, want)
	}
}

func TestTheNextTimeIsTheOneFromNowWhereverTheCursorStands(t *testing.T) {
	every := job.Schedule{Every: job.Duration(10 * time.Second)}
	ahead, once := noon.Truncate(time.Second).Add(310*time.Second), noon.Truncate(time.Second).Add(time.Minute)
	rows := map[string]struct {
		head         job.Head
		next, cursor string
	}{
		"made ahead":                   {job.Head{State: job.Enabled, Schedule: every, NextFireAt: ahead}, "2026-07-12T12:00:10.000Z", "2026-07-12T12:05:10.000Z"},
		"paused":                       {job.Head{State: job.Paused, Schedule: every}, "", ""},
		"once, and made ahead":         {job.Head{State: job.Completed, Schedule: job.Schedule{At: once}, LastScheduled: once}, "2026-07-12T12:01:00.000Z", ""},
		"with a gap to be recorded":    {job.Head{State: job.Enabled, Schedule: every, NextFireAt: noon, Gap: &job.Gap{Then: ahead}}, "2026-07-12T12:00:10.000Z", "2026-07-12T12:05:10.000Z"},
		"paused with a gap":            {job.Head{State: job.Paused, Schedule: every, NextFireAt: noon, Gap: &job.Gap{}}, "", ""},
		"with a schedule that is gone": {job.Head{State: job.Enabled, Schedule: job.Schedule{Cron: "x"}, NextFireAt: ahead}, "", "2026-07-12T12:05:10.000Z"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			if got := (&api{control: &control.Service{Clock: stopped{}}}).showJob(t.Context(), &row.head); got.NextFireAt.String() != row.next || got.CursorAt.String() != row.cursor {
				t.Errorf("next is %q, the cursor %q; want %q, %q", got.NextFireAt, got.CursorAt, row.next, row.cursor)
			}
		})
	}
}

func TestListsHaveACursorUntilTheLastPageAndLeaveOutDeletedJobs(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		w.with(t, name, nightlyJob)
	}
	w.ask("DELETE", "/v1/jobs/b", "")
	seen, cursor := map[string]bool{}, ""
	for range 10 {
		answer := w.ask("GET", "/v1/jobs?limit=1&cursor="+cursor, "")
		page := decode[client.Page[client.Job]](t, answer)
		for _, j := range page.Items {
			if seen[j.Job] || j.Definition != nil {
				t.Errorf("%s is listed again, or with its definition", j.Job)
			}
			seen[j.Job] = true
		}
		if cursor = string(page.NextCursor); cursor == "" {
			if !strings.HasSuffix(strings.TrimSpace(answer.Body.String()), `"next_cursor":null}`) {
				t.Errorf("last page: %s", answer.Body)
			}
			break
		}
	}
	if len(seen) != 3 || seen["b"] || cursor != "" {
		t.Errorf("listed are %v, the cursor at last %q", seen, cursor)
	}
}

func TestPausingAndResuming(t *testing.T) {
	w := newWorld(t).with(t, "often", logJob)
	for range 2 {
		if got := decode[client.Job](t, w.ask("POST", "/v1/jobs/often/pause", "")); got.State != job.Paused || !got.NextFireAt.IsZero() {
			t.Errorf("paused: %+v", got)
		}
	}
	if got := decode[client.Fires](t, w.ask("GET", "/v1/jobs/often/next", "")); len(got.Items) != 0 {
		t.Errorf("a paused job has coming times: %v", got.Items)
	}
	if got := decode[client.Job](t, w.ask("POST", "/v1/jobs/often/resume", "")); got.State != job.Enabled || got.NextFireAt.String() != "2026-07-12T12:00:10.000Z" {
		t.Errorf("resumed: %+v", got)
	}
	if p := problemOf(t, w.ask("POST", "/v1/jobs/never/pause", "")); p.Status != 404 || p.Code != job.CodeNotFound {
		t.Errorf("pausing what never was: %+v", p)
	}
}

func TestDeleting(t *testing.T) {
	w := newWorld(t).with(t, "nightly", nightlyJob)
	if p := problemOf(t, w.ask("DELETE", "/v1/jobs/nightly", "", `If-Match: "7"`)); p.Status != 412 || w.epoch(t, "nightly") != 1 {
		t.Errorf("with a revision that is not current: %+v", p)
	}
	for _, name := range []string{"a job", "a deleted job"} {
		if answer := w.ask("DELETE", "/v1/jobs/nightly", ""); answer.Code != 204 || answer.Body.Len() != 0 || w.epoch(t, "nightly") != 2 {
			t.Errorf("%s: %d %s, epoch %d", name, answer.Code, answer.Body, w.epoch(t, "nightly"))
		}
	}
	if p := problemOf(t, w.ask("DELETE", "/v1/jobs/never", "")); p.Status != 404 {
		t.Errorf("what never was a job: %+v", p)
	}
}

func TestNextFiresShowTheWallClockAndWhatAChangeOfClocksDid(t *testing.T) {
	w := newWorld(t).with(t, "nightly", strings.Replace(nightlyJob, "30 3", "30 2", 1))
	got := decode[client.Fires](t, w.ask("GET", "/v1/jobs/nightly/next?count=1&after=2026-03-28T12:00:00Z", ""))
	if len(got.Items) != 1 || got.Items[0].At.String() != "2026-03-29T01:00:00.000Z" || got.Items[0].Local != "2026-03-29 03:00:00 +02:00" ||
		!strings.Contains(string(got.Items[0].Note), "shifted") || got.Exhausted || got.Zone != "Europe/Berlin" || got.Description == "" {
		t.Errorf("%+v", got)
	}
}

func TestAScheduleCanBeTriedWithoutAJob(t *testing.T) {
	w := newWorld(t)
	got := decode[client.Fires](t, w.ask("POST", "/v1/schedule/next", `{"every":"10s","count":2}`))
	if len(got.Items) != 2 || got.Items[0].At.String() != "2026-07-12T12:00:10.000Z" || got.Items[0].Note != "" {
		t.Errorf("%+v", got)
	}
	once := decode[client.Fires](t, w.ask("POST", "/v1/schedule/next", `{"at":"2026-07-12T13:00:00Z","count":2}`))
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
			Template: rapid.Bool().Draw(t, "template"), Timeout: duration.Draw(t, "timeout"), Payload: rapid.SampledFrom([]json.RawMessage{nil, []byte(`{"a":[1,null]}`), []byte(`"x"`)}).Draw(t, "payload"),
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
