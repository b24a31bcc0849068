package schedule

import (
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// refuse says what is wrong with value in field of a schedule, and which rule
// it broke.
func refuse(field, value, bound, format string, args ...any) *job.Error {
	return &job.Error{
		Code:    job.CodeScheduleInvalid,
		Field:   field,
		Value:   job.Shorten(value),
		Bound:   bound,
		Message: fmt.Sprintf(format, args...),
	}
}

// withFix adds the way out to a refusal.
func withFix(err *job.Error, fix string) *job.Error {
	err.Fix = fix
	return err
}

// withCode gives a refusal a code of its own.
func withCode(code job.Code, err *job.Error) *job.Error {
	err.Code = code
	return err
}

// quote shows a value inside a message: shortened, so that a hostile one
// cannot inflate it.
func quote(value string) string {
	return fmt.Sprintf("%q", job.Shorten(value))
}
