package events_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"

	lambda "github.com/aws/aws-lambda-go/events"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// webhookSecret signs the sample. It is published, so it protects nothing.
const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwEXAMPLE="

// webhookRequest is a request as the sample shows it.
type webhookRequest struct {
	Method  string            `json:"method"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// receiver is a webhook's receiver that keeps the last request.
func receiver(t *testing.T) (server *httptest.Server, got chan webhookRequest) {
	t.Helper()
	got = make(chan webhookRequest, 1)
	server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w := webhookRequest{Method: r.Method, URL: "https://hooks.example.com" + r.URL.Path, Headers: map[string]string{}, Body: string(body)}
		for name := range r.Header {
			w.Headers[name] = r.Header.Get(name)
		}
		got <- w
	}))
	t.Cleanup(server.Close)
	return server, got
}

// call runs the nightly execution of a job whose webhook is url, and returns
// its request.
func call(t *testing.T, url string, got chan webhookRequest) webhookRequest {
	t.Helper()
	s := newStation(t, assemble.Environment{WebhookSecret: webhookSecret, WebhookAllow: job.Reach{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, Version: "1.0"})
	s.put(t, job.Definition{Target: job.Target{Webhook: &job.Webhook{URL: url, Headers: map[string]string{"X-Team": "sales"}}}, Payload: json.RawMessage(`{"report":"sales"}`)})
	s.clock.set(halfPastOne)
	work, err := functions.Work(s.Installation)
	if err != nil {
		t.Fatal(err)
	}
	var e lambda.SQSEvent
	if err := json.Unmarshal(sample(t, "queue-event/sample.json"), &e); err != nil {
		t.Fatal(err)
	}
	e.Records[0].Body = `{"schema":1,"tenant":"acme","job":"nightly","key":"20260712T013000Z#s","epoch":1}`
	response, err := work(t.Context(), e)
	if err != nil || len(response.BatchItemFailures) != 0 {
		t.Fatalf("answered %v, %v", response, err)
	}
	ended, err := s.Store.Execution(t.Context(), nightly, job.ScheduledKey(halfPastOne))
	if err != nil || ended.Status != job.Succeeded {
		t.Fatalf("the execution is %+v, %v", ended, err)
	}
	return <-got
}

func TestTheWebhookRequestIsWhatTheTargetSends(t *testing.T) {
	server, got := receiver(t)
	golden(t, "webhook-request/sample.json", indented(t, call(t, server.URL+"/nightly", got)))
}

func TestAReceiverCanVerifyTheSample(t *testing.T) {
	var r webhookRequest
	roundTrip(t, "webhook-request/sample.json", &r)
	verifier, err := standardwebhooks.NewWebhook(webhookSecret)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{}
	for name, value := range r.Headers {
		header.Set(name, value)
	}
	if err := verifier.VerifyIgnoringTimestamp([]byte(r.Body), header); err != nil {
		t.Errorf("the signature of the sample does not verify: %v", err)
	}
	if err := verifier.VerifyIgnoringTimestamp([]byte(r.Body+" "), header); err == nil {
		t.Error("the signature verifies for another body")
	}
	promised := []string{"Belfry-Execution-Id", "Idempotency-Key", "Belfry-Scheduled-Time", "Belfry-Interval-End", "Belfry-Deadline", "Belfry-Revision",
		"Belfry-Attempt", "Belfry-Fencing-Token", "Belfry-Fence", "Belfry-Tenant", "Belfry-Job", "Traceparent", "Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"}
	if missing := slices.DeleteFunc(promised, func(name string) bool { return header.Get(name) != "" }); len(missing) > 0 {
		t.Errorf("the sample lacks %v", missing)
	}
}
