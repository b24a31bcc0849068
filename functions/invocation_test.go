package functions

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe/otlp"
	"github.com/belfry-scheduler/belfry/pkg/observe/otlp/otlptest"
)

func exporting(t *testing.T, transport http.RoundTripper) *Installation {
	t.Helper()
	settings, err := otlp.ReadSettings(func(name string) (string, bool) {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector"}[name], true
	})
	if err != nil {
		t.Fatal(err)
	}
	n := uint64(0)
	traces, err := otlp.Open(t.Context(), otlp.Options{Settings: settings, HTTP: transport, Clock: clock.System{}, Random: func() uint64 { n++; return n }})
	if err != nil {
		t.Fatal(err)
	}
	return &Installation{Belfry: &assemble.Belfry{}, Traces: traces}
}

// away is a collector that never answers.
type away struct{}

func (away) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestAnInvocationEndsWithItsSpansSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		collector := &otlptest.Collector{}
		i := exporting(t, collector)
		defer i.Traces.Close(t.Context())
		made := lambda.NewHandler(func(ctx context.Context) (string, error) {
			now := time.Now()
			i.Traces.Spans().Materialised(ctx, &job.Execution{Ref: job.Ref{Tenant: "acme", Job: "billing"}, Key: job.ScheduledKey(now), CreatedAt: now}, now, nil)
			return "done", nil
		})
		ctx := context.WithValue(t.Context(), invocationTrace, "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1") //nolint:revive,staticcheck // the runtime's own key
		answer, err := i.traced(made).Invoke(ctx, []byte("{}"))
		if string(answer) != `"done"` || err != nil {
			t.Fatalf("answered %s, %v", answer, err)
		}
		all := collector.Spans()
		if len(all) != 1 || len(all[0].Links) != 1 || all[0].Links[0] != (otlptest.Link{Trace: "5759e988bd862e3fe1be46a994272793", Span: "53995c3f42cd8ad8", Why: "cause"}) {
			t.Errorf("when the invocation ended, the collector had %+v", all)
		}
	})
}

func TestACollectorThatIsAwayNeitherFailsNorHoldsAnInvocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := exporting(t, away{})
		refused := errors.New("the handler's own")
		made := lambda.NewHandler(func(ctx context.Context) error {
			now := time.Now()
			i.Traces.Spans().Materialised(ctx, &job.Execution{Key: job.ScheduledKey(now), CreatedAt: now}, now, nil)
			return refused
		})
		began := time.Now()
		for n := range 20 {
			if _, err := i.traced(made).Invoke(t.Context(), []byte("{}")); !errors.Is(err, refused) {
				t.Fatalf("invocation %d answered %v", n, err)
			}
		}
		if took := time.Since(began); took > 500*time.Millisecond {
			t.Errorf("20 invocations were held for %s", took)
		}
		i.Traces.Close(t.Context())
		time.Sleep(time.Minute)
	})
}

func TestWithoutTracesTheHandlerIsServedAsItIs(t *testing.T) {
	made := lambda.NewHandler(func() error { return nil })
	if got := (&Installation{}).traced(made); got == nil {
		t.Error("no handler is served")
	} else if _, wrapped := got.(flushing); wrapped {
		t.Error("an invocation pays for traces that are off")
	}
}
