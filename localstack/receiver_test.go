//go:build stack

package localstack

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

// delivery is one webhook call that arrived.
type delivery struct {
	job, execution, key string
	attempt             int
	token               int64
	scheduled, arrived  time.Time
	body                []byte
}

// receiver is what the deployed webhooks call. /steady takes everything, /flaky
// refuses the first attempt of each execution, /broken takes nothing, /refusing
// says that trying again cannot help, and /endless lets the first attempt wait
// until its caller is gone.
type receiver struct {
	url string

	mu   sync.Mutex
	seen []delivery
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(told(t, "BELFRY_STACK_RECEIVER"), "0"))
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{url: "http://" + listener.Addr().String()}
	server := &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	return r
}

// ServeHTTP notes the call and answers as its path says.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	arrived := time.Now()
	body, _ := io.ReadAll(io.LimitReader(q.Body, 1<<20))
	attempt, _ := strconv.Atoi(q.Header.Get("Belfry-Attempt"))
	token, _ := strconv.ParseInt(q.Header.Get("Belfry-Fencing-Token"), 10, 64)
	scheduled, _ := time.Parse(time.RFC3339, q.Header.Get("Belfry-Scheduled-Time"))
	r.mu.Lock()
	r.seen = append(r.seen, delivery{job: q.Header.Get("Belfry-Job"), execution: q.Header.Get("Belfry-Execution-Id"), key: q.Header.Get("Idempotency-Key"),
		attempt: attempt, token: token, scheduled: scheduled, arrived: arrived, body: body})
	r.mu.Unlock()
	if q.URL.Path == "/endless" && attempt == 1 {
		<-q.Context().Done()
	}
	if q.URL.Path == "/refusing" {
		w.WriteHeader(http.StatusBadRequest)
	}
	if q.URL.Path == "/broken" || q.URL.Path == "/flaky" && attempt == 1 {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

// of is what arrived for a job, by execution, in order of arrival.
func (r *receiver) of(name string) map[string][]delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[string][]delivery{}
	for _, d := range r.seen {
		if d.job == name {
			found[d.execution] = append(found[d.execution], d)
		}
	}
	return found
}
