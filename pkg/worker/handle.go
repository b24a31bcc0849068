package worker

import (
	"context"
	"errors"
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Handle registers the handler for jobs whose target is the handler of that
// name. Registering a name twice, or one that is no name, is refused: Run and
// Lambda then answer with the refusal, and Check tells it at once.
func Handle(w *Worker, name string, h Handler) {
	if err := w.register(name, h); err != nil && w.refusal == nil {
		w.refusal = err
	}
}

// HandleTyped registers a handler whose payload is read into a T. A payload
// that does not fit T fails for good with PAYLOAD_INVALID; an absent one leaves
// the zero T.
func HandleTyped[T any](w *Worker, name string, h func(ctx context.Context, a *Attempt, payload T) error) {
	Handle(w, name, func(ctx context.Context, a *Attempt) error {
		var payload T
		if err := a.Decode(&payload); err != nil {
			return err
		}
		return h(ctx, a, payload)
	})
}

// Check tells whether every registration was accepted.
func (w *Worker) Check() error {
	if w.refusal == nil && len(w.handlers) == 0 {
		return errors.New("the worker has no handlers: register one with worker.Handle")
	}
	return w.refusal
}

func (w *Worker) register(name string, h Handler) error {
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
	w.handlers[name] = h
	return nil
}
