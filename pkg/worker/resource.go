package worker

import (
	"errors"
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Resource names what the handler calls, such as "payments-db": when it fails many
// times in a row, in whatever worker, its circuit breaker opens, and no attempt of
// the tenant's jobs that call it begins until it answers again (docs/breakers.md).
// Handlers that give the same name share its breaker. A name that is none refuses the
// registration. Without the option a handler has no breaker.
func Resource(name string) Option {
	return func(h *handling) {
		if err := job.CheckName("resource", name); err != nil {
			h.refusal = err
			return
		}
		h.resource = func(job.Definition) string { return name }
	}
}

// ResourceOf is Resource for a handler whose job says what it calls. It is asked
// before an attempt begins, with templates not filled in; empty = no breaker. It must
// be fast, and safe for concurrent use.
func ResourceOf(name func(d job.Definition) string) Option {
	return func(h *handling) { h.resource = name }
}

// Elsewhere says that err is no fault of the handler's resource: its breaker does
// not count it. How it is retried stays. Nil stays nil.
func Elsewhere(err error) error {
	if err == nil {
		return nil
	}
	return &elsewhere{err: err}
}

type elsewhere struct{ err error }

func (e *elsewhere) Error() string { return e.err.Error() }
func (e *elsewhere) Unwrap() error { return e.err }

func isElsewhere(err error) bool {
	var e *elsewhere
	return errors.As(err, &e)
}

// resourceOf is what an attempt of d would call; empty when nobody said.
func (w *Worker) resourceOf(d job.Definition) (name string) {
	of := w.handlers[d.Target.HandlerName()].resource
	if of == nil {
		return ""
	}
	defer func() {
		if r := recover(); r != nil { // a handler author's code, before any attempt
			w.log.Error("naming the resource of a handler panicked; it runs without a breaker", "handler", d.Target.HandlerName(), "panic", fmt.Sprint(r))
			name = ""
		}
	}()
	if name = of(d); len(name) > job.MaxResource {
		return ""
	}
	return name
}
