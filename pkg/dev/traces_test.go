package dev

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/observe/otlp"
	"github.com/belfry-scheduler/belfry/pkg/observe/otlp/otlptest"
)

// receiver fails the first call and remembers what each was told of its trace.
type receiver struct {
	mu     sync.Mutex
	traced []string
	second chan struct{}
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.traced = append(r.traced, request.Header.Get("Traceparent"))
	if len(r.traced) == 1 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	close(r.second)
}

// TestAWebhookGoesOnInTheTraceOfItsCall runs a job by hand whose webhook fails
// once, and looks at what a collector on a socket was sent.
func TestAWebhookGoesOnInTheTraceOfItsCall(t *testing.T) {
	hook, collector := &receiver{second: make(chan struct{})}, &otlptest.Collector{}
	called, collecting := httptest.NewServer(hook), httptest.NewServer(collector)
	defer called.Close()
	defer collecting.Close()
	done := errors.New("seen enough")
	o := Options{Data: t.TempDir(), Listen: "127.0.0.1:0", AWSListen: "127.0.0.1:0", Entropy: rand.Reader, Traces: tracesTo(t, collecting.URL)}
	o.Ready = func(ctx context.Context, urls URLs) error {
		definition := `{"schedule":{"every":"1d"},"payload":"the-payload-must-not-travel","retry":{"max_attempts":2,"base":"1s"},` +
			`"target":{"webhook":{"url":"` + called.URL + `/a-path-with-a-key?token=hunter2","headers":{"X-Key":"hunter3"}}}}`
		if err := send(ctx, http.MethodPut, urls.API+"/v1/jobs/hook", definition); err != nil {
			return err
		}
		if err := send(ctx, http.MethodPost, urls.API+"/v1/jobs/hook/run", "{}"); err != nil {
			return err
		}
		<-hook.second
		// The answer is on its way to the worker, which then settles.
		for o.Traces.Flush(ctx); len(collector.Named("belfry.attempt")) < 2; o.Traces.Flush(ctx) {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(10 * time.Millisecond):
			}
		}
		return done
	}
	if err := Run(t.Context(), o); !errors.Is(err, done) {
		t.Fatal(err)
	}
	calls := collector.Named("belfry.webhook")
	if len(calls) != 2 || len(hook.traced) != 2 {
		collector.Show(t)
		t.Fatalf("%d spans of %d calls", len(calls), len(hook.traced))
	}
	for n, call := range calls {
		if want := "00-" + call.Trace + "-" + call.ID + "-01"; hook.traced[n] != want {
			t.Errorf("call %d was told %s, want %s", n+1, hook.traced[n], want)
		}
		if want := []string{"503", "200"}[n]; call.About["http.response.status_code"] != want || call.Failed != (n == 0) || call.Kind != "CLIENT" || call.About["server.address"] != "127.0.0.1" {
			t.Errorf("call %d says %+v", n+1, call)
		}
		above := collector.Named("belfry.handler")[n]
		if call.Parent != above.ID || !slices.Equal(collector.Under(above), []string{"belfry.webhook"}) {
			t.Errorf("call %d is not below its handler: %+v", n+1, call)
		}
	}
	for _, secret := range []string{"the-payload-must-not-travel", "hunter2", "hunter3", "a-path-with-a-key"} {
		if collector.Holds(secret) {
			t.Errorf("%s was exported", secret)
		}
	}
	if made := collector.Named("belfry.materialise"); len(made) != 1 || made[0].Trace != calls[0].Trace || made[0].Trace == calls[1].Trace {
		t.Errorf("a run by hand is made as %+v", made)
	}
}

func tracesTo(t *testing.T, endpoint string) *otlp.Export {
	t.Helper()
	settings, err := otlp.ReadSettings(func(name string) (string, bool) {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}[name], true
	})
	if err != nil {
		t.Fatal(err)
	}
	traces, err := assemble.Traces(t.Context(), settings, assemble.Settings{}, "dev", "1", aws.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return traces
}

func send(ctx context.Context, method, url, body string) error {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s", method, url, answer.Status)
	}
	return nil
}
