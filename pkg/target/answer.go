package target

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// textMost is how much of an answer's body is kept as the error's text.
const textMost = 512

// longestRetryAfter bounds what a receiver may ask for.
const longestRetryAfter = 24 * time.Hour

// judge says what an answer means.
func judge(r *http.Response, body []byte, now time.Time) error {
	if r.StatusCode >= 200 && r.StatusCode < 300 {
		return nil
	}
	err := errors.New(describe(r, body))
	after, asked := retryAfter(r.Header.Get("Retry-After"), now)
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
	if said := printable(body); said != "" {
		text += ": " + said
	}
	return text
}

// printable is the start of a body as one line of text.
func printable(body []byte) string {
	text := strings.ToValidUTF8(string(body[:min(len(body), textMost)]), "")
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(text)
}

// retryAfter reads the header as seconds or as an HTTP date.
func retryAfter(value string, now time.Time) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, longestRetryAfter), true
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), longestRetryAfter), true
	}
	return 0, false
}

// plain is an HTTP client's error without the URL, which may carry what the
// job's author meant for the receiver alone.
func plain(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return fmt.Errorf("post the webhook: %w", wrapped.Err)
	}
	return fmt.Errorf("post the webhook: %w", err)
}
