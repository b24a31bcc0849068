package httpapi

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// unreadable are requests that are refused before anything is written.
var unreadable = []struct {
	name                       string
	method, path, body, header string
	status                     int
	code                       job.Code
	field                      string
}{
	{name: "a path that is nothing", method: "GET", path: "/v2/jobs", status: 404, code: job.CodeNotFound, field: "path"},
	{name: "a method that a path does not take", method: "POST", path: "/v1/jobs/nightly", body: logJob, status: 405, code: job.CodeInvalid, field: "method"},
	{name: "a form instead of JSON", method: "PUT", path: "/v1/jobs/nightly", body: logJob, header: "Content-Type: application/x-www-form-urlencoded", status: 415, code: job.CodeInvalid, field: "Content-Type"},
	{name: "a body that is too large", method: "PUT", path: "/v1/jobs/nightly", body: `{"description":"` + strings.Repeat("x", maxBody) + `"}`, status: 413, code: job.CodeTooLarge, field: "body"},
	{name: "no body", method: "PUT", path: "/v1/jobs/nightly", status: 400, code: job.CodeInvalid, field: "body"},
	{name: "broken JSON", method: "PUT", path: "/v1/jobs/nightly", body: `{"schedule":`, status: 400, code: job.CodeInvalid, field: "body"},
	{name: "two JSON values", method: "PUT", path: "/v1/jobs/nightly", body: logJob + logJob, status: 400, code: job.CodeInvalid, field: "body"},
	{name: "a key given twice", method: "PUT", path: "/v1/jobs/nightly", body: `{"schedule":{"every":"10s","every":"20s"},"target":{"log":{}}}`, status: 400, code: job.CodeInvalid, field: "body"},
	{name: "JSON that nests too deep", method: "PUT", path: "/v1/jobs/nightly", body: `{"payload":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, status: 400, code: job.CodeInvalid, field: "body"},
	{name: "bytes that are not UTF-8", method: "PUT", path: "/v1/jobs/nightly", body: strings.Replace(logJob, "{", "{\"description\":\"caf\xe9\",", 1), status: 400, code: job.CodeInvalid, field: "body"},
	{name: "a number that no double holds", method: "PUT", path: "/v1/jobs/nightly", body: strings.Replace(logJob, "{", `{"payload":[1e400],`, 1), status: 400, code: job.CodeInvalid, field: "body"},
	{name: "a whole number with a point", method: "PUT", path: "/v1/jobs/nightly", body: strings.Replace(logJob, "{", `{"retry":{"max_attempts":3.0},`, 1), status: 422, code: job.CodeInvalid, field: "body"},
	{name: "no attempts", method: "PUT", path: "/v1/jobs/nightly", body: strings.Replace(logJob, "{", `{"retry":{"max_attempts":0},`, 1), status: 422, code: job.CodeInvalid, field: "retry.max_attempts"},
	{name: "no time for an attempt", method: "PUT", path: "/v1/jobs/nightly", body: strings.Replace(logJob, "{", `{"timeout":"0s",`, 1), status: 422, code: job.CodeInvalid, field: "timeout"},
	{name: "an execution that is not there", method: "GET", path: "/v1/executions/nightly~20260712T013000Z~v3", status: 404, code: job.CodeNotFound, field: "id"},
	{name: "a key that is not known", method: "PUT", path: "/v1/jobs/nightly", body: `{"schedule":{"every":"10s","zoone":"UTC"},"target":{"log":{}}}`, status: 422, code: job.CodeUnknownField, field: "schedule.zoone"},
	{name: "a key in the wrong case", method: "PUT", path: "/v1/jobs/nightly", body: `{"Schedule":{"every":"10s"},"target":{"log":{}}}`, status: 422, code: job.CodeInvalid},
	{name: "a number where text is expected", method: "PUT", path: "/v1/jobs/nightly", body: `{"schedule":{"every":10},"target":{"log":{}}}`, status: 422, code: job.CodeInvalid, field: "schedule.every"},
	{name: "a duration without unit", method: "PUT", path: "/v1/jobs/nightly", body: `{"schedule":{"every":"10s"},"target":{"log":{}},"retry":{"max_age":"7"}}`, status: 422, code: job.CodeInvalid, field: "retry.max_age"},
	{name: "a name that can be nobody's", method: "PUT", path: "/v1/jobs/Nightly", body: logJob, status: 422, code: job.CodeInvalid, field: "job"},
	{name: "an If-Match without quotes", method: "PUT", path: "/v1/jobs/nightly", body: logJob, header: "If-Match: 3", status: 422, code: job.CodeInvalid, field: "If-Match"},
	{name: "an If-None-Match with a revision", method: "PUT", path: "/v1/jobs/nightly", body: logJob, header: `If-None-Match: "3"`, status: 422, code: job.CodeInvalid, field: "If-None-Match"},
	{name: "a query parameter that is not known", method: "GET", path: "/v1/jobs?limits=3", status: 422, code: job.CodeUnknownField, field: "limits"},
	{name: "a limit out of bounds", method: "GET", path: "/v1/executions?limit=1001", status: 422, code: job.CodeInvalid, field: "limit"},
	{name: "a status that is none", method: "GET", path: "/v1/executions?status=READY", status: 422, code: job.CodeInvalid, field: "status[0]"},
	{name: "an id that is none", method: "GET", path: "/v1/executions/nightly", status: 422, code: job.CodeInvalid, field: "id"},
	{name: "a time that is none", method: "GET", path: "/v1/jobs/nightly/next?after=tomorrow", status: 422, code: job.CodeTimeInvalid, field: "after"},
	{name: "a dry run that says neither", method: "PUT", path: "/v1/jobs/nightly?dry_run=", body: logJob, status: 422, code: job.CodeInvalid, field: "dry_run"},
	{name: "a dry run with no value", method: "PUT", path: "/v1/jobs/nightly?dry_run", body: logJob, status: 422, code: job.CodeInvalid, field: "dry_run"},
	{name: "a dry run that is both", method: "PUT", path: "/v1/jobs/nightly?dry_run=false&dry_run=true", body: logJob, status: 422, code: job.CodeInvalid, field: "dry_run"},
	{name: "a switch-over at no time", method: "PATCH", path: "/v1/jobs/nightly?effective_at=", body: `{"timeout":"5m"}`, status: 422, code: job.CodeInvalid, field: "effective_at"},
	{name: "a query that cannot be read", method: "PUT", path: "/v1/jobs/nightly?dry_run=%zz", body: logJob, status: 422, code: job.CodeInvalid, field: "query"},
	{name: "a choice in a body that nobody reads", method: "POST", path: "/v1/jobs/nightly/resume", body: `{"on_resume":"CATCH_UP"}`, status: 422, code: job.CodeInvalid, field: "body"},
	{name: "a condition that nobody looks at", method: "POST", path: "/v1/jobs/nightly/pause", header: `If-Match: "1"`, status: 422, code: job.CodeInvalid, field: "If-Match"},
	{name: "a patch of a job that is not to be there", method: "PATCH", path: "/v1/jobs/nightly", body: `{"timeout":"5m"}`, header: "If-None-Match: *", status: 422, code: job.CodeInvalid, field: "If-None-Match"},
	{name: "a JSON Patch", method: "PATCH", path: "/v1/jobs/nightly", body: `[{"op":"remove","path":"/timeout"}]`, header: "Content-Type: application/json-patch+json", status: 415, code: job.CodeInvalid, field: "Content-Type"},
	{name: "a backfill from nowhere", method: "POST", path: "/v1/jobs/nightly/backfills", body: `{}`, status: 422, code: job.CodeInvalid, field: "from"},
	{name: "a backfill at no rate", method: "POST", path: "/v1/jobs/nightly/backfills", body: `{"from":"2026-07-01T00:00:00Z","rate":0}`, status: 422, code: job.CodeInvalid, field: "rate"},
	{name: "another origin", method: "POST", path: "/v1/jobs/nightly/run", header: "Sec-Fetch-Site: cross-site", status: 403, code: job.CodeInvalid, field: "Origin"},
}

func TestARequestThatCannotBeReadIsRefusedByName(t *testing.T) {
	for _, row := range unreadable {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			var headers []string
			if row.header != "" {
				headers = append(headers, row.header)
			}
			answer := w.ask(row.method, row.path, row.body, headers...)
			if answer.Code != row.status {
				t.Errorf("status %d, want %d: %s", answer.Code, row.status, answer.Body)
			}
			p := problemOf(t, answer)
			if p.Code != row.code || row.field != "" && p.Field != row.field {
				t.Errorf("code %s field %q, want %s %q (%s)", p.Code, p.Field, row.code, row.field, p.Detail)
			}
			if told := p.Detail + p.Value; strings.Contains(told, "Go ") || strings.Contains(told, "#") {
				t.Errorf("the refusal shows how the service is built: %+v", p)
			}
			if p.Detail == "" || p.Fix+p.Bound == "" || p.RequestID != answer.Header().Get(RequestIDHeader) {
				t.Errorf("the refusal explains too little: %+v", p)
			}
			if w.epoch(t, "nightly") != 0 {
				t.Error("something was written")
			}
		})
	}
}

func TestEveryFaultOfABodyIsToldAtOnce(t *testing.T) {
	answer := newWorld(t).ask("PUT", "/v1/jobs/nightly", `{"schedule":{"every":"ten","start":"noon"},"target":{"log":{}},"timeout":"1 h"}`)
	p := problemOf(t, answer)
	var fields []string
	for _, f := range p.Errors {
		fields = append(fields, f.Field)
	}
	if got := strings.Join(fields, " "); got != "schedule.every schedule.start timeout" {
		t.Errorf("told are %q", got)
	}
}

func TestWhatAMethodMayBeIsToldInAllow(t *testing.T) {
	answer := newWorld(t).ask("POST", "/v1/jobs/nightly", logJob)
	if got := answer.Header().Get("Allow"); got != "DELETE, GET, HEAD, PATCH, PUT" {
		t.Errorf("Allow is %q", got)
	}
}

func TestFaultsOfOursShowARequestIDAndNothingOfTheInside(t *testing.T) {
	rows := map[string]func(*world) *httptest.ResponseRecorder{
		"a panic": func(w *world) *httptest.ResponseRecorder {
			w.service.Executions = nil
			return w.ask("GET", "/v1/executions/nightly~20260712T013000Z~v3", "")
		},
		"an error that nobody explains": func(w *world) *httptest.ResponseRecorder {
			w.service.Jobs = failing{err: errors.New("secret: table belfry-jobs")}
			return w.ask("GET", "/v1/jobs/nightly", "")
		},
		"a broken invariant": func(w *world) *httptest.ResponseRecorder {
			w.service.Jobs = failing{err: &job.Error{Code: job.CodeInternal, Message: "secret: pk default/nightly"}}
			return w.ask("GET", "/v1/jobs/nightly", "")
		},
	}
	for name, ask := range rows {
		t.Run(name, func(t *testing.T) {
			answer := ask(newWorld(t))
			if body := answer.Body.String(); strings.Contains(body, "secret") || strings.Contains(body, "nil pointer") {
				t.Errorf("the inside is shown: %s", body)
			}
			p := problemOf(t, answer)
			if p.Status != 500 || p.Code != job.CodeInternal || p.RequestID != "abababababababab" || !strings.Contains(p.Fix, p.RequestID) {
				t.Errorf("got %+v", p)
			}
		})
	}
}

func TestTheStatusFollowsFromTheCode(t *testing.T) {
	rows := map[job.Code]int{
		job.CodeScheduleNever: 422, job.CodeNotSupported: 422, job.CodeTooLarge: 422, job.CodeNotFound: 404, job.CodeStateConflict: 409, job.CodeLeaseLost: 409,
		job.CodeRevisionConflict: 412, job.CodeAlreadyExists: 412, job.CodeThrottled: 429, job.CodeUnavailable: 503, job.CodeInternal: 500,
	}
	for code, status := range rows {
		t.Run(string(code), func(t *testing.T) {
			w := newWorld(t)
			w.service.Jobs = failing{err: &job.Error{Code: code, Field: "f", Value: "v", Bound: "b", Message: "m", Fix: "x"}}
			answer := w.ask("GET", "/v1/jobs/nightly", "")
			if answer.Code != status {
				t.Errorf("%s is answered with %d, want %d", code, answer.Code, status)
			}
			if busy := status == 429 || status == 503; busy != (answer.Header().Get("Retry-After") == "1") {
				t.Errorf("Retry-After is %q", answer.Header().Get("Retry-After"))
			}
			if p := problemOf(t, answer); status != 500 && (p.Code != code || p.Field != "f" || p.Value != "v" || p.Bound != "b" || p.Detail != "m" || p.Fix != "x") {
				t.Errorf("got %+v", p)
			}
		})
	}
}

func TestOnlyTheNamesOfTheServiceAreAnswered(t *testing.T) {
	rows := []struct {
		host string
		want int
	}{{"127.0.0.1:8420", 200}, {"localhost", 200}, {"LOCALHOST:1", 200}, {"[::1]:8420", 200}, {"evil.example:8420", 421}, {"", 421}}
	for _, row := range rows {
		t.Run(row.host, func(t *testing.T) {
			w := newWorld(t)
			w.options.Hosts = []string{"127.0.0.1", "localhost", "::1"}
			r := httptest.NewRequest(http.MethodGet, "/v1/health", nil)
			r.Host = row.host
			answer := httptest.NewRecorder()
			New(&w.service, w.options).ServeHTTP(answer, r)
			if answer.Code != row.want {
				t.Errorf("%q is answered with %d, want %d", row.host, answer.Code, row.want)
			}
		})
	}
}

func TestACallerSeesItsOwnTenantAndIsNamedInWhatItChanges(t *testing.T) {
	w := newWorld(t)
	w.options.Identify = func(r *http.Request) (Caller, error) {
		name := r.Header.Get("Authorization")
		if name == "" {
			return Caller{}, &job.Error{Code: job.CodeNotFound, Message: "nobody is called that", Fix: "log in"}
		}
		return Caller{Tenant: name, Principal: "ada"}, nil
	}
	if answer := w.ask("PUT", "/v1/jobs/nightly", nightlyJob); answer.Code != 404 {
		t.Errorf("an unknown caller got %d", answer.Code)
	}
	if answer := w.ask("PUT", "/v1/jobs/nightly", nightlyJob, "Authorization: acme"); answer.Code != 201 {
		t.Errorf("got %d: %s", answer.Code, answer.Body)
	}
	if got := decode[client.Job](t, w.ask("GET", "/v1/jobs/nightly", "", "Authorization: acme")); got.ChangedBy != "ada" {
		t.Errorf("the change is told as that of %q", got.ChangedBy)
	}
	if answer := w.ask("GET", "/v1/jobs/nightly", "", "Authorization: other"); answer.Code != 404 {
		t.Errorf("another tenant got %d", answer.Code)
	}
	if page := decode[client.Page[client.Job]](t, w.ask("GET", "/v1/jobs", "", "Authorization: other")); len(page.Items) != 0 {
		t.Errorf("another tenant sees %v", page.Items)
	}
}

func TestOneServiceAnswersManyAtOnce(t *testing.T) {
	w := newWorld(t).with(t, "nightly", nightlyJob)
	service := New(&w.service, w.options)
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			path := []string{"/v1/jobs/nightly", "/v1/jobs", "/v1/openapi.json", "/v1/jobs/nightly/next"}[i%4]
			answer := httptest.NewRecorder()
			service.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
			if answer.Code != http.StatusOK || answer.Header().Get(RequestIDHeader) != "abababababababab" {
				t.Errorf("%s is answered with %d under id %q", path, answer.Code, answer.Header().Get(RequestIDHeader))
			}
		})
	}
	all.Wait()
}
