package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

const (
	maxAnswer  = 64 << 20 // bytes of an answer that are read
	firstWait  = 200 * time.Millisecond
	longestNap = 10 * time.Second // no wait is longer, whatever Retry-After asks
)

// call is one operation of the API.
type call struct {
	method string
	path   []string // segments, escaped when the URL is built
	query  url.Values
	header http.Header
	body   any
	// once marks an operation that makes something new each time: it is repeated
	// only when the server said that it did nothing.
	once bool
}

// do performs a call and decodes the answer into out, unless out is nil.
func (c *Client) do(ctx context.Context, k call, out any) error {
	var body []byte
	if k.body != nil {
		var err error
		if body, err = json.Marshal(k.body); err != nil {
			return fmt.Errorf("write the request: %w", err)
		}
	}
	for try := 0; ; try++ {
		after, err := c.try(ctx, k, body, out)
		if err == nil || after < 0 || try >= c.options.Retries || c.options.Wait == nil {
			return err
		}
		if waitErr := c.options.Wait(ctx, c.pause(try, after)); waitErr != nil {
			return err
		}
	}
}

// pause is the wait before the next try: doubling, spread over half to one and
// a half of itself, at least what the server asked for, bounded.
func (c *Client) pause(try int, after time.Duration) time.Duration {
	own := time.Duration(float64(firstWait<<min(try, 8)) * (0.5 + c.options.Spread()))
	return min(max(own, after), longestNap)
}

// never as a wait says that repeating cannot help or could do harm.
const never = -1

// try sends the request once. With an error it tells the least wait after which
// the call may be repeated, or never.
func (c *Client) try(ctx context.Context, k call, body []byte, out any) (time.Duration, error) {
	request, err := c.request(ctx, k, body)
	if err != nil {
		return never, err
	}
	response, err := c.options.HTTP.Do(request)
	var unsent interface{ NotSent() bool }
	if errors.As(err, &unsent) && unsent.NotSent() {
		return never, cause(err)
	}
	if err != nil {
		return c.lostWait(ctx, k), c.lost(ctx, err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return c.lostWait(ctx, k), c.lost(ctx, err)
	}
	if response.StatusCode >= 200 && response.StatusCode < 300 {
		if out == nil {
			return never, nil
		}
		if err := json.Unmarshal(data, out); err != nil {
			return never, &Unreachable{URL: c.base, Err: fmt.Errorf("it answers, but not as a Belfry API does: %w", err)}
		}
		return never, nil
	}
	return c.refused(k, response, data)
}

// lostWait is never when the caller gave up, and for what must not happen twice.
func (c *Client) lostWait(ctx context.Context, k call) time.Duration {
	if k.once || ctx.Err() != nil {
		return never
	}
	return 0
}

// lost is the error of a call whose answer never came. A context that ended by
// the caller's wish stays visible as such.
func (c *Client) lost(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return &Unreachable{URL: c.base, Err: cause(err)}
}

// cause is an error without the method and the URL that net/http puts before it.
func cause(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// refused decodes a problem. What is no problem did not come from Belfry.
func (c *Client) refused(k call, response *http.Response, data []byte) (time.Duration, error) {
	var problem Problem
	if json.Unmarshal(data, &problem) != nil || problem.Code == "" {
		if response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden {
			return never, c.denied(response, data)
		}
		err := &Unreachable{URL: c.base, Err: fmt.Errorf("%s %s was answered with %s, which is no answer of Belfry", k.method, "/"+strings.Join(k.path, "/"), response.Status)}
		if response.StatusCode >= 502 && !k.once {
			return retryAfter(response), err
		}
		return never, err
	}
	switch problem.Code.Class() {
	case job.ClassBusy:
		// A refusal by a full or resting service: nothing was done.
		if problem.Code == job.CodeThrottled || !k.once {
			return retryAfter(response), problem.Err()
		}
	case job.ClassRefused, job.ClassMissing, job.ClassConflict, job.ClassBroken:
	}
	return never, problem.Err()
}

// retryAfter reads the header's seconds; a date or nonsense counts as 0.
func retryAfter(response *http.Response) time.Duration {
	seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(min(seconds, int(longestNap/time.Second))) * time.Second
}

func (c *Client) request(ctx context.Context, k call, body []byte) (*http.Request, error) {
	segments := make([]string, len(k.path))
	for i, s := range k.path {
		segments[i] = url.PathEscape(s)
	}
	target := c.base + "/v1/" + strings.Join(segments, "/")
	if len(k.query) > 0 {
		target += "?" + k.query.Encode()
	}
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, k.method, target, reader)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	for name, values := range k.header {
		request.Header[name] = values
	}
	request.Header.Set("Accept", "application/json, application/problem+json")
	if body != nil {
		request.Header.Set("Content-Type", cmp.Or(k.header.Get("Content-Type"), "application/json"))
	}
	if c.options.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.options.Token)
	}
	return request, nil
}
