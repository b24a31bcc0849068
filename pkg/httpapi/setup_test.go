package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// noon is the clock of every test here, with a fraction that must be cut off.
var noon = time.Date(2026, 7, 12, 12, 0, 0, 1_999_999, time.UTC)

type stopped struct{}

func (stopped) Now() time.Time { return noon }

// jobsStub answers single questions; whatever else is asked panics, and the
// test sees the 500 of it.
type jobsStub struct {
	control.Jobs
	head     *job.Head
	revision *job.Revision
	err      error
	changed  []job.HeadChange
	asked    []job.Ref
}

func (s *jobsStub) Head(_ context.Context, ref job.Ref) (*job.Head, error) {
	s.asked = append(s.asked, ref)
	return s.head, s.err
}

func (s *jobsStub) Revision(context.Context, job.Ref, int) (*job.Revision, error) {
	return s.revision, s.err
}

func (s *jobsStub) ChangeHead(_ context.Context, c job.HeadChange) error {
	s.changed = append(s.changed, c)
	return nil
}

func (s *jobsStub) ListJobs(_ context.Context, _, cursor string, limit int) ([]job.Head, string, error) {
	if cursor == "second" || limit != 100 {
		return []job.Head{*s.head}, "", nil
	}
	return []job.Head{*s.head, {Ref: s.head.Ref, State: job.Deleted}}, "second", nil
}

type executionsStub struct {
	control.Executions
	execution *job.Execution
}

func (s *executionsStub) NotBegun(context.Context, job.Ref, time.Time) ([]job.Execution, error) {
	return nil, nil
}

func (s *executionsStub) Execution(context.Context, job.Ref, job.Key) (*job.Execution, error) {
	return s.execution, nil
}

func (s *executionsStub) PutOutside(context.Context, *job.Execution) error { return nil }

type listsStub struct {
	control.Lists
	list  []job.Execution
	asked control.ExecutionQuery
}

func (s *listsStub) ListExecutions(_ context.Context, q control.ExecutionQuery) ([]job.Execution, string, error) {
	s.asked = q
	return s.list, "", nil
}

func (s *listsStub) Recent(_ context.Context, _ string, q control.ExecutionQuery) ([]job.Execution, string, error) {
	s.asked = q
	return s.list, "", nil
}

type poolsStub struct{}

func (poolsStub) Ceiling(pool string) (time.Duration, bool) {
	return 15 * time.Minute, pool == job.DefaultPool
}
func (poolsStub) Names() []string { return []string{job.DefaultPool} }

type materialiserStub struct{}

func (materialiserStub) Materialise(context.Context, job.Ref) error { return nil }

type senderStub struct{}

func (senderStub) Send(context.Context, *job.Execution) error { return nil }

// world is one API over stubs.
type world struct {
	jobs       *jobsStub
	executions *executionsStub
	lists      *listsStub
	options    Options
}

func newWorld() *world {
	return &world{jobs: &jobsStub{}, executions: &executionsStub{}, lists: &listsStub{},
		options: Options{Version: "test", Entropy: strings.NewReader(strings.Repeat("\xab", 1<<10))}}
}

func (w *world) handler() http.Handler {
	return New(&control.Service{Jobs: w.jobs, Executions: w.executions, Lists: w.lists, Materialiser: materialiserStub{}, Sender: senderStub{},
		Pools: poolsStub{}, Clock: stopped{}, Entropy: strings.NewReader(strings.Repeat("x", 64)), Horizon: 300 * time.Second}, w.options)
}

// ask sends one request; headers are "Name: value".
func (w *world) ask(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, path, reader)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	answer := httptest.NewRecorder()
	w.handler().ServeHTTP(answer, r)
	return answer
}

func problemOf(t *testing.T, answer *httptest.ResponseRecorder) client.Problem {
	t.Helper()
	if got := answer.Header().Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("a refusal has the content type %q; body: %s", got, answer.Body)
	}
	var p client.Problem
	decoder := json.NewDecoder(answer.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		t.Fatalf("a refusal does not decode as a problem: %v", err)
	}
	if p.Status != answer.Code || p.Title != http.StatusText(answer.Code) || p.Type != "about:blank" {
		t.Errorf("the problem says %d %q %q, the status line %d", p.Status, p.Title, p.Type, answer.Code)
	}
	return p
}

var nightly = job.Ref{Tenant: job.DefaultTenant, Job: "nightly"}

// enabledHead is a job with a nightly schedule, at revision 3.
func enabledHead() *job.Head {
	return &job.Head{Ref: nightly, State: job.Enabled, Revision: 3, Epoch: 7, Pool: job.DefaultPool, ChangedBy: "ada",
		Schedule:  job.Schedule{Cron: "30 3 * * *", Dialect: job.DialectUnix, Zone: "Europe/Berlin"},
		CreatedAt: noon.Add(-time.Hour), UpdatedAt: noon.Add(-time.Minute), NextFireAt: time.Date(2026, 7, 13, 1, 30, 0, 0, time.UTC)}
}

func enabledRevision() *job.Revision {
	return &job.Revision{Ref: nightly, Number: 3, Definition: job.Definition{Job: "nightly",
		Schedule: job.Schedule{Cron: "30 3 * * *", Zone: "Europe/Berlin"}, Target: job.Target{Log: &job.LogTarget{}}}.WithDefaults()}
}
