package worker

import "github.com/belfry-scheduler/belfry/pkg/execute"

// Why a handler's context ended, told by context.Cause beside ErrLeaseLost. A cause
// that is none of these is the worker's stop: the next attempt follows at once.
var (
	ErrDeadline error = execute.ErrDeadline // the attempt's timeout has passed
	ErrCanceled error = execute.ErrCanceled // a person asked to cancel the execution
)
