package schedule

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// maxLine bounds one question, in bytes. The rest of a longer line is read and
// dropped, and the line is answered with an error.
const maxLine = 64 << 10

// answerer answers one line with what is to be written as JSON. The id is
// returned even with an error, whenever it could be read.
type answerer func(line []byte) (id json.RawMessage, answer any, err error)

// refusedLine is the answer to a line that is refused.
type refusedLine struct {
	ID    json.RawMessage `json:"id"`
	Error answerError     `json:"error"`
}

type answerError struct {
	Code    job.Code `json:"code"`
	Message string   `json:"message"`
}

// serveLines writes exactly one line for each line read, in order.
func serveLines(ctx context.Context, r io.Reader, w io.Writer, answer answerer) error {
	in, out := bufio.NewReaderSize(r, maxLine), bufio.NewWriterSize(w, maxLine)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, out.Flush())
		}
		line, tooLong, readErr := readLine(in)
		if readErr == nil || len(line) > 0 {
			if err := encoder.Encode(answerLine(line, tooLong, answer)); err != nil {
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
	head := append([]byte(nil), line[:headOfLine]...)
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = in.ReadSlice('\n')
	}
	return head, true, err
}

// headOfLine is how much of a line that is too long is kept, in bytes: enough
// for an id at its front.
const headOfLine = 1 << 10

// idIn is the id in the beginning of a line, null when it has none.
func idIn(head []byte) json.RawMessage {
	keys, _ := readObject(head)
	id, _ := readID(keys)
	return id
}

func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}

// answerLine answers one line. A fault of ours becomes an error line too: one
// question must never cost the others their answers.
func answerLine(line []byte, tooLong bool, answer answerer) (out any) {
	id := json.RawMessage("null")
	defer func() {
		if r := recover(); r != nil {
			out = refusal(id, &job.Error{Code: job.CodeInternal, Message: fmt.Sprintf("a fault of Belfry: %v", r)})
		}
	}()
	if tooLong {
		id = idIn(line)
		return refusal(id, &job.Error{Code: job.CodeTooLarge, Message: "the line is too long", Bound: "64 KiB"})
	}
	id, out, err := answer(line)
	if err != nil {
		return refusal(id, err)
	}
	return out
}

func refusal(id json.RawMessage, err error) refusedLine {
	code := job.CodeOf(err)
	if code == "" {
		code = job.CodeInternal
	}
	return refusedLine{ID: id, Error: answerError{Code: code, Message: err.Error()}}
}
