package lifecycle

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// MaxOff is by how much a clock may be off for its process to decide about time.
// Beyond it a tick would win minutes that are not its own, a scan call late what is
// to come, and a worker take what another one holds: all leave it to others.
const MaxOff = 5 * time.Second

// Trusted refuses to decide about time by a clock that is off by more than MaxOff.
// off tells by how much it is off at least; nil: the clock is trusted.
func Trusted(off func() time.Duration) error {
	if off == nil {
		return nil
	}
	by := off()
	if by <= MaxOff {
		return nil
	}
	return &job.Error{Code: job.CodeUnavailable, Field: "clock", Value: by.Round(time.Second).String(), Bound: MaxOff.String(),
		Message: "this machine's clock is off by " + by.Round(time.Second).String() + " or more, so it decides nothing about time", Fix: "set its clock; others do the work meanwhile"}
}
