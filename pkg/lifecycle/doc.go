// Package lifecycle says how executions and jobs move between their states:
// the arrows as two tables, one constructor per transition of an execution, the
// closed list of reasons with the sentence that people read, and what a worker
// does with a message (Decide).
//
// It is pure: a function of what is stored, what the message says and the
// clock. The planes ask it what to do and the store writes only values that
// its constructors made, so no caller can invent a state.
package lifecycle
