package functions

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// HTTPHandler is a function behind an API Gateway HTTP API with payload format 2.0.
type HTTPHandler = func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)

type gatewayKey struct{}

// gatewayContext is what the gateway says about a request that it passed on;
// false for a request that came another way.
func gatewayContext(r *http.Request) (events.APIGatewayV2HTTPRequestContext, bool) {
	c, found := r.Context().Value(gatewayKey{}).(events.APIGatewayV2HTTPRequestContext)
	return c, found
}

// Gateway serves handler behind an HTTP API. An event that is no request fails.
func Gateway(handler http.Handler) HTTPHandler {
	return func(ctx context.Context, e events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		r, err := request(ctx, e)
		if err != nil {
			return events.APIGatewayV2HTTPResponse{}, err
		}
		a := answer{header: http.Header{}}
		handler.ServeHTTP(&a, r)
		return a.response(), nil
	}
}

// request is the one that the gateway received, as far as the event tells.
func request(ctx context.Context, e events.APIGatewayV2HTTPRequest) (*http.Request, error) {
	body := []byte(e.Body)
	if e.IsBase64Encoded {
		decoded, err := base64.StdEncoding.DecodeString(e.Body)
		if err != nil {
			return nil, fmt.Errorf("the event's body is not base64: %w", err)
		}
		body = decoded
	}
	ctx = context.WithValue(ctx, gatewayKey{}, e.RequestContext)
	r, err := http.NewRequestWithContext(ctx, e.RequestContext.HTTP.Method, "/", bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the event is no request: %w", err)
	}
	if len(body) == 0 {
		r.Body = http.NoBody
	}
	r.URL = requestURL(e)
	r.RequestURI = r.URL.RequestURI()
	r.RemoteAddr = net.JoinHostPort(e.RequestContext.HTTP.SourceIP, "0")
	for name, value := range e.Headers {
		r.Header.Set(name, value)
	}
	r.Host = r.Header.Get("Host")
	r.Header.Del("Host")
	if r.Host == "" {
		r.Host = e.RequestContext.DomainName
	}
	if len(e.Cookies) > 0 {
		r.Header.Set("Cookie", strings.Join(e.Cookies, "; "))
	}
	return r, nil
}

// requestURL leaves the stage out, which is in the path unless it is the
// default one. A path that does not read as escaped is one that the gateway has
// unescaped.
func requestURL(e events.APIGatewayV2HTTPRequest) *url.URL {
	path := e.RawPath
	if stage := e.RequestContext.Stage; stage != "" && stage != "$default" {
		if rest, found := strings.CutPrefix(path, "/"+stage); found && (rest == "" || rest[0] == '/') {
			path = rest
		}
	}
	if path == "" {
		path = "/"
	}
	u := &url.URL{Path: path, RawQuery: e.RawQueryString}
	if plain, err := url.PathUnescape(path); err == nil {
		u.Path, u.RawPath = plain, path
	}
	return u
}

// answer is the http.ResponseWriter that keeps what is written.
type answer struct {
	header http.Header
	sent   http.Header // as it was when the status was written
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter; only the first final status counts.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status, a.sent = status, a.header.Clone()
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(part []byte) (int, error) {
	a.writing(part)
	return a.body.Write(part)
}

// WriteString implements io.StringWriter.
func (a *answer) WriteString(part string) (int, error) { return a.Write([]byte(part)) }

var _ io.StringWriter = (*answer)(nil)

// writing sends the header before the first byte, as a server does: with the
// content type that the bytes look like when the handler gave none.
func (a *answer) writing(part []byte) {
	if a.status != 0 {
		return
	}
	if _, given := a.header["Content-Type"]; !given {
		a.header.Set("Content-Type", http.DetectContentType(part))
	}
	a.WriteHeader(http.StatusOK)
}

// response is the answer as the gateway takes it: one value a header, cookies
// apart, and what is not text in base64.
func (a *answer) response() events.APIGatewayV2HTTPResponse {
	a.WriteHeader(http.StatusOK)
	out := events.APIGatewayV2HTTPResponse{StatusCode: a.status, Headers: make(map[string]string, len(a.sent)), Cookies: a.sent.Values("Set-Cookie")}
	for name, values := range a.sent {
		if name != "Set-Cookie" {
			out.Headers[name] = strings.Join(values, ", ")
		}
	}
	if utf8.Valid(a.body.Bytes()) {
		out.Body = a.body.String()
		return out
	}
	out.Body, out.IsBase64Encoded = base64.StdEncoding.EncodeToString(a.body.Bytes()), true
	return out
}
