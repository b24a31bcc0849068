package schedule

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// maxLine bounds one question, in bytes. The rest of a longer line is read and
// dropped, and the line is answered with an error.
const maxLine = 64 << 10

// answer is one line answered by ServeNext: times, or why there are none.
type answer struct {
	ID        json.RawMessage `json:"id"`
	Next      []string        `json:"next,omitzero"`
	Exhausted *bool           `json:"exhausted,omitempty"`
	Error     *answerError    `json:"error,omitempty"`
}

type answerError struct {
	Code    job.Code `json:"code"`
	Message string   `json:"message"`
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
	in, out := bufio.NewReaderSize(r, maxLine), bufio.NewWriterSize(w, maxLine)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, out.Flush())
		}
		line, tooLong, readErr := readLine(in)
		if readErr == nil || len(line) > 0 {
			if err := encoder.Encode(answerLine(line, tooLong)); err != nil {
				return fmt.Errorf("write an answer: %w", err)
			}
		}
		if readErr != nil || in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return fmt.Errorf("write answers: %w", err)
			}
		}
		if errors.Is(readErr, io.EOF) {
			return nil
		}
		if readErr != nil {
			return fmt.Errorf("read a question: %w", readErr)
		}
	}
}

// readLine returns the next line without its end, valid until the next call. Of
// a line longer than the buffer it returns the beginning and tooLong.
func readLine(in *bufio.Reader) (line []byte, tooLong bool, err error) {
	line, err = in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return trimEnd(line), false, err
	}
	head := append([]byte(nil), line[:256]...)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = in.ReadSlice('\n')
	}
	return head, true, err
}

func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}

// answerLine answers one line. A fault of ours becomes an error line too: one
// question must never cost the others their answers.
func answerLine(line []byte, tooLong bool) (a answer) {
	a.ID = json.RawMessage("null")
	defer func() {
		if r := recover(); r != nil {
			a = refusal(a.ID, &job.Error{Code: job.CodeInternal, Message: fmt.Sprintf("a fault of Belfry: %v", r)})
		}
	}()
	if tooLong {
		return refusal(a.ID, &job.Error{Code: job.CodeTooLarge, Message: "the line is too long", Bound: "64 KiB"})
	}
	q, err := readQuestion(line)
	a.ID = q.id
	if err != nil {
		return refusal(a.ID, err)
	}
	plan, err := Compile(q.schedule, time.Time{})
	if err != nil {
		return refusal(a.ID, err)
	}
	a.Next = make([]string, 0, min(q.count, 16))
	at, ok := plan.next(q.after.Unix())
	for ; ok && len(a.Next) < q.count; at, ok = plan.next(at) {
		a.Next = append(a.Next, instant(at).Format(time.RFC3339))
	}
	exhausted := len(a.Next) < q.count
	a.Exhausted = &exhausted
	return a
}

func refusal(id json.RawMessage, err error) answer {
	code := job.CodeOf(err)
	if code == "" {
		code = job.CodeInternal
	}
	return answer{ID: id, Error: &answerError{Code: code, Message: err.Error()}}
}
