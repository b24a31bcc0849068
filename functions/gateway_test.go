package functions_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/localaws/platform"
)

// front serves handler as it is, and behind the gateway.
func front(t *testing.T, handler http.Handler) (direct, gateway *httptest.Server) {
	t.Helper()
	direct = httptest.NewServer(handler)
	t.Cleanup(direct.Close)
	gateway = httptest.NewServer(&platform.HTTPFront{Function: functions.Gateway(handler), OnError: func(err error) { t.Error(err) }})
	t.Cleanup(gateway.Close)
	return direct, gateway
}

// echo answers with what it was asked.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	_ = json.NewEncoder(w).Encode(map[string]any{"method": r.Method, "path": r.URL.Path, "escaped": r.URL.EscapedPath(), "query": r.URL.RawQuery, "uri": r.RequestURI,
		"values": r.URL.Query()["v"], "cookies": r.Header["Cookie"], "list": strings.Join(r.Header.Values("X-List"), ","), "type": r.Header.Get("Content-Type"),
		"length": r.ContentLength, "body": body, "agent": r.UserAgent(), "none": r.Body == http.NoBody, "host": r.Header.Get("Host")})
}

func TestARequestPassesTheGatewayUnchanged(t *testing.T) {
	direct, gateway := front(t, http.HandlerFunc(echo))
	for _, c := range []struct {
		name, method, target, body string
		header                     http.Header
	}{
		{"a plain read", "GET", "/v1/jobs", "", nil},
		{"the root", "GET", "/", "", nil},
		{"a repeated and escaped query", "GET", "/v1/jobs?v=1&v=a%20b%26c&v=&empty", "", nil},
		{"an execution's id", "GET", "/v1/jobs/nightly/executions/nightly~20260712T013000Z~v3", "", nil},
		{"an escaped slash and a percent sign", "GET", "/v1/jobs/a%2Fb%25c", "", nil},
		{"letters beyond ASCII", "GET", "/v1/jobs/%C3%A9t%C3%A9", "", nil},
		{"a JSON body", "PUT", "/v1/jobs/nightly", `{"job":"nightly","description":"été"}`, http.Header{"Content-Type": {"application/json"}}},
		{"a body of bytes", "POST", "/x", "\x00\xff\x80", http.Header{"Content-Type": {"application/octet-stream"}}},
		{"several cookies", "GET", "/x", "", http.Header{"Cookie": {"a=1; b=2"}}},
		{"a header with several values", "GET", "/x", "", http.Header{"X-List": {"one,two"}}},
		{"a delete without a body", "DELETE", "/v1/jobs/nightly", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var answers []string
			for _, server := range []*httptest.Server{direct, gateway} {
				r, err := http.NewRequest(c.method, server.URL+c.target, strings.NewReader(c.body))
				if err != nil {
					t.Fatal(err)
				}
				for name, values := range c.header {
					r.Header[name] = values
				}
				answer, err := server.Client().Do(r)
				if err != nil {
					t.Fatal(err)
				}
				defer answer.Body.Close()
				text, _ := io.ReadAll(answer.Body)
				answers = append(answers, answer.Status+" "+string(text))
			}
			if answers[0] != answers[1] || !strings.HasPrefix(answers[0], "200 ") {
				t.Errorf("behind the gateway the request is\n%s\ndirectly\n%s", answers[1], answers[0])
			}
		})
	}
}

// answers are those that a handler may give.
var answers = []struct {
	name    string
	handler http.HandlerFunc
}{
	{"nothing at all", func(http.ResponseWriter, *http.Request) {}},
	{"a status alone", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }},
	{"the first status counts", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		w.WriteHeader(http.StatusOK)
	}},
	{"an early hint is no answer", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusAccepted)
	}},
	{"a header after the status is too late", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		w.Header().Set("X-Late", "1")
	}},
	{"a problem", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"detail":"été"}`)
	}},
	{"bytes that are no text", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write([]byte{0xff, 0x00, 0x80})
	}},
	{"an encoded body", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "br")
		_, _ = w.Write([]byte("seven"))
	}},
	{"several cookies", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "1, 2"})
		http.SetCookie(w, &http.Cookie{Name: "b", Value: "3"})
		_, _ = io.WriteString(w, "<html></html>")
	}},
}

func TestAnAnswerPassesTheGatewayUnchanged(t *testing.T) {
	for _, c := range answers {
		t.Run(c.name, func(t *testing.T) {
			direct, gateway := front(t, c.handler)
			var seen []string
			for _, server := range []*httptest.Server{direct, gateway} {
				r, _ := http.NewRequest(http.MethodGet, server.URL, nil)
				r.Header.Set("Accept-Encoding", "identity")
				answer, err := server.Client().Do(r)
				if err != nil {
					t.Fatal(err)
				}
				defer answer.Body.Close()
				text, _ := io.ReadAll(answer.Body)
				if len(text) == 0 { // what a body without bytes is called differs, and means nothing
					answer.Header.Del("Content-Type")
				}
				answer.Header.Del("Date")
				answer.Header.Del("Content-Length")
				header, _ := json.Marshal(answer.Header)
				seen = append(seen, answer.Status+" "+string(header)+" "+string(text))
			}
			if seen[0] != seen[1] {
				t.Errorf("behind the gateway the answer is\n%s\ndirectly\n%s", seen[1], seen[0])
			}
		})
	}
}

func TestWhatIsNoRequestFails(t *testing.T) {
	handler := functions.Gateway(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the handler was called") }))
	for _, e := range []events.APIGatewayV2HTTPRequest{
		{RawPath: "/", Body: "not base64", IsBase64Encoded: true},
		{RawPath: "/", RequestContext: events.APIGatewayV2HTTPRequestContext{HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: "NO SUCH\n"}}},
	} {
		if _, err := handler(context.Background(), e); err == nil {
			t.Errorf("%+v was taken for a request", e)
		}
	}
}

func TestAPathIsReadAsTheGatewayMeansIt(t *testing.T) {
	for _, c := range []struct{ name, stage, path, want string }{
		{"the default stage is in no path", "$default", "/v1/jobs", "/v1/jobs"},
		{"a named stage is left out", "prod", "/prod/v1/jobs", "/v1/jobs"},
		{"a named stage alone is the root", "prod", "/prod", "/"},
		{"a path that begins like the stage is kept", "prod", "/products", "/products"},
		{"a path of a custom domain lacks the stage", "prod", "/v1/jobs", "/v1/jobs"},
		{"a path that the gateway has unescaped", "$default", "/v1/50% off", "/v1/50% off"},
		{"no path is the root", "$default", "", "/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			handler := functions.Gateway(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.URL.Path }))
			e := events.APIGatewayV2HTTPRequest{RawPath: c.path, RequestContext: events.APIGatewayV2HTTPRequestContext{Stage: c.stage}}
			if _, err := handler(t.Context(), e); err != nil || got != c.want {
				t.Errorf("path is %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestTheAPINamesTheCallerThatTheGatewayKnows(t *testing.T) {
	w := newTown(t)
	api := functions.API(w.Installation)
	body := `{"job":"nightly","schedule":{"every":"240h"},"target":{"log":{}}}`
	for _, c := range []struct {
		name, want string
		authorizer *events.APIGatewayV2HTTPRequestContextAuthorizerDescription
	}{
		{"nobody", "anonymous", nil},
		{"an IAM identity", "arn:aws:iam::123456789012:user/ada", &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
			IAM: &events.APIGatewayV2HTTPRequestContextAuthorizerIAMDescription{UserARN: "arn:aws:iam::123456789012:user/ada"}}},
		{"the subject of a token", "grace", &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{
			JWT: &events.APIGatewayV2HTTPRequestContextAuthorizerJWTDescription{Claims: map[string]string{"sub": "grace"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, path := range []string{"/v1/jobs/nightly", "/v1/jobs/nightly/run"} {
				e := events.APIGatewayV2HTTPRequest{RawPath: path, Headers: map[string]string{"content-type": "application/json"}, RequestContext: events.APIGatewayV2HTTPRequestContext{
					Authorizer: c.authorizer, HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: "POST"}}}
				if path == "/v1/jobs/nightly" {
					e.Body, e.RequestContext.HTTP.Method = body, "PUT"
				}
				answer, err := api(t.Context(), e)
				if err != nil || answer.StatusCode >= 300 {
					t.Fatalf("%s answered %d, %v: %s", path, answer.StatusCode, err, answer.Body)
				}
			}
			newest := w.upcoming(nightly)[0]
			if newest.Actor != c.want {
				t.Errorf("the run was asked for by %q, want %q", newest.Actor, c.want)
			}
		})
	}
}

func TestARefusalReachesTheCallerAsAProblem(t *testing.T) {
	w := newTown(t)
	answer, err := functions.API(w.Installation)(t.Context(), events.APIGatewayV2HTTPRequest{RawPath: "/v1/jobs/unknown",
		RequestContext: events.APIGatewayV2HTTPRequestContext{HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: "GET"}}})
	if err != nil || answer.StatusCode != http.StatusNotFound || answer.Headers["Content-Type"] != "application/problem+json" {
		t.Errorf("answered %d %v, %v; want a problem with status 404", answer.StatusCode, answer.Headers, err)
	}
	var problem struct{ Code string }
	if err := json.Unmarshal([]byte(answer.Body), &problem); err != nil || problem.Code != "NOT_FOUND" {
		t.Errorf("the problem is %s, %v", answer.Body, err)
	}
}
