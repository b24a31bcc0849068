package target

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// reply is a receiver's answer.
type reply struct {
	*http.Response
	text    []byte      // the start of its body, without the secrets that were sent
	refresh func() bool // forgets those secrets, and tells whether one may have been out of date
}

// refused tells whether the receiver did not take a secret that may have been out
// of date. The next request reads it anew.
func (r *reply) refused() bool {
	return (r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden) && r.refresh()
}

// silence is a request without an answer. sent: all of it had left.
type silence struct {
	err  error
	sent bool
}

func (s *silence) Error() string { return s.err.Error() }
func (s *silence) Unwrap() error { return s.err }

// exchange makes one request of an attempt, with the job's headers and the
// contract, signed. A *silence is the error of one that left and got no answer; any
// other is classed already.
func (h *webhook) exchange(ctx context.Context, a *worker.Attempt, method, url string, body []byte) (*reply, error) {
	var sent atomic.Bool
	requestCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	requestCtx = httptrace.WithClientTrace(requestCtx, &httptrace.ClientTrace{WroteRequest: func(w httptrace.WroteRequestInfo) { sent.Store(w.Err == nil) }})
	request, err := http.NewRequestWithContext(requestCtx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, worker.WithCode(CodeUnusable, worker.Permanent(fmt.Errorf("make the request: %w", err)))
	}
	headers, hide, refresh, err := h.resolve(ctx, a.Target().Webhook.Headers)
	if err != nil {
		return nil, err
	}
	span := observe.Call(ctx, observe.WebhookSpan, request.Method, request.URL.Hostname(), h.clock.Now())
	defer func() { span.End(h.clock.Now()) }()
	if err := h.setHeaders(request, headers, a, span.Traceparent(), body); err != nil {
		return nil, err
	}
	response, err := h.client.Do(request)
	if err != nil {
		span.Failed("unanswered", "")
		return nil, &silence{err: err, sent: sent.Load()}
	}
	span.Answered(response.StatusCode)
	defer func() { _ = response.Body.Close() }()
	reading, stop := context.WithTimeout(ctx, readFor)
	defer stop()
	context.AfterFunc(reading, cancel)
	text, _ := io.ReadAll(io.LimitReader(response.Body, readMost)) // of a webhook, the status alone decides
	return &reply{Response: response, text: hide.hide(text, len(text) == readMost), refresh: refresh}, nil
}
