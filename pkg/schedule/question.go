package schedule

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// nextAnswer is one line answered by ServeNext.
type nextAnswer struct {
	ID        json.RawMessage `json:"id"`
	Next      []string        `json:"next"`
	Exhausted bool            `json:"exhausted"`
}

// ServeNext answers questions about cron expressions, one JSON object a line:
//
//	{"id":"a","dialect":"unix","expr":"30 2 * * *","zone":"Europe/Berlin","after":"2026-03-28T12:00:00Z","count":2,"gap":"","overlap":""}
//
// with the times strictly after the given one, in UTC,
//
//	{"id":"a","next":["2026-03-29T01:00:00Z","2026-03-30T00:30:00Z"],"exhausted":false}
//
// or with an error, {"id":"a","error":{"code":"…","message":"…"}}. Exhausted
// means that fewer than count times exist up to the end of 2099.
//
// Exactly one line is written for each line read, in order, whatever it holds:
// blank lines, broken JSON, unknown or repeated keys and lines over 64 KiB are
// answered with an error, under id null where no id could be read. An absent
// key and null mean the same: dialect unix, count 1, the default policies;
// zone, expr and after are required. Answers are flushed whenever no further
// question is waiting.
//
// The error is that of reading, of writing, or of ctx, which is looked at
// between lines; nil at the end of the input.
func ServeNext(ctx context.Context, r io.Reader, w io.Writer) error {
	return serveLines(ctx, r, w, answerNext)
}

func answerNext(line []byte) (id json.RawMessage, answer any, err error) {
	q, err := readQuestion(line)
	if err != nil {
		return q.id, nil, err
	}
	plan, err := Compile(q.schedule, q.after)
	if err != nil {
		return q.id, nil, err
	}
	a := nextAnswer{ID: q.id, Next: make([]string, 0, min(q.count, 16))}
	at, ok := plan.next(q.after.Unix())
	for ; ok && len(a.Next) < q.count; at, ok = plan.next(at) {
		a.Next = append(a.Next, instant(at).Format(time.RFC3339))
	}
	a.Exhausted = len(a.Next) < q.count
	return q.id, a, nil
}

// question is one line asked of ServeNext.
type question struct {
	id       json.RawMessage
	schedule job.Schedule
	after    time.Time
	count    int
}

// The bounds of count in a question.
const (
	defaultCount = 1
	mostCount    = 1000
)

func readQuestion(line []byte) (question, error) {
	q := question{count: defaultCount}
	in, err := readInput(line, "dialect", "expr", "zone", "after", "count", "gap", "overlap")
	q.id = in.id
	if err != nil {
		return q, err
	}
	if raw, given := in.keys["count"]; given {
		if q.count, err = readCount(raw); err != nil {
			return q, err
		}
	}
	q.schedule, q.after = in.schedule(), in.time("after")
	return q, in.err
}

func readCount(raw json.RawMessage) (int, error) {
	if string(raw) == "null" {
		return defaultCount, nil
	}
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 1 || n > mostCount {
		return 0, refuseInput("count", string(raw), "a whole number, 1-"+strconv.Itoa(mostCount), "count "+quote(string(raw))+" is out of range")
	}
	return n, nil
}
