package httpapi

import (
	"net/http"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestABackfillIsAskedForReadListedAndCanceled(t *testing.T) {
	w := newWorld(t).with(t, "nightly", nightlyJob)
	const path, month = "/v1/jobs/nightly/backfills", `{"from":"2026-07-01T00:00:00Z","rate":2}`
	dry := w.ask("POST", path+"?dry_run=true", month)
	if answer := decode[client.BackfillAnswer](t, dry); dry.Code != http.StatusOK || answer.Count != 12 || answer.There == nil || *answer.There != 0 || answer.ID != "" {
		t.Errorf("a dry run gives %d %+v", dry.Code, answer)
	}
	if page := decode[client.Page[client.Backfill]](t, w.ask("GET", path, "")); len(page.Items) != 0 {
		t.Errorf("a dry run left %v", page.Items)
	}
	made := w.ask("POST", path, month)
	b := decode[client.BackfillAnswer](t, made)
	if made.Code != http.StatusCreated || made.Header().Get("Location") != path+"/"+string(b.ID) || b.Made != 12 || b.There != nil {
		t.Errorf("it gives %d at %q: %+v", made.Code, made.Header().Get("Location"), b)
	}
	if one := decode[client.Backfill](t, w.ask("GET", made.Header().Get("Location"), "")); one != b.Backfill {
		t.Errorf("it reads as %+v", one)
	}
	if page := decode[client.Page[client.Backfill]](t, w.ask("GET", path, "")); len(page.Items) != 1 || page.Items[0] != b.Backfill {
		t.Errorf("it is listed as %+v", page.Items)
	}
	for range 2 {
		canceled := decode[client.Backfill](t, w.ask("POST", path+"/"+string(b.ID)+"/cancel", ""))
		if canceled.State != job.BackfillCanceled || canceled.CanceledBy == "" {
			t.Errorf("canceled it is %+v", canceled)
		}
	}
}

func TestWhatIsWrongWithABackfillIsSaidByField(t *testing.T) {
	w := newWorld(t).with(t, "nightly", nightlyJob).with(t, "often", `{"schedule":{"cron":"* * * * *"},"target":{"log":{}}}`)
	for says, row := range map[string]struct {
		job, body string
		code      job.Code
		field     string
	}{
		"no beginning":                      {"nightly", `{"from":""}`, job.CodeInvalid, "from"},
		"a beginning that is no time":       {"nightly", `{"from":"yesterday"}`, job.CodeTimeInvalid, "from"},
		"an end before the beginning":       {"nightly", `{"from":"2026-07-02T00:00:00Z","to":"2026-07-01T00:00:00Z"}`, job.CodeInvalid, "to"},
		"an end to come":                    {"nightly", `{"from":"2026-07-02T00:00:00Z","to":"2026-07-13T00:00:00Z"}`, job.CodeInvalid, "to"},
		"a rate too high":                   {"nightly", `{"from":"2026-07-02T00:00:00Z","rate":10.1}`, job.CodeInvalid, "rate"},
		"a rate below zero":                 {"nightly", `{"from":"2026-07-02T00:00:00Z","rate":-1}`, job.CodeInvalid, "rate"},
		"a range without times":             {"nightly", `{"from":"2026-07-02T04:00:00Z","to":"2026-07-02T05:00:00Z"}`, job.CodeInvalid, "from"},
		"times longer ago than is kept":     {"nightly", `{"from":"2026-06-01T00:00:00Z"}`, job.CodeInvalid, "from"},
		"a rate too slow for what is kept":  {"often", `{"from":"2026-06-20T00:00:00Z","rate":0.01}`, job.CodeInvalid, "from"},
		"more times than one backfill has":  {"often", `{"from":"2026-04-01T00:00:00Z","force":true}`, job.CodeTooLarge, "to"},
		"a job that never was":              {"nobody", `{"from":"2026-07-02T00:00:00Z"}`, job.CodeNotFound, "job"},
		"a field that means nothing":        {"nightly", `{"from":"2026-07-02T00:00:00Z","speed":2}`, job.CodeUnknownField, "speed"},
		"a dry run is refused all the same": {"nightly?", `{"from":"2026-06-01T00:00:00Z"}`, job.CodeInvalid, "from"},
	} {
		t.Run(says, func(t *testing.T) {
			path := "/v1/jobs/" + row.job + "/backfills"
			if row.job == "nightly?" {
				path = "/v1/jobs/nightly/backfills?dry_run=true"
			}
			if p := problemOf(t, w.ask("POST", path, row.body)); p.Code != row.code || p.Field != row.field {
				t.Errorf("it says %s at %q: %s", p.Code, p.Field, p.Detail)
			}
		})
	}
	if answer := w.ask("POST", "/v1/jobs/nightly/backfills", `{"from":"2026-06-01T00:00:00Z","force":true}`); answer.Code != http.StatusCreated {
		t.Errorf("forced it is refused: %s", answer.Body)
	}
}
