package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// DefaultURL is where `belfry dev` serves.
const DefaultURL = "http://127.0.0.1:8420"

// Options say how to reach the API.
type Options struct {
	BaseURL string // empty = DefaultURL
	// HTTP sends the calls; nil = http.DefaultClient. A transport that signs them
	// (pkg/signing) belongs here. Its errors that say NotSent() are answered as they
	// are, and the call is not repeated.
	HTTP  *http.Client
	Token string // sent as bearer token; empty = none

	// Retries is how often a call that failed is repeated, when repeating it is
	// safe: reads, and verbs that the server makes idempotent. 0 = 3, negative =
	// never.
	Retries int
	// Wait sleeps for d or until ctx ends, whose error it then returns. nil =
	// calls are never repeated, since the package has no clock of its own.
	Wait func(ctx context.Context, d time.Duration) error
	// Spread draws from [0, 1) and spreads the waits of many clients; nil = 0.5.
	Spread func() float64
}

// Client calls the API. It is safe for concurrent use.
type Client struct {
	base    string
	options Options
}

// New checks the options. The base URL must be absolute http or https, without
// user, query or fragment.
func New(o Options) (*Client, error) {
	if o.BaseURL == "" {
		o.BaseURL = DefaultURL
	}
	u, err := url.Parse(o.BaseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, &job.Error{Code: job.CodeInvalid, Field: "base URL", Value: job.Shorten(o.BaseURL), Bound: "an absolute http or https URL",
			Message: fmt.Sprintf("%q is not the URL of a Belfry API", job.Shorten(o.BaseURL)), Fix: "write it as " + DefaultURL}
	}
	if o.HTTP == nil {
		o.HTTP = http.DefaultClient
	}
	if o.Retries == 0 {
		o.Retries = 3
	}
	if o.Spread == nil {
		o.Spread = func() float64 { return 0.5 }
	}
	return &Client{base: strings.TrimRight(o.BaseURL, "/"), options: o}, nil
}

// URL is the base URL in use.
func (c *Client) URL() string { return c.base }

// Unreachable means that no Belfry API answered under URL.
type Unreachable struct {
	URL string
	Err error // what the last try met
}

// Error says what was tried and what it met.
func (e *Unreachable) Error() string {
	return fmt.Sprintf("no Belfry API answers at %s: %v", e.URL, e.Err)
}

// Unwrap gives the last try's error.
func (e *Unreachable) Unwrap() error { return e.Err }
