package otlp_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe/otlp"
	"github.com/belfry-scheduler/belfry/pkg/observe/otlp/otlptest"
)

func lookup(set map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, found := set[name]; return v, found }
}

func TestReadSettings(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	for sentence, row := range map[string]struct {
		set  map[string]string
		want string // where spans go; empty = nowhere
	}{
		"nothing is off":                           {nil, ""},
		"an empty endpoint is off":                 {map[string]string{endpoint: " "}, ""},
		"the endpoint of all signals is completed": {map[string]string{endpoint: "http://c:4318/base/"}, "http://c:4318/base/v1/traces"},
		"the endpoint of traces stands as it is":   {map[string]string{endpoint: "http://c:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://xray.eu-west-1.amazonaws.com/v1/traces"}, "https://xray.eu-west-1.amazonaws.com/v1/traces"},
		"none is off":                              {map[string]string{endpoint: "http://c", "OTEL_TRACES_EXPORTER": "none"}, ""},
		"a disabled SDK is off":                    {map[string]string{endpoint: "http://c", "OTEL_SDK_DISABLED": "true"}, ""},
		"all at once": {map[string]string{endpoint: "http://c", "OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
			"OTEL_EXPORTER_OTLP_TIMEOUT": "2500", "OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.1", "OTEL_SERVICE_NAME": "s", "OTEL_EXPORTER_OTLP_HEADERS": "a=b%20c, d=e"}, "http://c/v1/traces"},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, err := otlp.ReadSettings(lookup(row.set))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if s.Endpoint != nil {
				got = s.Endpoint.String()
			}
			if got != row.want {
				t.Errorf("spans go to %q, want %q", got, row.want)
			}
			if sentence == "all at once" && (!s.Gzip || s.Timeout != 2500*time.Millisecond || s.Service != "s" || s.Headers["a"] != "b c" || s.Headers["d"] != "e") {
				t.Errorf("read %+v", s)
			}
		})
	}
}

func TestAVariableThatCannotBeUsedIsRefusedByName(t *testing.T) {
	for _, row := range []struct{ name, value string }{
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"}, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "/v1/traces"}, {"OTEL_TRACES_EXPORTER", "zipkin"},
		{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"}, {"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "0"}, {"OTEL_EXPORTER_OTLP_TIMEOUT", "10s"}, {"OTEL_TRACES_SAMPLER", "xray"}, {"OTEL_EXPORTER_OTLP_HEADERS", "hunter2"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "a=hunter2%0a"}, {"OTEL_TRACES_SAMPLER_ARG", "2"}, {"OTEL_TRACES_SAMPLER_ARG", "NaN"}, {"OTEL_RESOURCE_ATTRIBUTES", "a"},
	} {
		t.Run(row.name+"="+row.value, func(t *testing.T) {
			set := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_TRACES_SAMPLER": "traceidratio", row.name: row.value}
			_, err := otlp.ReadSettings(lookup(set))
			var refusal *job.Error
			if !errors.As(err, &refusal) || refusal.Field != row.name || refusal.Bound == "" || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("refused with %v", err)
			}
		})
	}
}

var made = time.Date(2026, 7, 12, 1, 30, 0, 0, time.UTC)

func execution() *job.Execution {
	return &job.Execution{Ref: job.Ref{Tenant: "acme", Job: "billing"}, Key: job.ScheduledKey(made), Revision: 3, Pool: "fast-io", CreatedAt: made, AvailableAt: made}
}

// open makes an export over a transport, in a synctest bubble.
func open(t *testing.T, set map[string]string, transport http.RoundTripper, log io.Writer) *otlp.Export {
	t.Helper()
	settings, err := otlp.ReadSettings(func(name string) (string, bool) {
		if v, found := set[name]; found || name != "OTEL_EXPORTER_OTLP_ENDPOINT" {
			return v, found
		}
		return "http://collector", true
	})
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Uint64
	e, err := otlp.Open(t.Context(), otlp.Options{Settings: settings, HTTP: transport, Clock: clock.System{}, Random: func() uint64 { return n.Add(1) },
		Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// unreachable is a collector that does not answer, or answers an error.
type unreachable struct {
	mu    sync.Mutex
	asked int
	err   error // nil = it hangs
}

func (u *unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	u.mu.Lock()
	u.asked++
	u.mu.Unlock()
	if u.err != nil {
		return nil, u.err
	}
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestACollectorThatCannotBeReachedDelaysNothingForLong(t *testing.T) {
	for sentence, row := range map[string]struct {
		err   error
		least time.Duration // that the first flush takes
		most  time.Duration
	}{
		"it hangs":                  {nil, 500 * time.Millisecond, 500 * time.Millisecond},
		"it refuses the connection": {errors.New("connection refused"), 0, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log strings.Builder
				away := &unreachable{err: row.err}
				e := open(t, nil, away, &log)
				flush := func() time.Duration {
					e.Spans().Materialised(t.Context(), execution(), made, nil)
					began := time.Now()
					e.Flush(t.Context())
					return time.Since(began)
				}
				if took := flush(); took < row.least || took > row.most {
					t.Errorf("the first flush took %s, want %s to %s", took, row.least, row.most)
				}
				for range 5 {
					if took := flush(); took != 0 {
						t.Errorf("while the collector rests a flush took %s", took)
					}
				}
				time.Sleep(31 * time.Second)
				if took := flush(); took > row.most {
					t.Errorf("after the rest a flush took %s", took)
				}
				began := time.Now()
				e.Close(t.Context())
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("the end took %s", took)
				}
				time.Sleep(time.Minute) // what was given up on comes to its own end
				if lines := strings.Count(log.String(), "\n"); lines < 1 || lines > 4 {
					t.Errorf("%d lines were logged: %s", lines, log.String())
				}
			})
		})
	}
}

func TestAFlushSendsWhatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		collector := &otlptest.Collector{}
		e := open(t, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "x-key=abc", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_RESOURCE_ATTRIBUTES": "team=ops,service.name=mine"}, collector, io.Discard)
		defer e.Close(t.Context())
		e.Spans().Materialised(t.Context(), execution(), made.Add(time.Second), nil)
		if len(collector.Spans()) != 0 {
			t.Fatal("a span was sent before the flush")
		}
		e.Flush(t.Context())
		all := collector.Spans()
		if len(all) != 1 || !all[0].Start.Equal(made) || all[0].End.Sub(all[0].Start) != time.Second || all[0].Resource["team"] != "ops" || all[0].Resource["service.name"] != "mine" {
			t.Fatalf("there arrived %+v", all)
		}
		if asked := collector.Asked()[0]; asked.Get("X-Key") != "abc" || asked.Get("Content-Encoding") != "gzip" {
			t.Errorf("it was asked with %v", asked)
		}
	})
}

func TestWhatIsOffTakesEveryCall(t *testing.T) {
	e, err := otlp.Open(t.Context(), otlp.Options{})
	if e != nil || err != nil {
		t.Fatal(e, err)
	}
	e.Flush(context.Background())
	e.Close(context.Background())
	if e.Spans() != nil {
		t.Error("planes are given a tracer that is on")
	}
	if _, span := e.Provider().Tracer("x").Start(t.Context(), "x"); span.IsRecording() {
		t.Error("its provider records")
	}
}
