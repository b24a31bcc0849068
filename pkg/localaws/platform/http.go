package platform

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

const (
	gatewayLimit  = 10 << 20         // bytes of a request that the HTTP API takes
	lambdaLimit   = 6 << 20          // bytes of an event, and of an answer
	gatewayWindow = 30 * time.Second // longest that the HTTP API waits
)

// HTTPFront is an http.Handler that answers through a function, as an API
// Gateway HTTP API does with payload format 2.0 and one $default route. It is
// safe for concurrent use.
type HTTPFront struct {
	Runtime  // Timeout: 0 or more than 30 s = 30 s, as the HTTP API waits no longer
	Function func(context.Context, events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error)
	OnError  func(error) // told of every failed invocation; nil = nobody

	once   sync.Once
	runner *runner
	serial atomic.Uint64
}

// ServeHTTP invokes the function once and writes what it answers. Failures
// look as they do behind API Gateway: 413 for what is too large, 500 for an
// error, a panic or an answer that is none, 503 when the time is over.
func (f *HTTPFront) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.once.Do(f.start)
	body, err := io.ReadAll(io.LimitReader(r.Body, gatewayLimit+1))
	if err != nil {
		gatewayAnswer(w, http.StatusBadRequest, "Bad Request")
		return
	}
	event := httpEvent(r, body, f.serial.Add(1), time.Now())
	if len(body) > gatewayLimit || len(event.Body) > lambdaLimit {
		gatewayAnswer(w, http.StatusRequestEntityTooLarge, "Request Too Long")
		return
	}
	response, err := invoke(r.Context(), f.runner, event, f.Function)
	if err == nil {
		err = writeResponse(w, r, response)
	}
	if err == nil {
		return
	}
	if f.OnError != nil {
		f.OnError(fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, err))
	}
	if errors.Is(err, ErrTimeout) {
		gatewayAnswer(w, http.StatusServiceUnavailable, "Service Unavailable")
		return
	}
	gatewayAnswer(w, http.StatusInternalServerError, "Internal Server Error")
}

// Wait returns when no invocation is in hand, those included that overran
// their timeout. Call it after the server has been shut down.
func (f *HTTPFront) Wait() {
	f.once.Do(f.start)
	f.runner.wait()
}

func (f *HTTPFront) start() {
	runtime := f.Runtime
	if runtime.Timeout == 0 || runtime.Timeout > gatewayWindow {
		runtime.Timeout = gatewayWindow
	}
	runtime.Grace = 0
	f.runner = newRunner(context.Background(), runtime)
}

func gatewayAnswer(w http.ResponseWriter, status int, message string) {
	body, _ := json.Marshal(map[string]string{"message": message})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// writeResponse writes nothing when it returns an error. Format 2.0 has no
// multi-value headers, and API Gateway does not read them; several cookies are
// the one thing that can be said twice.
func writeResponse(w http.ResponseWriter, r *http.Request, response events.APIGatewayV2HTTPResponse) error {
	body := []byte(response.Body)
	if response.IsBase64Encoded {
		decoded, err := base64.StdEncoding.DecodeString(response.Body)
		if err != nil {
			return fmt.Errorf("the answer's body is not base64: %w", err)
		}
		body = decoded
	}
	switch {
	case response.StatusCode < 200 || response.StatusCode > 599:
		return fmt.Errorf("the answer's status %d is none", response.StatusCode)
	case len(response.Body) > lambdaLimit:
		return fmt.Errorf("the answer has %d bytes, more than the %d that Lambda returns", len(response.Body), lambdaLimit)
	}
	header := w.Header()
	for name, value := range response.Headers {
		header.Set(name, value)
	}
	for _, cookie := range response.Cookies {
		header.Add("Set-Cookie", cookie)
	}
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", "text/plain; charset=utf-8")
	}
	header.Del("Content-Length") // a HEAD answer keeps none; the server counts the rest
	w.WriteHeader(response.StatusCode)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
	return nil
}
