package target

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/target/internal/answer"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// judge says what an answer means.
func judge(r *http.Response, body []byte, now time.Time) error {
	if r.StatusCode >= 200 && r.StatusCode < 300 {
		return nil
	}
	err := errors.New(describe(r, body))
	after, asked := answer.RetryAfter(r.Header.Get("Retry-After"), now)
	switch {
	case r.StatusCode == http.StatusTooManyRequests, r.StatusCode == http.StatusServiceUnavailable && asked:
		err = worker.RetryAfter(err, after)
	case r.StatusCode == http.StatusRequestTimeout, r.StatusCode == http.StatusTooEarly, r.StatusCode >= 500:
		err = worker.Retry(err)
	default:
		err = worker.Permanent(err)
	}
	return worker.WithCode("HTTP_"+strconv.Itoa(r.StatusCode), err)
}

func describe(r *http.Response, body []byte) string {
	text := "the receiver answered " + strconv.Itoa(r.StatusCode)
	if word := http.StatusText(r.StatusCode); word != "" {
		text += " " + word
	}
	if r.StatusCode >= 300 && r.StatusCode < 400 {
		return text + "; redirects are not followed: put the final URL into the job"
	}
	if said := answer.Printable(body); said != "" {
		text += ": " + said
	}
	return text
}

// plain is an HTTP client's error without the URL, which may carry what the
// job's author meant for the receiver alone.
func plain(err error) error {
	return fmt.Errorf("post the webhook: %w", cause(err))
}

func cause(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
