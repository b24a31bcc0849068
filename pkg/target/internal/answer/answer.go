// Package answer reads what receivers and services answer, for all targets alike.
package answer

import (
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// textMost is how much of an answer is kept as an error's text, in bytes.
const textMost = 512

// longestRetryAfter bounds what a receiver may ask for.
const longestRetryAfter = 24 * time.Hour

// Printable is the start of an answer as one line of text.
func Printable(body []byte) string {
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

// RetryAfter reads a Retry-After header as seconds or as an HTTP date; false when
// it is neither.
func RetryAfter(value string, now time.Time) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, longestRetryAfter), true
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(now), 0), longestRetryAfter), true
	}
	return 0, false
}

// Stamp is a time in RFC 3339, UTC with milliseconds; empty for the zero time.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}
