package idempotent

import (
	"errors"
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// CodeFenced is the code of a failure for StaleError.
const CodeFenced = "FENCED"

// ErrFenced is what every StaleError is: whoever wrote has been overtaken, and
// nothing was written.
var ErrFenced = errors.New("a newer attempt has written here")

// StaleError is a write that was refused since a newer attempt, or an execution for
// a later scheduled time, has written. A handler returns it as it is: trying
// again cannot help this attempt. For a worker it is permanent, with code FENCED; of an
// attempt that has lost its lease the worker's settle is refused too, so what it
// returns changes nothing.
type StaleError struct {
	What   string // what was to be written, in words, such as "the row of accounts"
	Fence  Fence  // whose write was refused
	Holder Fence  // who has written; empty where it could not be read
}

// Error names both fences.
func (e *StaleError) Error() string {
	holder := "a newer attempt"
	if e.Holder != "" {
		holder = string(e.Holder)
	}
	return fmt.Sprintf("%s was written by %s, so %s may not write it any more", e.What, holder, e.Fence)
}

// Unwrap makes it ErrFenced, and permanent for a worker.
func (e *StaleError) Unwrap() error { return worker.WithCode(CodeFenced, worker.Permanent(ErrFenced)) }
