package template

import "fmt"

// Error says what is wrong with a template.
type Error struct {
	Value   string // the part that is wrong
	Bound   string // what is allowed there
	Message string // one sentence
	Fix     string // what to do
}

// Error is the message with what to do.
func (e *Error) Error() string { return fmt.Sprintf("%s; %s", e.Message, e.Fix) }

func wrong(value, bound, message, fix string) error {
	return &Error{Value: value, Bound: bound, Message: message, Fix: fix}
}
