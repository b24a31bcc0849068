package idempotent

import "fmt"

// State is what an inbox knew of an action, or a table of a business key.
type State int

// The states. Unfinished comes of dynamo.Begin alone: an earlier attempt began and
// its end is not known, so the outside must be asked before the action is done.
const (
	New State = iota + 1
	Existing
	Unfinished
)

// String is the state in one word.
func (s State) String() string {
	switch s {
	case New:
		return "new"
	case Existing:
		return "existing"
	case Unfinished:
		return "unfinished"
	}
	return fmt.Sprintf("State(%d)", int(s))
}

// Outcome tells what is new from what was there. The zero value has no state: it
// comes with an error.
type Outcome[T any] struct {
	State State
	// Value is what this call stored when State is New, and what was stored before
	// when it is Existing; the zero value when it is Unfinished.
	Value T
}

// IsNew reports whether this call was the first.
func (o Outcome[T]) IsNew() bool { return o.State == New }
