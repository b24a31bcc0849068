package worker

import (
	"context"
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// Answer is what is known of an attempt that did not tell how it ended.
type Answer int

// The answers. Unknown is the zero value: whoever does not know says nothing.
const (
	Unknown Answer = iota // nobody can tell: a person decides
	Done                  // it took effect: the execution has succeeded
	NotDone               // it did not, and will not: run the handler again
)

// String is the answer as a word.
func (a Answer) String() string {
	switch a {
	case Done:
		return "done"
	case NotDone:
		return "not done"
	case Unknown:
		return "unknown"
	}
	return fmt.Sprintf("Answer(%d)", int(a))
}

// CodeUnconfirmed is the error code of an execution of which nobody knows whether it
// took effect: it waits in NEEDS_REVIEW for a person.
const CodeUnconfirmed = "UNCONFIRMED"

// Confirm lets a handler be asked, before it is run again, whether the business
// action of that idempotency key has taken effect already. It is asked where the
// last attempt timed out, lost its worker, or ended with Uncertain. Done ends the
// execution as succeeded without running the handler, NotDone runs it, Unknown
// leaves it to a person (NEEDS_REVIEW). An error is a failed attempt: it is asked
// again after the back-off (RetryAfter lengthens it), and left to a person once all attempts are used up.
//
// Say NotDone only of an action that cannot take effect any more: a request that
// timed out may still be on its way.
func Confirm(ask func(ctx context.Context, key string) (Answer, error)) Option {
	return ConfirmAttempt(func(ctx context.Context, a *Attempt) (Answer, error) { return ask(ctx, a.IdempotencyKey()) })
}

// ConfirmAttempt is Confirm for a question that needs more than the key.
func ConfirmAttempt(ask func(ctx context.Context, a *Attempt) (Answer, error)) Option {
	return func(h *handling) { h.confirm = ask }
}

// Uncertain says that it is unknown whether the attempt took effect, as after a
// request whose answer never came. With Confirm the execution is asked about before
// it is tried again; without it a person decides: trying again could do it twice.
// Nil stays nil.
func Uncertain(err error) error { return classify(err, lifecycle.UncertainClass, 0) }

// settled asks about an attempt that did not tell how it ended. run tells whether
// the handler is to be run.
func (h handling) settled(ctx context.Context, a *execute.Attempt, asked *Attempt) (run bool, f *lifecycle.Failure) {
	if h.confirm == nil || !a.Execution.Doubt {
		return true, nil
	}
	answer, err := h.confirm(ctx, asked)
	switch {
	case err != nil:
		f := FailureOf(Uncertain(WithCode(CodeUnconfirmed, fmt.Errorf("ask whether an earlier attempt took effect: %w", err))))
		f.Confirmable, f.RetryAfter = true, FailureOf(err).RetryAfter
		return false, f
	case answer == Done:
		a.FoundDone = true
		return false, nil
	case answer == NotDone:
		return true, nil
	}
	return false, &lifecycle.Failure{Class: lifecycle.UncertainClass, Code: CodeUnconfirmed,
		Text: "an earlier attempt may have taken effect, and the handler cannot tell"}
}
