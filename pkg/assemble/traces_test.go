package assemble_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// everywhere answers every https address in place of whoever has it, for the
// time of the test.
func everywhere(t *testing.T, h http.HandlerFunc) {
	t.Helper()
	server := httptest.NewTLSServer(h)
	before := http.DefaultTransport
	mine := before.(*http.Transport).Clone()
	mine.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	mine.TLSClientConfig.ServerName = "example.com" // its certificate is for that
	mine.DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
	http.DefaultTransport = mine
	t.Cleanup(func() { http.DefaultTransport = before; server.Close() })
}

// trace opens an export to the endpoint, ends a span and sends it.
func trace(t *testing.T, endpoint string) {
	t.Helper()
	e, err := assemble.ReadEnvironment(lookup(map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": endpoint}))
	if err != nil {
		t.Fatal(err)
	}
	config := aws.Config{Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "s", "session")}
	traces, err := assemble.Traces(t.Context(), e.Traces, assemble.Settings{}, "test", "1", config)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	traces.Spans().Materialised(t.Context(), &job.Execution{Key: job.ScheduledKey(now), CreatedAt: now}, now, nil)
	traces.Close(t.Context())
}

func TestOnlyXRayIsSentSignedRequests(t *testing.T) {
	asked := make(chan http.Header, 1)
	everywhere(t, func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header })
	for endpoint, signed := range map[string]bool{"https://xray.eu-west-1.amazonaws.com/v1/traces": true, "https://collector.example/v1/traces": false,
		"https://xray.eu-west-1.amazonaws.com.evil.example/v1/traces": false} {
		trace(t, endpoint)
		select {
		case got := <-asked:
			if is := strings.Contains(got.Get("Authorization"), "/eu-west-1/xray/aws4_request"); is != signed || (got.Get("X-Amz-Security-Token") == "session") != signed {
				t.Errorf("%s was sent %q, signed: want %v", endpoint, got.Get("Authorization"), signed)
			}
		default:
			t.Errorf("%s was sent nothing", endpoint)
		}
	}
}

func TestXRayIsSentNothingInClear(t *testing.T) {
	asked := make(chan string, 1)
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Host }))
	defer proxy.Close()
	before := http.DefaultTransport
	mine := before.(*http.Transport).Clone()
	mine.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }
	http.DefaultTransport = mine
	defer func() { http.DefaultTransport = before }()
	trace(t, "http://xray.eu-west-1.amazonaws.com/v1/traces")
	trace(t, "http://collector.example/v1/traces")
	if got := <-asked; got != "collector.example" || len(asked) != 0 {
		t.Errorf("%s was sent something", got)
	}
}

func TestWithoutAnEndpointNothingIsTraced(t *testing.T) {
	traces, err := assemble.Traces(t.Context(), assemble.Environment{}.Traces, assemble.Settings{}, "test", "1", aws.Config{})
	if traces != nil || err != nil {
		t.Errorf("%v, %v", traces, err)
	}
	if _, err := assemble.ReadEnvironment(lookup(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "nowhere"})); err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_ENDPOINT") {
		t.Errorf("an endpoint that is none: %v", err)
	}
}
