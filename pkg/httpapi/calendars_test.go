package httpapi

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/client"
)

// A story of one calendar, in order: each step is one request and what its answer
// holds.
func TestCalendarsByTheAPI(t *testing.T) {
	w := newWorld(t)
	const kept = `{"schedule":{"cron":"0 6 * * *","exclude":["de"]},"target":{"log":{}}}`
	for _, step := range []struct {
		says, method, path, body string
		header                   string
		status                   int
		holds                    []string
	}{
		{"a job cannot name what is not there", "PUT", "/v1/jobs/nightly", `{"schedule":{"cron":"0 6 * * *","exclude":["de"],"include":["fr"]},"target":{"log":{}}}`, "", 422, []string{`"field":"schedule.exclude"`, "there is no calendar de, fr"}},
		{"a dry run makes none", "PUT", "/v1/calendars/de?dry_run=true", `{"dates":["2026-07-14"]}`, "", 200, []string{`"action":"created"`, `"dry_run":true`, `"version":1`}},
		{"and so it is not there", "GET", "/v1/calendars/de", "", "", 404, []string{`there is no calendar \"de\"`}},
		{"it is made", "PUT", "/v1/calendars/de", `{"dates":["2026-07-14"]}`, "", 200, []string{`"action":"created"`, `"version":1`, `"jobs":0`}},
		{"the same again changes nothing", "PUT", "/v1/calendars/de", `{"dates":["2026-07-14"]}`, "", 200, []string{`"action":"unchanged"`, `"version":1`}},
		{"a job names it, and skips the 14th", "PUT", "/v1/jobs/nightly", kept, "", 201, []string{`"2026-07-13T06:00:00.000Z","2026-07-15T06:00:00.000Z"`}},
		{"its preview says so", "GET", "/v1/jobs/nightly/next?count=2", "", "", 200, []string{"2026-07-13T06:00:00.000Z", "2026-07-15T06:00:00.000Z"}},
		{"a schedule without a job may name it too", "POST", "/v1/schedule/next", `{"cron":"0 6 14 * *","exclude":["de"],"count":1}`, "", 200, []string{"2026-08-14T06:00:00.000Z"}},
		{"the job is shown with it", "GET", "/v1/jobs/nightly", "", "", 200, []string{`"exclude":["de"]`, `"next_fire_at":"2026-07-13T06:00:00.000Z"`}},
		{"a condition on another version is refused", "PUT", "/v1/calendars/de", `{"dates":["2026-07-15"]}`, `If-Match: "2"`, 412, []string{"version 1, not 2"}},
		{"a change tells what it does to jobs", "PUT", "/v1/calendars/de?dry_run=true", `{"dates":["2026-07-15"]}`, "", 200, []string{`"version":2`, `"jobs":1,"behind":1`, `{"job":"nightly","appear":["2026-07-14T06:00:00.000Z"],"vanish":["2026-07-15T06:00:00.000Z"]}`}},
		{"it changes", "PUT", "/v1/calendars/de", `{"dates":["2026-07-15"]}`, `If-Match: "1"`, 200, []string{`"action":"updated"`, `"version":2`}},
		{"the job keeps to its revision", "GET", "/v1/jobs/nightly/next?count=2", "", "", 200, []string{"2026-07-13T06:00:00.000Z", "2026-07-15T06:00:00.000Z"}},
		{"and is told to be behind", "GET", "/v1/calendars/de", "", "", 200, []string{`"version":2`, `"jobs":1,"behind":1`, `"dates":["2026-07-15"]`}},
		{"a put of the same job would take the new content", "PUT", "/v1/jobs/nightly?dry_run=true", kept, "", 200, []string{`"action":"updated"`, `"appear":["2026-07-14T06:00:00.000Z"]`, `"vanish":["2026-07-15T06:00:00.000Z"]`}},
		{"until it is applied", "POST", "/v1/calendars/de/apply", "", "", 200, []string{`"changed":1,"found":0,"put_off":0,"next_cursor":null`}},
		{"which changes nothing twice", "POST", "/v1/calendars/de/apply", "", "", 200, []string{`"changed":0`}},
		{"then it has the new times", "GET", "/v1/jobs/nightly/next?count=2", "", "", 200, []string{"2026-07-13T06:00:00.000Z", "2026-07-14T06:00:00.000Z"}},
		{"under a new revision", "PUT", "/v1/jobs/nightly", kept, "", 200, []string{`"action":"unchanged"`, `"revision":2`}},
		{"while it is named it cannot go", "DELETE", "/v1/calendars/de", "", "", 409, []string{`jobs keep to the calendar \"de\": nightly`}},
		{"a list has it", "GET", "/v1/calendars", "", "", 200, []string{`{"calendar":"de","version":2,"days":1,"windows":0,`}},
		{"a job that names it no longer", "PATCH", "/v1/jobs/nightly", `{"schedule":{"exclude":null}}`, "", 200, []string{`"action":"updated"`, `"appear":["2026-07-15T06:00:00.000Z"]`}},
		{"lets it go", "DELETE", "/v1/calendars/de", "", "", 204, nil},
		{"twice", "DELETE", "/v1/calendars/de", "", "", 204, nil},
		{"from the list", "GET", "/v1/calendars", "", "", 200, []string{`"items":[]`}},
		{"one that never was is none", "DELETE", "/v1/calendars/fr", "", "", 404, nil},
		{"made again it has a higher version", "PUT", "/v1/calendars/de", `{"dates":["2026-07-14"]}`, "", 200, []string{`"action":"created"`, `"version":4`}},
	} {
		headers := []string{}
		if step.header != "" {
			headers = append(headers, step.header)
		}
		answer := w.ask(step.method, step.path, step.body, headers...)
		if answer.Code != step.status {
			t.Fatalf("%s: %d %s", step.says, answer.Code, answer.Body)
		}
		for _, part := range step.holds {
			if !strings.Contains(answer.Body.String(), part) {
				t.Errorf("%s: %s\nlacks %s", step.says, answer.Body, part)
			}
		}
	}
}

func TestCalendarsAndSchedulesUnderThemAreRefusedByField(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		if answer := w.ask("PUT", "/v1/calendars/"+name, `{}`); answer.Code != http.StatusOK {
			t.Fatal(answer.Body)
		}
	}
	long := `{"weekly":[` + strings.TrimSuffix(strings.Repeat(`{"days":"`+strings.TrimSuffix(strings.Repeat("mon,", 300), ",")+`"},`, 40), ",") + `]}`
	for says, row := range map[string]struct{ path, body, code, field string }{
		"a date that is none":          {"/v1/calendars/x", `{"dates":["2026-02-30"]}`, "INVALID", "dates"},
		"a zone that is none":          {"/v1/calendars/x", `{"zone":"Mars"}`, "ZONE_UNKNOWN", "zone"},
		"another name than the path's": {"/v1/calendars/x", `{"calendar":"y"}`, "INVALID", "calendar"},
		"an unknown key":               {"/v1/calendars/x", `{"date":[]}`, "UNKNOWN_FIELD", "date"},
		"too many bytes":               {"/v1/calendars/x", long, "TOO_LARGE", "calendar"},
		"a name that is none":          {"/v1/calendars/X!", `{}`, "INVALID", "calendar"},
		"on_excluded alone":            {"/v1/jobs/x", `{"schedule":{"cron":"0 6 * * *","on_excluded":"SKIP"},"target":{"log":{}}}`, "INVALID", "schedule.on_excluded"},
		"a policy that is none":        {"/v1/jobs/x", `{"schedule":{"cron":"0 6 * * *","exclude":["a"],"on_excluded":"LATER"},"target":{"log":{}}}`, "POLICY_UNKNOWN", "on_excluded"},
		"a move of an interval":        {"/v1/jobs/x", `{"schedule":{"every":"1h","exclude":["a"],"on_excluded":"NEXT_BUSINESS_DAY"},"target":{"log":{}}}`, "SCHEDULE_INVALID", "on_excluded"},
		"a calendar named twice":       {"/v1/jobs/x", `{"schedule":{"cron":"0 6 * * *","exclude":["a"],"include":["a"]},"target":{"log":{}}}`, "INVALID", "schedule.exclude"},
		"six calendars":                {"/v1/jobs/x", `{"schedule":{"cron":"0 6 * * *","exclude":["a","b","c","d","e","f"]},"target":{"log":{}}}`, "INVALID", "schedule.exclude"},
		"a schedule within nothing":    {"/v1/jobs/x", `{"schedule":{"cron":"0 6 * * *","include":["a"]},"target":{"log":{}}}`, "SCHEDULE_NEVER_FIRES", ""},
	} {
		answer := w.ask("PUT", row.path, row.body)
		if answer.Code != http.StatusUnprocessableEntity || !strings.Contains(answer.Body.String(), `"code":"`+row.code+`"`) || row.field != "" && !strings.Contains(answer.Body.String(), `"field":"`+row.field+`"`) {
			t.Errorf("%s: %d %s", says, answer.Code, answer.Body)
		}
	}
}

// A story, in order: what a job would be under calendars that nobody has written.
func TestADryRunTriesCalendarsWithoutWritingThem(t *testing.T) {
	w := newWorld(t)
	const named = `{"schedule":{"cron":"0 6 * * *","exclude":["de"]},"target":{"log":{}}`
	const tried = named + `,"calendars":[{"calendar":"de","dates":["2026-07-14"]}]}`
	for _, step := range []struct {
		says, method, path, body string
		status                   int
		holds                    string
	}{
		{"under one that is not there", "PUT", "/v1/jobs/nightly?dry_run=true", tried, 200, `"appear":["2026-07-13T06:00:00.000Z","2026-07-15T06:00:00.000Z"`},
		{"which is not there then either", "GET", "/v1/calendars/de", "", 404, ""},
		{"nor is the job", "GET", "/v1/jobs/nightly", "", 404, ""},
		{"a put that writes tries none", "PUT", "/v1/jobs/nightly", tried, 422, `"field":"calendars"`},
		{"under one with a mistake", "PUT", "/v1/jobs/nightly?dry_run=true", strings.Replace(tried, "07-14", "02-30", 1), 422, `"field":"dates"`},
		{"under one with a key that is none", "PUT", "/v1/jobs/nightly?dry_run=true", strings.Replace(tried, `"dates"`, `"days"`, 1), 422, `"field":"calendars[0].days"`},
		{"under one of another name", "PUT", "/v1/jobs/nightly?dry_run=true", strings.Replace(tried, `"calendar":"de"`, `"calendar":"fr"`, 1), 422, "there is no calendar de"},
		{"the calendar is made", "PUT", "/v1/calendars/de", `{"dates":["2026-07-14"]}`, 200, `"version":1`},
		{"and the job", "PUT", "/v1/jobs/nightly", named + "}", 201, `"action":"created"`},
		{"under the same content it stays as it is", "PUT", "/v1/jobs/nightly?dry_run=true", tried, 200, `"action":"unchanged"`},
		{"under another it is an edit", "PUT", "/v1/jobs/nightly?dry_run=true", strings.Replace(tried, "07-14", "07-15", 1), 200, `"action":"updated","dry_run":true`},
		{"that moves its times", "PUT", "/v1/jobs/nightly?dry_run=true", strings.Replace(tried, "07-14", "07-15", 1), 200, `"appear":["2026-07-14T06:00:00.000Z"],"vanish":["2026-07-15T06:00:00.000Z"]`},
		{"and was none", "PUT", "/v1/jobs/nightly", named + "}", 200, `"action":"unchanged"`},
		{"a patch knows no calendars", "PATCH", "/v1/jobs/nightly?dry_run=true", `{"calendars":[]}`, 422, `"field":"calendars"`},
	} {
		if answer := w.ask(step.method, step.path, step.body); answer.Code != step.status || !strings.Contains(answer.Body.String(), step.holds) {
			t.Fatalf("%s: %d %s\nwant %d with %s", step.says, answer.Code, answer.Body, step.status, step.holds)
		}
	}
}

func TestAnApplyGoesOnWhereTheOneBeforeEnded(t *testing.T) {
	w := newWorld(t)
	if answer := w.ask("PUT", "/v1/calendars/de", `{"dates":["2026-07-14"]}`); answer.Code != http.StatusOK {
		t.Fatal(answer.Body)
	}
	const kept = `{"schedule":{"cron":"0 6 * * *","exclude":["de"]},"target":{"log":{}}}`
	w.with(t, "nightly", kept).with(t, "weekly", kept)
	first := decode[client.Page[client.Job]](t, w.ask("GET", "/v1/jobs?limit=1", ""))
	for says, row := range map[string]struct {
		cursor string
		status int
	}{
		"among the jobs that are known to name it": {"nightly", http.StatusOK},
		"among all jobs, at the first":             {"~", http.StatusOK},
		"among all jobs, behind the first":         {"~" + string(first.NextCursor), http.StatusOK},
		"at a place that is none":                  {"~nowhere", http.StatusUnprocessableEntity},
	} {
		answer := w.ask("POST", "/v1/calendars/de/apply?cursor="+url.QueryEscape(row.cursor), "")
		if answer.Code != row.status || row.status == http.StatusOK && !strings.Contains(answer.Body.String(), `"next_cursor":null`) {
			t.Errorf("%s: %d %s", says, answer.Code, answer.Body)
		}
	}
}
