package worker

import (
	"errors"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// ErrStuck is Run's answer when a handler ignored its context: its attempt has
// been settled as timed out, but its goroutine still runs, with whatever it does.
// Nothing but the end of the process ends it: exit with code 70 (ExitStuck).
var ErrStuck = errors.New("a handler ignored its context; this process must end")

// ExitStuck is the exit code of a process that ends for ErrStuck: EX_SOFTWARE of
// sysexits.h. Whatever supervises it starts it anew.
const ExitStuck = 70

// ignored is told of each attempt whose handler did not return. A container's
// worker takes no more work then and ends; a function's invocation gives back what
// has not begun.
func (w *Worker) ignored(*job.Execution) {
	w.stuck.Store(true)
	w.condemn.Do(func() { close(w.condemned) })
}
