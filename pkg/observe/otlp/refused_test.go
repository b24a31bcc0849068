package otlp_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/observe/otlp"
	"github.com/belfry-scheduler/belfry/pkg/observe/otlp/otlptest"
)

// moody is a collector that answers with a status, and takes what comes only
// with one of success.
type moody struct {
	otlptest.Collector
	mu     sync.Mutex
	status int
	asked  int
}

func (m *moody) now(status int) { m.mu.Lock(); m.status = status; m.mu.Unlock() }

func (m *moody) times() int { m.mu.Lock(); defer m.mu.Unlock(); return m.asked }

func (m *moody) RoundTrip(r *http.Request) (*http.Response, error) {
	m.mu.Lock()
	m.asked++
	status := m.status
	m.mu.Unlock()
	if status < 300 {
		response, err := m.Collector.RoundTrip(r)
		response.StatusCode = status
		return response, err
	}
	return &http.Response{StatusCode: status, Status: fmt.Sprint(status, " ", http.StatusText(status)), Body: io.NopCloser(strings.NewReader("no")), Request: r}, nil
}

// spans ends n spans, each of which a flush could send.
func spans(t *testing.T, e *otlp.Export, n int) {
	t.Helper()
	for range n {
		e.Spans().Materialised(t.Context(), execution(), made, nil)
	}
}

func TestACollectorThatAnswersAnErrorHasFailed(t *testing.T) {
	for status, failed := range map[int]bool{200: false, 202: false, 299: false, 301: true, 400: true, 403: true, 429: true, 500: true, 503: true} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				collector := &moody{status: status}
				e := open(t, nil, collector, &log)
				spans(t, e, 3)
				e.Flush(t.Context())
				synctest.Wait()
				if told := strings.Contains(log.String(), fmt.Sprint("the collector answers ", status)) && strings.Contains(log.String(), "spans=3"); told != failed {
					t.Errorf("said %q", log.String())
				}
				// It rests once it has failed, and is asked again at once otherwise.
				spans(t, e, 1)
				e.Flush(t.Context())
				if rests := collector.times() == 1; rests != failed {
					t.Errorf("two flushes asked it %d times", collector.times())
				}
				e.Close(t.Context())
			})
		})
	}
}

func TestACollectorThatTakesABatchAgainRestsNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		collector := &moody{status: http.StatusServiceUnavailable}
		e := open(t, nil, collector, io.Discard)
		spans(t, e, 1)
		e.Flush(t.Context())
		collector.now(http.StatusOK)
		spans(t, e, 1)
		time.Sleep(6 * time.Second) // the SDK sends by itself every five
		if got := len(collector.Spans()); got != 1 {
			t.Fatalf("%d spans were taken without a flush, want the second", got)
		}
		spans(t, e, 1)
		e.Flush(t.Context())
		if got := len(collector.Spans()); got != 2 {
			t.Errorf("a flush right after the collector took a batch left it at %d spans: it still rests", got)
		}
		e.Close(t.Context())
	})
}
