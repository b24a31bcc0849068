package store

import (
	"strconv"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// timelineBound is how many bytes of timeline an execution carries itself, so
// that it stays within one write unit. What falls out becomes history items.
const timelineBound = 450

// statusLetters shorten statuses in timeline entries.
var statusLetters = map[job.Status]string{job.Scheduled: "s", job.Running: "r", job.RetryWait: "w", job.Succeeded: "S", job.Failed: "F",
	job.Dead: "D", job.Canceled: "C", job.Skipped: "K", job.Missed: "M", job.Withdrawn: "W", job.NeedsReview: "N"}

var lettersStatus = func() map[string]job.Status {
	back := map[string]job.Status{}
	for status, letter := range statusLetters {
		back[letter] = status
	}
	return back
}()

// encodeEntry writes "ms|status|attempt|token|reason|actor|code", numbers in
// base 36. A bar in a text would be taken for a separator and is dropped.
func encodeEntry(e job.Entry) string {
	plain := func(s string) string { return strings.ReplaceAll(s, "|", "") }
	return strings.Join([]string{strconv.FormatInt(e.At.UnixMilli(), 36), statusLetters[e.To], strconv.FormatInt(int64(e.Attempt), 36),
		strconv.FormatInt(e.Token, 36), plain(string(e.Reason)), plain(e.Actor), plain(e.ErrorCode)}, "|")
}

func decodeEntry(stored string) (job.Entry, bool) {
	parts := strings.SplitN(stored, "|", 7)
	if len(parts) < 7 {
		return job.Entry{}, false
	}
	at, errAt := strconv.ParseInt(parts[0], 36, 64)
	attempt, errAttempt := strconv.ParseInt(parts[2], 36, 64)
	token, errToken := strconv.ParseInt(parts[3], 36, 64)
	status, known := lettersStatus[parts[1]]
	if errAt != nil || errAttempt != nil || errToken != nil || !known {
		return job.Entry{}, false
	}
	return job.Entry{At: time.UnixMilli(at).UTC(), To: status, Attempt: int(attempt), Token: token, Reason: job.Reason(parts[4]),
		Actor: parts[5], ErrorCode: parts[6]}, true
}

func decodeTimeline(stored []string) []job.Entry {
	entries := make([]job.Entry, 0, len(stored))
	for _, s := range stored {
		if e, ok := decodeEntry(s); ok {
			entries = append(entries, e)
		}
	}
	return entries
}

// trimmed is the timeline with next appended, its encoded form within the
// bound: the first two entries and the latest stay. dropped counts what fell
// out of the middle.
func trimmed(entries []job.Entry, next job.Entry) (encoded []string, dropped int) {
	size := 0
	for _, e := range append(append([]job.Entry{}, entries...), next) {
		encoded = append(encoded, encodeEntry(e))
		size += len(encoded[len(encoded)-1]) + 1
	}
	for size > timelineBound && len(encoded) > 3 {
		size -= len(encoded[2]) + 1
		encoded = append(encoded[:2], encoded[3:]...)
		dropped++
	}
	return encoded, dropped
}
