package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// answer is one answer of a scripted service; a status of 0 breaks the
// connection instead.
type answer struct {
	status int
	body   string
	header string // "Name: value"
}

// script serves the answers in turn, the last one again and again, and keeps
// what it was asked.
type script struct {
	mu      sync.Mutex // a lost answer reaches the client before its handler ends
	answers []answer
	asked   []string
	bodies  []string
	header  http.Header
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.bodies, s.header = append(s.asked, r.Method+" "+r.URL.RequestURI()), append(s.bodies, string(body)), r.Header
	a := s.answers[min(len(s.asked), len(s.answers))-1]
	if a.status == 0 {
		panic(http.ErrAbortHandler)
	}
	if name, value, found := strings.Cut(a.header, ": "); found {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	fmt.Fprint(w, a.body)
}

// start serves the script and makes a client whose waits are only written down.
func start(t *testing.T, answers ...answer) (*script, *Client, *[]time.Duration) {
	t.Helper()
	s := &script{answers: answers}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	waits := &[]time.Duration{}
	c, err := New(Options{BaseURL: server.URL + "/", Token: "secret", HTTP: server.Client(), Wait: func(_ context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s, c, waits
}

const (
	throttled   = `{"status":429,"code":"THROTTLED","detail":"full"}`
	unavailable = `{"status":503,"code":"UNAVAILABLE","detail":"resting"}`
	anExecution = `{"id":"nightly~m-01ARZ3NDEKTSV4RRFFQ69G5FAV~v1","job":"nightly","status":"SCHEDULED","fencing_token":null,"started_at":null,"reason":null}`
)

func TestEachOperationAsksForItsPath(t *testing.T) {
	at := time.Date(2026, 7, 12, 12, 0, 0, 0, time.UTC)
	rows := map[string]struct {
		call func(context.Context, *Client) error
		want string
	}{
		"put": {func(ctx context.Context, c *Client) error {
			_, err := c.PutJob(ctx, job.Definition{Job: "a"}, PutOptions{})
			return err
		}, "PUT /v1/jobs/a"},
		"put dry": {func(ctx context.Context, c *Client) error {
			_, err := c.PutJob(ctx, job.Definition{Job: "a"}, PutOptions{DryRun: true})
			return err
		}, "PUT /v1/jobs/a?dry_run=true"},
		"get":                              {func(ctx context.Context, c *Client) error { _, err := c.Job(ctx, "a"); return err }, "GET /v1/jobs/a"},
		"a name that would leave its path": {func(ctx context.Context, c *Client) error { _, err := c.Job(ctx, "a/../b?c"); return err }, "GET /v1/jobs/a%2F..%2Fb%3Fc"},
		"list":                             {func(ctx context.Context, c *Client) error { _, err := c.Jobs(ctx, "x=", 7); return err }, "GET /v1/jobs?cursor=x%3D&limit=7"},
		"delete":                           {func(ctx context.Context, c *Client) error { return c.DeleteJob(ctx, "a", 0) }, "DELETE /v1/jobs/a"},
		"pause":                            {func(ctx context.Context, c *Client) error { _, err := c.PauseJob(ctx, "a"); return err }, "POST /v1/jobs/a/pause"},
		"resume": {func(ctx context.Context, c *Client) error {
			_, err := c.ResumeJob(ctx, "a", job.ResumeCatchUp)
			return err
		}, "POST /v1/jobs/a/resume?on_resume=CATCH_UP"},
		"run":        {func(ctx context.Context, c *Client) error { _, err := c.RunJob(ctx, "a", ""); return err }, "POST /v1/jobs/a/run"},
		"next":       {func(ctx context.Context, c *Client) error { _, err := c.NextFires(ctx, "a", at, 3); return err }, "GET /v1/jobs/a/next?after=2026-07-12T12%3A00%3A00Z&count=3"},
		"executions": {func(ctx context.Context, c *Client) error { _, err := c.Executions(ctx, ExecutionQuery{}); return err }, "GET /v1/executions"},
		"of a job": {func(ctx context.Context, c *Client) error {
			_, err := c.Executions(ctx, ExecutionQuery{Job: "a", Statuses: []job.Status{job.Dead, job.Failed}, Upcoming: true})
			return err
		}, "GET /v1/jobs/a/executions?status=DEAD&status=FAILED&upcoming=true"},
		"execution": {func(ctx context.Context, c *Client) error { _, err := c.Execution(ctx, "a~1~v1"); return err }, "GET /v1/executions/a~1~v1"},
		"timeline":  {func(ctx context.Context, c *Client) error { _, err := c.Timeline(ctx, "a~1~v1"); return err }, "GET /v1/executions/a~1~v1/timeline"},
		"cancel":    {func(ctx context.Context, c *Client) error { _, err := c.CancelExecution(ctx, "a~1~v1"); return err }, "POST /v1/executions/a~1~v1/cancel"},
		"health":    {func(ctx context.Context, c *Client) error { _, err := c.Health(ctx); return err }, "GET /v1/health"},
		"reconcile": {func(ctx context.Context, c *Client) error { _, err := c.Reconcile(ctx, "there"); return err }, "POST /v1/reconcile?cursor=there"},
		"restore":   {func(ctx context.Context, c *Client) error { _, err := c.Restore(ctx); return err }, "POST /v1/restore"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			s, c, _ := start(t, answer{status: 200, body: "{}"})
			if err := row.call(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if len(s.asked) != 1 || s.asked[0] != row.want || s.header.Get("Authorization") != "Bearer secret" {
				t.Errorf("asked %v with %v, want %s", s.asked, s.header, row.want)
			}
		})
	}
}

func TestPreconditionsTravelAsHeaders(t *testing.T) {
	s, c, _ := start(t, answer{status: 200, body: "{}"})
	if _, err := c.PutJob(t.Context(), job.Definition{Job: "a"}, PutOptions{IfMatch: 3, IfAbsent: true}); err != nil {
		t.Fatal(err)
	}
	if s.header.Get("If-Match") != `"3"` || s.header.Get("If-None-Match") != "*" || s.header.Get("Content-Type") != "application/json" {
		t.Errorf("sent %v", s.header)
	}
}

func TestACallIsRepeatedOnlyWhenThatIsSafe(t *testing.T) {
	read := func(ctx context.Context, c *Client) error { _, err := c.Job(ctx, "a"); return err }
	run := func(ctx context.Context, c *Client) error { _, err := c.RunJob(ctx, "a", ""); return err }
	keyed := func(ctx context.Context, c *Client) error { _, err := c.RunJob(ctx, "a", "release-42"); return err }
	create := func(ctx context.Context, c *Client) error {
		_, err := c.PutJob(ctx, job.Definition{Job: "a"}, PutOptions{IfAbsent: true})
		return err
	}
	lost, busy, resting := answer{}, answer{status: 429, body: throttled}, answer{status: 503, body: unavailable}
	gateway := answer{status: 502, body: "<html>"}
	rows := []struct {
		name  string
		call  func(context.Context, *Client) error
		first answer
		tries int
	}{
		{"a read whose answer is lost", read, lost, 2},
		{"a read that is throttled", read, busy, 2},
		{"a read while the service rests", read, resting, 2},
		{"a read that a gateway refuses", read, gateway, 2},
		{"a run whose answer is lost", run, lost, 1},
		{"a run with an idempotency key whose answer is lost", keyed, lost, 2},
		{"a run that is throttled, so nothing was made", run, busy, 2},
		{"a run while the service rests, which may have made it", run, resting, 1},
		{"a run that a gateway refuses", run, gateway, 1},
		{"a create whose answer is lost", create, lost, 1},
		{"a read that is refused", read, answer{status: 422, body: `{"status":422,"code":"INVALID","detail":"no"}`}, 1},
		{"a read of what is not there", read, answer{status: 404, body: `{"status":404,"code":"NOT_FOUND","detail":"no"}`}, 1},
		{"a read that fails through the service's fault", read, answer{status: 500, body: `{"status":500,"code":"INTERNAL","detail":"no"}`}, 1},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s, c, waits := start(t, row.first, answer{status: 200, body: anExecution})
			err := row.call(t.Context(), c)
			s.mu.Lock()
			defer s.mu.Unlock()
			if (err == nil) != (row.tries == 2) || len(s.asked) != row.tries || len(*waits) != row.tries-1 {
				t.Errorf("%d tries, %d waits, %v", len(s.asked), len(*waits), err)
			}
		})
	}
}

func TestRepeatsAreBoundedAndWaitLongerEachTime(t *testing.T) {
	s, c, waits := start(t, answer{status: 503, body: unavailable})
	_, err := c.Health(t.Context())
	if job.CodeOf(err) != job.CodeUnavailable || len(s.asked) != 4 {
		t.Errorf("%d tries, then %v", len(s.asked), err)
	}
	if want := fmt.Sprint([]time.Duration{200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond}); fmt.Sprint(*waits) != want {
		t.Errorf("waited %v, want %s", *waits, want)
	}
}

func TestRetryAfterIsHeededWithinReason(t *testing.T) {
	for header, want := range map[string]time.Duration{"3": 3 * time.Second, "86400": 10 * time.Second, "-1": 200 * time.Millisecond, "soon": 200 * time.Millisecond} {
		t.Run(header, func(t *testing.T) {
			_, c, waits := start(t, answer{status: 429, body: throttled, header: "Retry-After: " + header}, answer{status: 200, body: "{}"})
			if _, err := c.Health(t.Context()); err != nil || len(*waits) != 1 || (*waits)[0] != want {
				t.Errorf("waited %v, want %s: %v", *waits, want, err)
			}
		})
	}
}

func TestACallerThatGivesUpIsNotKept(t *testing.T) {
	s, c, _ := start(t, answer{status: 503, body: unavailable})
	ctx, cancel := context.WithCancel(t.Context())
	c.options.Wait = func(ctx context.Context, _ time.Duration) error { cancel(); return ctx.Err() }
	if _, err := c.Health(ctx); job.CodeOf(err) != job.CodeUnavailable || len(s.asked) != 1 {
		t.Errorf("while waiting: %d tries, %v", len(s.asked), err)
	}
	if _, err := c.Health(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("before the call: %v", err)
	}
}

func TestARefusalComesBackWithAllThatTheServerSaid(t *testing.T) {
	_, c, _ := start(t, answer{status: 422, body: `{"type":"about:blank","title":"Unprocessable Entity","status":422,"code":"SCHEDULE_INVALID","field":"minute","value":"61","bound":"0-59","detail":"too large","fix":"choose less","request_id":"r1"}`},
		answer{status: 500, body: `{"status":500,"code":"INTERNAL","detail":"it failed","request_id":"r2"}`})
	_, err := c.Job(t.Context(), "a")
	want := job.Error{Code: job.CodeScheduleInvalid, Field: "minute", Value: "61", Bound: "0-59", Message: "too large", Fix: "choose less"}
	var got *job.Error
	if !errors.As(err, &got) || *got != want {
		t.Errorf("got %+v", err)
	}
	if _, err = c.Job(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "(request r2)") {
		t.Errorf("a fault of the service does not name its request: %v", err)
	}
}

func TestWhatIsNoBelfryIsUnreachable(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	refusing, err := New(Options{BaseURL: closed.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, page, _ := start(t, answer{status: 404, body: "<html>not here</html>"})
	_, other, _ := start(t, answer{status: 200, body: "<html>welcome</html>"})
	for name, c := range map[string]*Client{"nothing listens": refusing, "a web server without Belfry": page, "a web server that likes everything": other} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Health(t.Context())
			var unreachable *Unreachable
			if !errors.As(err, &unreachable) || unreachable.URL != c.URL() {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWhatAGatewayDoesNotLetInIsDeniedAndNotRepeated(t *testing.T) {
	for sentence, row := range map[string]struct {
		gateway answer
		want    Denied
	}{
		"by its authorizer": {answer{status: 403, body: `{"message":"Forbidden"}`, header: "X-Amzn-Errortype: AccessDeniedException:http://about.it/"},
			Denied{Status: 403, Message: "Forbidden", Kind: "AccessDeniedException"}},
		"without a word of JSON": {answer{status: 401, body: "who are you?\n", header: "Date: Sun, 12 Jul 2026 12:00:00 GMT"},
			Denied{Status: 401, Message: "who are you?", At: time.Date(2026, 7, 12, 12, 0, 0, 0, time.UTC)}},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, c, _ := start(t, row.gateway)
			_, err := c.Health(t.Context())
			var got *Denied
			if !errors.As(err, &got) || len(s.asked) != 1 {
				t.Fatalf("%d tries, %v", len(s.asked), err)
			}
			row.want.URL = c.URL()
			if row.want.At.IsZero() {
				got.At = time.Time{}
			}
			if *got != row.want {
				t.Errorf("got %+v, want %+v", *got, row.want)
			}
		})
	}
}

// unsigned is a transport that sends nothing.
type unsigned struct{ asked *int }

func (u unsigned) RoundTrip(*http.Request) (*http.Response, error) { *u.asked++; return nil, u }
func (unsigned) Error() string                                     { return "no key" }
func (unsigned) NotSent() bool                                     { return true }

func TestACallThatItsTransportDidNotSendIsNotRepeated(t *testing.T) {
	asked := 0
	c, err := New(Options{HTTP: &http.Client{Transport: unsigned{&asked}}, Wait: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.Health(t.Context()); asked != 1 || !errors.As(err, &unsigned{}) || err.Error() != "no key" {
		t.Errorf("%d tries, %v", asked, err)
	}
}

func TestABaseURLThatIsNoneIsRefused(t *testing.T) {
	for _, url := range []string{"localhost:8420", "ftp://a", "http://", "http://user:pass@a", "http://a?b", "http://a#b", "://"} {
		if _, err := New(Options{BaseURL: url}); job.CodeOf(err) != job.CodeInvalid {
			t.Errorf("%q: %v", url, err)
		}
	}
	if c, err := New(Options{}); err != nil || c.URL() != DefaultURL {
		t.Errorf("%v %v", c, err)
	}
}

func TestEveryWalksAllPagesAndStopsAtAnError(t *testing.T) {
	pages := map[string]Page[int]{"": {Items: []int{1, 2}, NextCursor: "b"}, "b": {NextCursor: "c"}, "c": {Items: []int{3}}}
	read := func(cursor string) (Page[int], error) { return pages[cursor], nil }
	var got []int
	for n, err := range Every("", read) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, n)
	}
	if fmt.Sprint(got) != "[1 2 3]" {
		t.Errorf("got %v", got)
	}
	broken := errors.New("broken")
	for _, err := range Every("b", func(cursor string) (Page[int], error) { return Page[int]{NextCursor: "b"}, broken }) {
		if !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	}
}

func TestAbsentValuesAreNullAndTimesAreCutToMilliseconds(t *testing.T) {
	at := time.Date(2026, 7, 12, 14, 0, 0, 1_999_999, time.FixedZone("", 7200))
	written, err := json.Marshal(struct {
		A, B Time
		C, D Text
	}{A: At(at), C: "x"})
	if want := `{"A":"2026-07-12T12:00:00.001Z","B":null,"C":"x","D":null}`; err != nil || string(written) != want {
		t.Errorf("got %s, want %s", written, want)
	}
	var read Execution
	if err := json.Unmarshal([]byte(anExecution), &read); err != nil || !read.StartedAt.IsZero() || read.Reason != "" || read.FencingToken != nil {
		t.Errorf("%v %+v", err, read)
	}
}
