// Package worker is what handler authors import. It receives messages, hands
// them to the execution plane, runs the registered handlers, and gives the
// messages back to the queue as the plane decided. The same handlers run in a
// container (Run) and as a Lambda function (Lambda).
//
//	w, err := worker.New(options)
//	worker.Handle(w, "report", func(ctx context.Context, a *worker.Attempt) error {
//		…
//	})
//	err = w.Run(ctx)
//
// What happens to the data here: a message is opened, waits (at most two
// seconds, without a slot) until its execution is due, takes a slot of its pool
// and is claimed; its handler runs under a lease that the execution plane
// keeps; afterwards the message is deleted or hidden.
//
// An execution may run more than once: a handler uses Attempt.IdempotencyKey
// where it acts on the outside, and Attempt.Fence where the outside can compare
// it; package idempotent has the tools.
//
// While the circuit breaker of what a handler calls is open (Resource), its attempts
// do not begin: their messages are given back unclaimed.
//
// What it must never do: take more messages than it has room for, delete a
// message that the plane did not say may be deleted, or decide anything about
// an execution.
//
// | crash after                | what is there                   | who repairs it                          |
// |----------------------------|---------------------------------|-----------------------------------------|
// | receive                    | SCHEDULED, message hidden       | it returns after lease + a few seconds  |
// | claim, run, settle         | see package execute             | see package execute                     |
// | given back on a stop       | the message, visible            | the next worker                         |
package worker
