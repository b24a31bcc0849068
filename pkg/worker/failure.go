package worker

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// Codes that the worker itself gives to failures.
const (
	CodeHandlerError   = "HANDLER_ERROR"   // the handler gave none
	CodeHandlerUnknown = "HANDLER_UNKNOWN" // no handler of that name in this worker
	CodeHandlerPanic   = "PANIC"
	CodePayloadInvalid = "PAYLOAD_INVALID"
	CodeTimeout        = "TIMEOUT"
)

const longestText = 2048 // bytes of an error's text and of a stack

// classed is an error that says how it is to be retried.
type classed struct {
	class lifecycle.Class
	after time.Duration
	err   error
}

func (e *classed) Error() string { return e.err.Error() }
func (e *classed) Unwrap() error { return e.err }

// coded is an error with a stable word.
type coded struct {
	code string
	err  error
}

func (e *coded) Error() string { return e.err.Error() }
func (e *coded) Unwrap() error { return e.err }

// Retry says that err may pass: the execution is tried again after its back-off.
// That is also what happens to an error without any class. Nil stays nil.
func Retry(err error) error { return classify(err, lifecycle.Transient, 0) }

// RetryAfter says that the outside asked to be left alone for d: the next
// attempt comes no sooner. Nil stays nil.
func RetryAfter(err error, d time.Duration) error {
	return classify(err, lifecycle.ThrottledClass, max(d, 0))
}

// Permanent says that trying again cannot help: the execution fails for good.
// Nil stays nil.
func Permanent(err error) error { return classify(err, lifecycle.PermanentClass, 0) }

// TimedOut says that the outside did not answer in time: retried as Retry, but
// recorded as a timeout. Nil stays nil.
func TimedOut(err error) error { return classify(err, lifecycle.TimeoutClass, 0) }

func classify(err error, class lifecycle.Class, after time.Duration) error {
	if err == nil {
		return nil
	}
	return &classed{class: class, after: after, err: err}
}

// WithCode gives err a stable word, such as HTTP_503, by which failures are
// counted and found. It goes with the other constructors in any order. Words
// other than 1 to 64 of A-Z, 0-9 and _ are not kept. Nil stays nil.
func WithCode(code string, err error) error {
	if err == nil {
		return nil
	}
	return &coded{code: code, err: err}
}

var codeRule = regexp.MustCompile(`^[A-Z0-9_]{1,64}$`)

// FailureOf is what the execution plane is told about a handler's error; nil for
// nil. The outermost class and the outermost code win. Tests of handlers read
// from it how an error would be retried.
func FailureOf(err error) *lifecycle.Failure {
	if err == nil {
		return nil
	}
	f := &lifecycle.Failure{Class: lifecycle.Transient, Code: CodeHandlerError, Text: bounded(err.Error())}
	var c *classed
	switch {
	case errors.As(err, &c):
		f.Class, f.RetryAfter = c.class, c.after
	case errors.Is(err, context.DeadlineExceeded):
		f.Class = lifecycle.TimeoutClass
	}
	if f.Class == lifecycle.TimeoutClass {
		f.Code = CodeTimeout
	}
	var word *coded
	if errors.As(err, &word) && codeRule.MatchString(word.code) {
		f.Code = word.code
	}
	return f
}

func bounded(text string) string {
	if len(text) > longestText {
		text = text[:longestText]
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// work runs the handler that the definition names.
func (w *Worker) work(ctx context.Context, a *execute.Attempt) (f *lifecycle.Failure) {
	name := a.Definition.Target.HandlerName()
	h, known := w.handlers[name]
	if !known {
		return &lifecycle.Failure{Class: lifecycle.Transient, Code: CodeHandlerUnknown,
			Text: bounded(fmt.Sprintf("this worker has no handler %q", name))}
	}
	defer func() {
		if r := recover(); r != nil {
			f = &lifecycle.Failure{Class: lifecycle.PanicClass, Code: CodeHandlerPanic, Text: bounded(fmt.Sprintf("%v\n%s", r, stackOfPanic()))}
		}
	}()
	w.running.Add(1)
	defer w.running.Add(-1)
	attempt, err := w.rendered(a)
	if err != nil {
		return FailureOf(err)
	}
	if f := h.prepare(ctx, attempt); f != nil {
		return f
	}
	run, f := h.settled(ctx, a, attempt)
	if !run {
		w.answersProbe(ctx, f)
		return f
	}
	handler := h.run
	for _, around := range slices.Backward(w.around) {
		handler = around(handler)
	}
	err = handler(ctx, attempt)
	if f = FailureOf(err); f != nil {
		f.Confirmable = h.confirm != nil
	}
	w.bears(ctx, f, err)
	return f
}

// Running is how many handlers run in this process at the moment.
func (w *Worker) Running() int { return int(w.running.Load()) }

// stackOfPanic is the stack without the frames of the runtime and of the
// recovering itself, which say nothing.
func stackOfPanic() string {
	stack := string(debug.Stack())
	_, rest, found := strings.Cut(stack, "\npanic(")
	if !found {
		return stack
	}
	lines := strings.SplitN(rest, "\n", 3) // the rest of the panic's own two lines
	return lines[len(lines)-1]
}
