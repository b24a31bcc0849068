package client

import (
	"context"
	"net/http"
)

// Breaker is the circuit breaker of a resource that attempts call.
type Breaker struct {
	Resource  string   `json:"resource" doc:"What is called: scheme, host and port of webhooks, aws:SERVICE:NAME, or the name that a handler's author gave"`
	State     string   `json:"state" enum:"CLOSED,OPEN,HALF_OPEN"`
	Since     Time     `json:"since" nullable:"true" format:"date-time" doc:"When it opened; null when it is closed"`
	Until     Time     `json:"until" nullable:"true" format:"date-time" doc:"From when a few attempts probe; null when it is closed"`
	ErrorCode Text     `json:"error_code" nullable:"true" doc:"Of the last failure that was counted"`
	LastAt    Time     `json:"last_failure_at" nullable:"true" format:"date-time"`
	Failures  int      `json:"failures" doc:"In a row, probes included"`
	Jobs      []string `json:"jobs" nullable:"false" doc:"Jobs that failed; attempts of these alone wait, unless every_job"`
	EveryJob  bool     `json:"every_job" doc:"True when the attempts of every job that calls it wait: three or more different jobs failed"`
}

// BreakerQuestion closes a breaker.
type BreakerQuestion struct {
	Resource string `json:"resource"`
	Note     string `json:"note,omitempty"`
}

// Breakers reads one page of the circuit breakers that are not closed. A page may
// hold less than asked for although there is more; the last one has no cursor.
func (c *Client) Breakers(ctx context.Context, cursor string, limit int) (Page[Breaker], error) {
	var out Page[Breaker]
	return out, c.do(ctx, call{method: http.MethodGet, path: []string{"breakers"}, query: paging(cursor, limit)}, &out)
}

// CloseBreaker closes a breaker by hand; closing a closed one changes nothing.
func (c *Client) CloseBreaker(ctx context.Context, q BreakerQuestion) (Breaker, error) {
	var out Breaker
	return out, c.do(ctx, call{method: http.MethodPost, path: []string{"breakers", "close"}, body: q}, &out)
}
