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

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

// noon is the clock of every test here, with a fraction that must be cut off.
var noon = time.Date(2026, 7, 12, 12, 0, 0, 1_999_999, time.UTC)

// stopped is a clock that shows one instant.
type stopped struct{}

func (stopped) Now() time.Time                              { return noon }
func (stopped) Wait(ctx context.Context, _ time.Time) error { return ctx.Err() }

// alike is entropy that is the same each time, for as many requests at once as come.
type alike struct{}

func (alike) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0xab
	}
	return len(p), nil
}

// world is one API over the whole control plane on a backend in memory. No
// worker runs, so what is made stays SCHEDULED.
type world struct {
	service control.Service
	options Options
}

func newWorld(t *testing.T) *world {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	clients := assemble.Clients{DynamoDB: dynamodb.NewFromConfig(backend.Config()), SQS: sqs.NewFromConfig(backend.Config())}
	belfry := assemble.New(clients, assemble.Settings{Clock: stopped{}, Shards: 4})
	if err := belfry.Ensure(t.Context(), clients); err != nil {
		t.Fatal(err)
	}
	return &world{service: *belfry.Control, options: Options{Version: "test", Entropy: alike{}}}
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
	New(&w.service, w.options).ServeHTTP(answer, r)
	return answer
}

const (
	logJob     = `{"schedule":{"every":"10s"},"target":{"log":{}}}`
	nightlyJob = `{"schedule":{"cron":"30 3 * * *","zone":"Europe/Berlin"},"target":{"log":{}}}`
)

// with makes a job and fails the test when that is refused.
func (w *world) with(t *testing.T, name, definition string) *world {
	t.Helper()
	if answer := w.ask("PUT", "/v1/jobs/"+name, definition); answer.Code != http.StatusCreated {
		t.Fatalf("the job %s was not made: %s", name, answer.Body)
	}
	return w
}

// epoch is that of the stored head of a job, 0 for one that never was: each
// write of a verb raises it.
func (w *world) epoch(t *testing.T, name string) int64 {
	t.Helper()
	head, err := w.service.Jobs.Head(t.Context(), job.Ref{Tenant: job.DefaultTenant, Job: name})
	if err != nil {
		t.Fatal(err)
	}
	if head == nil {
		return 0
	}
	return head.Epoch
}

// failing is a store of jobs whose reads fail.
type failing struct {
	control.Jobs
	err error
}

func (f failing) Head(context.Context, job.Ref) (*job.Head, error) { return nil, f.err }

// showing is a store that holds this one execution, whatever is asked for.
type showing struct {
	control.Executions
	execution *job.Execution
}

func (s showing) Execution(context.Context, job.Ref, job.Key) (*job.Execution, error) {
	return s.execution, nil
}

// listing is a list that holds this, and keeps what it was asked.
type listing struct {
	control.Lists
	list  []job.Execution
	asked job.ExecutionQuery
}

func (l *listing) ListExecutions(_ context.Context, q job.ExecutionQuery) ([]job.Execution, string, error) {
	l.asked = q
	return l.list, "", nil
}

func (l *listing) Recent(_ context.Context, _ string, q job.ExecutionQuery) ([]job.Execution, string, error) {
	l.asked = q
	return l.list, "", nil
}

func decode[T any](t *testing.T, answer *httptest.ResponseRecorder) T {
	t.Helper()
	var out T
	if err := json.Unmarshal(answer.Body.Bytes(), &out); err != nil || answer.Code >= 300 {
		t.Fatalf("%d %v in %s", answer.Code, err, answer.Body)
	}
	return out
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
