package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

// post sends one attempt to a receiver and returns what it saw.
func post(t *testing.T, o Options, f workertest.Facts, answer http.HandlerFunc) (seen []*http.Request, bodies []string, err error) {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen, bodies = append(seen, r), append(bodies, string(body))
		if answer != nil {
			answer(w, r)
		}
	}))
	defer receiver.Close()
	if o.WebhookAllow.Networks == nil {
		o.WebhookAllow = Loopback()
	}
	o.Clock = clock.System{}
	hook, err := newWebhook(o)
	if err != nil {
		t.Fatal(err)
	}
	defer hook.client.CloseIdleConnections()
	if f.Target.Webhook == nil {
		f.Target.Webhook = &job.Webhook{}
	}
	f.Target.Webhook.URL = receiver.URL + "/hooks?token=t"
	err = hook.handle(t.Context(), workertest.Attempt(f))
	return seen, bodies, err
}

func TestRequestCarriesTheHandlerContract(t *testing.T) {
	at := time.Date(2026, 7, 12, 1, 30, 0, 0, time.UTC)
	hook := &job.Webhook{Headers: map[string]string{"Authorization": "Bearer b", "content-type": "application/vnd.x+json", "belfry-tenant": "somebody", "belfry-interval-start": "never"}}
	seen, bodies, err := post(t, Options{UserAgent: "Belfry/1"}, workertest.Facts{Tenant: "acme", Job: "nightly", Revision: 3, Number: 2, FencingToken: 1 << 32,
		Payload: `{"b":1,"a":[2]}`, ScheduledAt: at, Deadline: at.Add(90 * time.Second), Target: job.Target{Webhook: hook}}, nil)
	if err != nil || len(seen) != 1 {
		t.Fatalf("%d requests, %v; want 1", len(seen), err)
	}
	r := seen[0]
	want := map[string]string{
		"Belfry-Execution-Id": "nightly~20260712T013000Z~v3", "Idempotency-Key": "acme/nightly~20260712T013000Z",
		"Belfry-Scheduled-Time": "2026-07-12T01:30:00.000Z", "Belfry-Interval-End": "2026-07-12T01:30:00.000Z", "Belfry-Interval-Start": "",
		"Belfry-Deadline": "2026-07-12T01:31:30.000Z", "Belfry-Revision": "3", "Belfry-Attempt": "2", "Belfry-Fencing-Token": "4294967296", "Belfry-Fence": "20260712T013000Z-0000000001-20260712T012500.000Z-0279565516-0000000000",
		"Belfry-Tenant": "acme", "Belfry-Job": "nightly", "Authorization": "Bearer b", "Content-Type": "application/vnd.x+json",
		"User-Agent": "Belfry/1", "Webhook-Id": "acme/nightly~20260712T013000Z", "Webhook-Signature": "",
	}
	for name, value := range want {
		if got := r.Header.Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
	if r.Method != http.MethodPost || r.URL.RequestURI() != "/hooks?token=t" || bodies[0] != `{"b":1,"a":[2]}` {
		t.Errorf("%s %s with %s; want the payload as it was written", r.Method, r.URL, bodies[0])
	}
	if parts := strings.Split(r.Header.Get("Traceparent"), "-"); len(parts) != 4 {
		t.Errorf("traceparent %q", r.Header.Get("Traceparent"))
	}
}

func TestRequestIsSignedByTheScheme(t *testing.T) {
	rows := map[string]workertest.Facts{
		"a payload":                  {Payload: `{"a":1}`},
		"no payload is an object":    {},
		"a name with a full stop":    {Job: "reports.daily", Payload: `1`},
		"what another attempt sends": {Number: 4, FencingToken: 9},
	}
	for name, facts := range rows {
		t.Run(name, func(t *testing.T) {
			seen, bodies, err := post(t, Options{WebhookSecret: secret}, facts, nil)
			if err != nil {
				t.Fatal(err)
			}
			verifier, err := standardwebhooks.NewWebhook(secret)
			if err != nil {
				t.Fatal(err)
			}
			if err := verifier.Verify([]byte(bodies[0]), seen[0].Header); err != nil {
				t.Errorf("the library refuses the signature: %v", err)
			}
			if verifier.Verify([]byte(bodies[0]+" "), seen[0].Header) == nil {
				t.Error("the signature also fits another body")
			}
			if id := seen[0].Header.Get("Webhook-Id"); strings.Contains(id, ".") || id == "" {
				t.Errorf("webhook-id %q must not hold a full stop", id)
			}
			if facts.Payload == "" && bodies[0] != "{}" {
				t.Errorf("body %q, want an empty object", bodies[0])
			}
		})
	}
}

func TestKeysThatCannotSignAreRefusedWithoutBeingShown(t *testing.T) {
	rows := map[string]string{
		"no prefix":       "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
		"no base64":       "whsec_%%%%",
		"too short a key": "whsec_MDEyMzQ1Njc4OQ==",
		"too long a key":  "whsec_" + strings.Repeat("MDEy", 30),
	}
	for name, key := range rows {
		t.Run(name, func(t *testing.T) {
			_, err := newWebhook(Options{WebhookSecret: key})
			if err == nil || strings.Contains(err.Error(), strings.TrimPrefix(key, "whsec_")) {
				t.Fatalf("%v; want a refusal that does not show the key", err)
			}
		})
	}
}

// answers is a receiver's answer.
func answers(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func TestWhatAnAnswerBecomes(t *testing.T) {
	inAMinute := time.Now().Add(time.Minute).UTC().Format(http.TimeFormat)
	aMinuteAgo := time.Now().Add(-time.Minute).UTC().Format(http.TimeFormat)
	rows := map[string]struct {
		answer http.HandlerFunc
		class  lifecycle.Class // "" = success
		code   string
		after  time.Duration // within two seconds
		text   string
	}{
		"200 is success":                       {answers(200, "fine"), "", "", 0, ""},
		"204 is success":                       {answers(204, ""), "", "", 0, ""},
		"202 with a body is success":           {answers(202, "later"), "", "", 0, ""},
		"500 is retried":                       {answers(500, "oh dear"), lifecycle.Transient, "HTTP_500", 0, "500 Internal Server Error: oh dear"},
		"502 is retried":                       {answers(502, ""), lifecycle.Transient, "HTTP_502", 0, "502"},
		"503 is retried":                       {answers(503, ""), lifecycle.Transient, "HTTP_503", 0, "503"},
		"503 with Retry-After is throttled":    {answers(503, "", "Retry-After", "7"), lifecycle.ThrottledClass, "HTTP_503", 7 * time.Second, ""},
		"429 is throttled":                     {answers(429, ""), lifecycle.ThrottledClass, "HTTP_429", 0, ""},
		"429 with seconds waits as long":       {answers(429, "", "Retry-After", "120"), lifecycle.ThrottledClass, "HTTP_429", 2 * time.Minute, ""},
		"429 with a date waits until then":     {answers(429, "", "Retry-After", inAMinute), lifecycle.ThrottledClass, "HTTP_429", time.Minute, ""},
		"429 with a date that has passed":      {answers(429, "", "Retry-After", aMinuteAgo), lifecycle.ThrottledClass, "HTTP_429", 0, ""},
		"429 with words":                       {answers(429, "", "Retry-After", "soon"), lifecycle.ThrottledClass, "HTTP_429", 0, ""},
		"a wish for a year is a day":           {answers(429, "", "Retry-After", "31536000"), lifecycle.ThrottledClass, "HTTP_429", 24 * time.Hour, ""},
		"500 with Retry-After is only retried": {answers(500, "", "Retry-After", "7"), lifecycle.Transient, "HTTP_500", 0, ""},
		"408 is retried":                       {answers(408, ""), lifecycle.Transient, "HTTP_408", 0, ""},
		"425 is retried":                       {answers(425, ""), lifecycle.Transient, "HTTP_425", 0, ""},
		"404 fails for good":                   {answers(404, "no such hook"), lifecycle.PermanentClass, "HTTP_404", 0, "no such hook"},
		"410 fails for good":                   {answers(410, ""), lifecycle.PermanentClass, "HTTP_410", 0, ""},
		"301 is not followed":                  {answers(301, "", "Location", "http://127.0.0.1:1/x"), lifecycle.PermanentClass, "HTTP_301", 0, "redirects are not followed"},
		"307 is not followed":                  {answers(307, "", "Location", "/x"), lifecycle.PermanentClass, "HTTP_307", 0, "redirects are not followed"},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			seen, _, err := post(t, Options{}, workertest.Facts{}, row.answer)
			f := worker.FailureOf(err)
			if len(seen) != 1 {
				t.Errorf("%d requests, want 1", len(seen))
			}
			if row.class == "" {
				if f != nil {
					t.Errorf("%+v, want success", f)
				}
				return
			}
			if f == nil || f.Class != row.class || f.Code != row.code || !strings.Contains(f.Text, row.text) ||
				f.RetryAfter > row.after || f.RetryAfter < row.after-2*time.Second {
				t.Errorf("%+v; want %s, %s, after %v, %q", f, row.class, row.code, row.after, row.text)
			}
		})
	}
}

func TestAnswersBodyIsBounded(t *testing.T) {
	rows := map[string]struct{ body, want string }{
		"a long body is cut":                 {strings.Repeat("x", 1<<20), ": " + strings.Repeat("x", 512)},
		"a body in pieces is one line":       {"<html>\n\t<b>no</b>\x00\x1b[31m", ": <html>  <b>no</b>[31m"},
		"half a character at the cut is not": {strings.Repeat("x", 511) + "é", ": " + strings.Repeat("x", 511)},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			_, _, err := post(t, Options{}, workertest.Facts{}, answers(500, row.body))
			if f := worker.FailureOf(err); f == nil || !strings.HasSuffix(f.Text, row.want) || !strings.HasPrefix(f.Text, "the receiver answered 500") {
				t.Errorf("%+v, want text that ends in %q", f, row.want)
			}
		})
	}
}

func TestRequestWithoutAnAnswer(t *testing.T) {
	hijack := func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = connection.Close()
		}
	}
	_, _, err := post(t, Options{}, workertest.Facts{}, hijack)
	if f := worker.FailureOf(err); f == nil || f.Class != lifecycle.Transient || f.Code != CodeConnection || strings.Contains(f.Text, "token") {
		t.Errorf("a broken connection is %+v; want it retried as WEBHOOK_CONNECTION, without the URL's query", f)
	}

	ended := make(chan struct{})
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		<-r.Context().Done()
		close(ended)
	}))
	defer receiver.Close()
	hook, err := newWebhook(Options{WebhookAllow: Loopback(), Clock: clock.System{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	err = hook.handle(ctx, workertest.Attempt(workertest.Facts{Target: job.Target{Webhook: &job.Webhook{URL: receiver.URL}}}))
	<-ended // the receiver is told that nobody waits any more
	if f := worker.FailureOf(err); !errors.Is(err, context.DeadlineExceeded) || f.Class != lifecycle.TimeoutClass || f.Code != CodeTimeout {
		t.Errorf("%v is %+v; want the attempt's end, WEBHOOK_TIMEOUT", err, f)
	}
}

func TestAddressesOfTheInstallationsOwnNetworkAreRefused(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the receiver was called") }))
	defer receiver.Close()
	port := receiver.URL[strings.LastIndexByte(receiver.URL, ':'):]
	hook, err := newWebhook(Options{Clock: clock.System{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"} {
		err := hook.handle(t.Context(), workertest.Attempt(workertest.Facts{Target: job.Target{Webhook: &job.Webhook{URL: "http://" + host + port}}}))
		if f := worker.FailureOf(err); f == nil || f.Class != lifecycle.PermanentClass || f.Code != CodeRefusedAddress {
			t.Errorf("%s: %+v, want WEBHOOK_REFUSED_ADDRESS for good", host, f)
		}
	}
}

func TestProxyOfTheEnvironmentIsNotUsed(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	if transport := mustTransport(t); transport.Proxy != nil {
		t.Error("a proxy would be asked for")
	}
}

func mustTransport(t *testing.T) *http.Transport {
	t.Helper()
	hook, err := newWebhook(Options{Clock: clock.System{}})
	if err != nil {
		t.Fatal(err)
	}
	transport, ok := hook.client.Transport.(*http.Transport)
	if !ok {
		t.Fatalf("transport is %T", hook.client.Transport)
	}
	return transport
}

// stalling answers 200 at once and then never ends its body.
type stalling struct{}

func (stalling) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: io.NopCloser(blocked{r.Context()})}, nil
}

type blocked struct{ ctx context.Context }

func (b blocked) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

func TestBodyThatNeverEndsDoesNotHoldTheSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hook, err := newWebhook(Options{Clock: clock.System{}})
		if err != nil {
			t.Fatal(err)
		}
		hook.client.Transport = stalling{}
		begun := time.Now()
		err = hook.handle(t.Context(), workertest.Attempt(workertest.Facts{Target: job.Target{Webhook: &job.Webhook{URL: "http://example.com"}}}))
		if took := time.Since(begun); err != nil || took > 5*time.Second {
			t.Errorf("%v after %v; want the success that the status told, within 5 s", err, took)
		}
	})
}
