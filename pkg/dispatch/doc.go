// Package dispatch is the dispatch plane: it admits an execution to its pool's
// queue. For now every execution that the trigger plane or a person makes is
// admitted at once; permits, fairness and parking join it here.
//
// What it must never do: drop an execution. What cannot be sent is an error,
// and the caller's cursor or wake-up keeps the duty.
package dispatch
