package platform

import (
	"encoding/base64"
	"fmt"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// httpEvent is the event of payload format 2.0 for a request. serial tells
// requests of the same instant apart.
func httpEvent(r *http.Request, body []byte, serial uint64, now time.Time) events.APIGatewayV2HTTPRequest {
	source, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		source = r.RemoteAddr
	}
	event := events.APIGatewayV2HTTPRequest{
		Version:               "2.0",
		RouteKey:              "$default",
		RawPath:               r.URL.EscapedPath(),
		RawQueryString:        r.URL.RawQuery,
		Cookies:               cookies(r),
		Headers:               headers(r, source, len(body), fmt.Sprintf("Root=1-%08x-%024x", now.Unix(), serial)),
		QueryStringParameters: query(r),
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			RouteKey:     "$default",
			AccountID:    "000000000000",
			Stage:        "$default",
			RequestID:    fmt.Sprintf("local%011x=", serial),
			APIID:        "local",
			DomainName:   r.Host,
			DomainPrefix: "local",
			Time:         now.UTC().Format("02/Jan/2006:15:04:05 -0700"),
			TimeEpoch:    now.UnixMilli(),
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{
				Method: r.Method, Path: r.URL.Path, Protocol: r.Proto, SourceIP: source, UserAgent: r.UserAgent(),
			},
		},
	}
	if isText(r.Header, body) {
		event.Body = string(body)
		return event
	}
	event.Body, event.IsBase64Encoded = base64.StdEncoding.EncodeToString(body), true
	return event
}

// headers are in small letters, with repeated ones joined by commas; cookies
// are told apart.
func headers(r *http.Request, source string, length int, trace string) map[string]string {
	scheme, port := "http", "80"
	if r.TLS != nil {
		scheme, port = "https", "443"
	}
	if _, given, err := net.SplitHostPort(r.Host); err == nil {
		port = given
	}
	out := map[string]string{
		"host":              r.Host,
		"content-length":    strconv.Itoa(length),
		"x-amzn-trace-id":   trace, // unless the caller brings one
		"x-forwarded-port":  port,
		"x-forwarded-proto": scheme,
	}
	for name, values := range r.Header {
		if name != "Cookie" {
			out[strings.ToLower(name)] = strings.Join(values, ",")
		}
	}
	if before := out["x-forwarded-for"]; before != "" {
		source = before + ", " + source
	}
	out["x-forwarded-for"] = source
	return out
}

func cookies(r *http.Request) []string {
	var out []string
	for _, line := range r.Header.Values("Cookie") {
		for cookie := range strings.SplitSeq(line, ";") {
			if cookie = strings.TrimSpace(cookie); cookie != "" {
				out = append(out, cookie)
			}
		}
	}
	return out
}

// query joins repeated parameters by commas and is nil when there are none.
func query(r *http.Request) map[string]string {
	values := r.URL.Query()
	if len(values) == 0 {
		return nil
	}
	out := make(map[string]string, len(values))
	for name, all := range values {
		out[name] = strings.Join(all, ",")
	}
	return out
}

// isText tells whether a body is passed as it is. What API Gateway takes for
// text it takes by the media type; an encoded body is never text.
func isText(header http.Header, body []byte) bool {
	if len(body) == 0 {
		return true
	}
	if header.Get("Content-Encoding") != "" || !utf8.Valid(body) {
		return false
	}
	media, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return header.Get("Content-Type") == ""
	}
	switch media {
	case "application/json", "application/xml", "application/javascript":
		return true
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml")
}
