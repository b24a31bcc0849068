package container

import (
	"bytes"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

// standing is a clock that stands until it is moved.
type standing struct{ at time.Time }

func (s *standing) now() time.Time { return s.at }

func TestHowAWorkerSaysItIs(t *testing.T) {
	const long = deafAfter + time.Second
	type step func(c *standing, h *health)
	hears := func(c *standing, h *health) { h.heard.Store(true); h.seen() }
	waits := func(d time.Duration) step { return func(c *standing, _ *health) { c.at = c.at.Add(d) } }
	runs := func(n int) step { return func(_ *standing, h *health) { h.running = func() int { return n } } }
	asked := func(_ *standing, h *health) { h.state() }
	stops := func(_ *standing, h *health) { h.draining.Store(true) }
	for sentence, row := range map[string]struct {
		steps       []step
		live, ready int
		state       string
	}{
		"it has just begun":                                {nil, 200, 503, stateStarting},
		"a queue has answered":                             {[]step{hears}, 200, 200, stateOK},
		"no queue ever answers":                            {[]step{waits(long)}, 503, 503, stateDeaf},
		"the queues have gone silent":                      {[]step{hears, waits(long)}, 503, 503, stateDeaf},
		"a queue has been silent for one long poll":        {[]step{hears, waits(20 * time.Second)}, 200, 200, stateOK},
		"a silent queue answers again":                     {[]step{hears, waits(long), hears}, 200, 200, stateOK},
		"the queues are silent, but something runs":        {[]step{hears, runs(2), waits(long)}, 200, 200, stateOK},
		"what filled it for long has just ended":           {[]step{hears, runs(2), waits(long), asked, runs(0), waits(time.Minute)}, 200, 200, stateOK},
		"what filled it ended, and no queue answers since": {[]step{hears, runs(2), waits(long), asked, runs(0), waits(long)}, 503, 503, stateDeaf},
		"it drains":                    {[]step{hears, runs(1), stops}, 200, 503, stateDraining},
		"it drains what takes minutes": {[]step{hears, runs(1), stops, waits(long)}, 200, 503, stateDraining},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := &standing{at: time.Date(2026, 7, 12, 1, 30, 0, 0, time.UTC)}
			h := newHealth(c.now)
			for _, step := range row.steps {
				step(c, h)
			}
			for path, want := range map[string]int{"/healthz": row.live, "/readyz": row.ready, "/": 404} {
				answer := httptest.NewRecorder()
				h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
				if answer.Code != want {
					t.Errorf("%s answers %d %s, want %d", path, answer.Code, answer.Body, want)
				}
				if said := `"state":"` + row.state + `"`; want != 404 && !strings.Contains(answer.Body.String(), said) {
					t.Errorf("%s says %s, want %s", path, answer.Body, said)
				}
			}
		})
	}
}

func TestOnlyTheAnswerToAReceiveIsHeard(t *testing.T) {
	local, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	h := newHealth(time.Now)
	client := sqs.NewFromConfig(local.Config(), h.hear)
	name, absent := "belfry-fast-io", "http://localhost/000000000000/absent"
	made, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: &name})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &absent}); err == nil {
		t.Fatal("a queue that is not there answered")
	}
	if h.state() != stateStarting {
		t.Errorf("after another call and a refusal it is %s, want %s", h.state(), stateStarting)
	}
	if _, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: made.QueueUrl}); err != nil {
		t.Fatal(err)
	}
	if h.state() != stateOK {
		t.Errorf("after an answer without messages it is %s, want %s", h.state(), stateOK)
	}
}

// freePort is an address of this machine at which nothing listens.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

func TestTheWorkerAsksItselfHowItIs(t *testing.T) {
	c := &standing{at: time.Unix(0, 0)}
	h := newHealth(c.now)
	_, port, _ := net.SplitHostPort(freePort(t))
	stop, err := h.serve(":"+port, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	asks := func(address string) (int, string) {
		var out, errOut bytes.Buffer
		code := run(t.Context(), []string{"--health"}, environment(map[string]string{"BELFRY_HEALTH": address}), &out, &errOut)
		return code, out.String() + errOut.String()
	}
	expect := func(address string, code int, part string) {
		t.Helper()
		if got, said := asks(address); got != code || !strings.Contains(said, part) {
			t.Errorf("asked at %q it ends with %d: %s; want %d: %s", address, got, said, code, part)
		}
	}
	for _, address := range []string{":" + port, "0.0.0.0:" + port, "127.0.0.1:" + port, "localhost:" + port} {
		expect(address, exitOK, stateStarting)
	}
	c.at = c.at.Add(deafAfter + 1)
	expect(":"+port, exitFailed, stateDeaf)
	if _, err := h.serve("127.0.0.1:"+port, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "BELFRY_HEALTH") {
		t.Errorf("a second worker listens at the same address: %v", err)
	}
	stop()
	expect(":"+port, exitFailed, "ask how the worker is")
	expect("", exitUsage, "BELFRY_HEALTH")
}
