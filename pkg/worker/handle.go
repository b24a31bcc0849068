package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// handling is a handler with what was said about it.
type handling struct {
	run          Handler
	confirm      func(ctx context.Context, a *Attempt) (Answer, error)
	uncancelable bool
	onDemand     bool                          // it reads a payload that lies elsewhere itself
	resource     func(d job.Definition) string // nil: it has no breaker
	refusal      error                         // of an option
}

// Option says something about a handler: Confirm, ConfirmAttempt, Uncancelable, PayloadOnDemand,
// Resource, ResourceOf.
type Option func(*handling)

// Middleware wraps handlers: it returns one that calls next, or does not.
type Middleware func(next Handler) Handler

// Use wraps every handler of the worker, those registered later too. The first
// middleware is the outermost. Call it before Run or Lambda.
func (w *Worker) Use(around ...Middleware) { w.around = append(w.around, around...) }

// Handle registers the handler for jobs whose target is the handler of that
// name. Registering a name twice, or one that is no name, is refused: Run and
// Lambda then answer with the refusal, and Check tells it at once.
func Handle(w *Worker, name string, h Handler, options ...Option) {
	if err := w.register(name, h, options); err != nil && w.refusal == nil {
		w.refusal = err
	}
}

// HandleTyped registers a handler whose payload is read into a T. A payload
// that does not fit T fails for good with PAYLOAD_INVALID; an absent one leaves
// the zero T.
func HandleTyped[T any](w *Worker, name string, h func(ctx context.Context, a *Attempt, payload T) error, options ...Option) {
	Handle(w, name, func(ctx context.Context, a *Attempt) error {
		var payload T
		if err := a.Decode(&payload); err != nil {
			return err
		}
		return h(ctx, a, payload)
	}, options...)
}

// Uncancelable says that a handler must run to its end once it has begun: a
// request to cancel its execution does not end its context, and is shown as
// declined. Attempt.Canceled still tells of it, and no retry is begun after it.
// Deadline, lost lease and the worker's stop end the context as ever.
func Uncancelable() Option { return func(h *handling) { h.uncancelable = true } }

func (w *Worker) uncancelable(d job.Definition) bool {
	return w.handlers[d.Target.HandlerName()].uncancelable
}

// Check tells whether every registration was accepted.
func (w *Worker) Check() error {
	if w.refusal == nil && len(w.handlers) == 0 {
		return errors.New("the worker has no handlers: register one with worker.Handle")
	}
	return w.refusal
}

func (w *Worker) register(name string, h Handler, options []Option) error {
	if err := job.CheckName("handler", name); err != nil {
		return err
	}
	if h == nil {
		return &job.Error{Code: job.CodeInvalid, Field: "handler", Value: name, Message: fmt.Sprintf("handler %q is nil", name)}
	}
	if _, taken := w.handlers[name]; taken {
		return &job.Error{Code: job.CodeAlreadyExists, Field: "handler", Value: name, Message: fmt.Sprintf("handler %q is registered twice", name),
			Fix: "give each handler a name of its own"}
	}
	made := handling{run: h}
	for _, option := range options {
		option(&made)
	}
	if made.refusal != nil {
		return made.refusal
	}
	w.handlers[name] = made
	return nil
}
