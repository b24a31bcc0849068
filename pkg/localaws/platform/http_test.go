package platform_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-scheduler/belfry/pkg/localaws/platform"
)

type (
	httpRequest  = events.APIGatewayV2HTTPRequest
	httpResponse = events.APIGatewayV2HTTPResponse
)

func front(function func(context.Context, httpRequest) (httpResponse, error)) *platform.HTTPFront {
	return &platform.HTTPFront{Function: function}
}

func TestHTTPEventIsWhatAPIGatewayPasses(t *testing.T) {
	for name, request := range map[string]func() *http.Request{
		"http-text.json": func() *http.Request {
			r := httptest.NewRequest(http.MethodPost, "http://api.test/jobs/a%20b?tag=1&tag=2&q=x%26y", strings.NewReader(`{"a":"ä"}`))
			r.Header.Set("Content-Type", "application/json; charset=utf-8")
			r.Header.Add("X-Twice", "1")
			r.Header.Add("X-Twice", "2")
			r.Header.Set("User-Agent", "curl/8")
			r.Header.Set("Cookie", "session=1; theme=dark")
			return r
		},
		"http-binary.json": func() *http.Request {
			r := httptest.NewRequest(http.MethodPut, "http://api.test:8420/blob", strings.NewReader("\x00\x01\xff"))
			r.Header.Set("Content-Type", "application/octet-stream")
			r.Header.Set("X-Forwarded-For", "10.0.0.1")
			return r
		},
		"http-empty.json": func() *http.Request { return httptest.NewRequest(http.MethodGet, "http://api.test/", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got httpRequest
				front(func(_ context.Context, event httpRequest) (httpResponse, error) {
					got = event
					return httpResponse{StatusCode: 204}, nil
				}).ServeHTTP(httptest.NewRecorder(), request())
				golden(t, name, got)
			})
		})
	}
}

func TestBodyIsEncodedUnlessItIsText(t *testing.T) {
	for name, row := range map[string]struct {
		media, encoding, body string
		encoded               bool
	}{
		"json is text":                 {"application/json", "", "{}", false},
		"problem json is text":         {"application/problem+json", "", "{}", false},
		"html is text":                 {"text/html; charset=utf-8", "", "<p>", false},
		"no type is text":              {"", "", "x", false},
		"an image is not":              {"image/png", "", "x", true},
		"compressed text is not":       {"text/plain", "gzip", "x", true},
		"text that is no UTF-8 is not": {"text/plain", "", "\xff", true},
		"a type that cannot be read":   {"a/b/c", "", "x", true},
		"nothing is text, of any type": {"image/png", "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(row.body))
			request.Header.Set("Content-Type", row.media)
			request.Header.Set("Content-Encoding", row.encoding)
			var got bool
			front(func(_ context.Context, event httpRequest) (httpResponse, error) {
				got = event.IsBase64Encoded
				return httpResponse{StatusCode: 204}, nil
			}).ServeHTTP(httptest.NewRecorder(), request)
			if got != row.encoded {
				t.Errorf("encoded: %v, want %v", got, row.encoded)
			}
		})
	}
}

func TestHTTPAnswer(t *testing.T) {
	large := strings.Repeat("a", 6<<20+1)
	for name, row := range map[string]struct {
		method   string
		response httpResponse
		err      error
		body     string // of the request
		status   int
		want     string
		header   map[string][]string
	}{
		"is written as the function says": {
			response: httpResponse{StatusCode: 201, Body: "made", Headers: map[string]string{"location": "/jobs/a", "content-type": "text/x"}, Cookies: []string{"a=1", "b=2"}},
			status:   201, want: "made", header: map[string][]string{"Location": {"/jobs/a"}, "Content-Type": {"text/x"}, "Set-Cookie": {"a=1", "b=2"}},
		},
		"is decoded when the function says that it is encoded": {
			response: httpResponse{StatusCode: 200, Body: "AAH/", IsBase64Encoded: true}, status: 200, want: "\x00\x01\xff",
		},
		"is plain text unless it says otherwise": {
			response: httpResponse{StatusCode: 200, Body: "x"}, status: 200, want: "x", header: map[string][]string{"Content-Type": {"text/plain; charset=utf-8"}},
		},
		"has no multi-value headers": {
			response: httpResponse{StatusCode: 200, MultiValueHeaders: map[string][]string{"X-A": {"1", "2"}}}, status: 200, header: map[string][]string{"X-A": nil},
		},
		"has no body for HEAD":           {method: http.MethodHead, response: httpResponse{StatusCode: 200, Body: "x"}, status: 200},
		"is 500 for an error":            {err: errors.New("no"), status: 500, want: `{"message":"Internal Server Error"}`},
		"is 500 without a status":        {response: httpResponse{Body: "x"}, status: 500, want: `{"message":"Internal Server Error"}`},
		"is 500 for a body not encoded":  {response: httpResponse{StatusCode: 200, Body: "*", IsBase64Encoded: true}, status: 500, want: `{"message":"Internal Server Error"}`},
		"is 500 for more than 6 MB":      {response: httpResponse{StatusCode: 200, Body: large}, status: 500, want: `{"message":"Internal Server Error"}`},
		"is 413 for a request over 6 MB": {response: httpResponse{StatusCode: 200}, body: large, status: 413, want: `{"message":"Request Too Long"}`},
	} {
		t.Run(name, func(t *testing.T) {
			method := row.method
			if method == "" {
				method = http.MethodPost
			}
			got := httptest.NewRecorder()
			front(func(context.Context, httpRequest) (httpResponse, error) { return row.response, row.err }).
				ServeHTTP(got, httptest.NewRequest(method, "/", strings.NewReader(row.body)))
			if got.Code != row.status || got.Body.String() != row.want {
				t.Errorf("answered %d %.100q, want %d %q", got.Code, got.Body, row.status, row.want)
			}
			for name, values := range row.header {
				if !slices.Equal(got.Header().Values(name), values) {
					t.Errorf("%s is %q, want %q", name, got.Header().Values(name), values)
				}
			}
		})
	}
}

func TestHTTPFrontWaitsThirtySecondsAndNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := front(func(context.Context, httpRequest) (httpResponse, error) {
			time.Sleep(40 * time.Second)
			return httpResponse{StatusCode: 200}, nil
		})
		f.Timeout = time.Hour
		begin := time.Now()
		got := httptest.NewRecorder()
		f.ServeHTTP(got, httptest.NewRequest(http.MethodGet, "/", nil))
		if body, _ := io.ReadAll(got.Body); got.Code != 503 || string(body) != `{"message":"Service Unavailable"}` || time.Since(begin) != 30*time.Second {
			t.Errorf("answered %d %s after %v", got.Code, body, time.Since(begin))
		}
		f.Wait()
		if time.Since(begin) != 40*time.Second {
			t.Errorf("Wait returned after %v", time.Since(begin))
		}
	})
}

func TestFunctionGoesOnWhenTheCallerHangsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		done := false
		f := front(func(ctx context.Context, _ httpRequest) (httpResponse, error) {
			cancel()
			time.Sleep(time.Second)
			done = ctx.Err() == nil
			return httpResponse{StatusCode: 200}, nil
		})
		f.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx))
		if !done {
			t.Error("the function was cut short; Lambda would have finished it")
		}
	})
}
