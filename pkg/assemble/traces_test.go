package assemble_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// TestOnlyXRayIsSentSignedRequests has both endpoints answered by a proxy, as no
// name of theirs is known here.
func TestOnlyXRayIsSentSignedRequests(t *testing.T) {
	asked := make(chan *http.Request, 1)
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r }))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)
	for endpoint, signed := range map[string]bool{"http://xray.eu-west-1.amazonaws.com/v1/traces": true, "http://collector.example/v1/traces": false,
		"http://xray.eu-west-1.amazonaws.com.evil.example/v1/traces": false} {
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
		traces.Flush(t.Context())
		got := (<-asked).Header
		if is := strings.Contains(got.Get("Authorization"), "/eu-west-1/xray/aws4_request"); is != signed || (got.Get("X-Amz-Security-Token") == "session") != signed {
			t.Errorf("%s was sent %q, signed: want %v", endpoint, got.Get("Authorization"), signed)
		}
		traces.Close(t.Context())
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
