package lifecycle

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// MayBegin is the claim rule for a scheduled execution that has not begun
// (model-checked; see docs/architecture.md). The current life of the job may
// begin; an older one only when every verb since its epoch was an edit
// (epoch ≥ RunsFrom) and its time is not past carryUntil, which the first edit
// after its revision wrote. carryUntil is ignored when the epochs are equal;
// head is nil when the job is unknown.
func MayBegin(head *job.Head, epoch int64, scheduledAt, carryUntil time.Time) bool {
	switch {
	case head == nil:
		return false
	case epoch == head.Epoch:
		return true
	case epoch > head.Epoch:
		// A strong read cannot be older than the message. After a restore it
		// can: then the cursor makes the time again under a higher epoch.
		return false
	}
	return epoch >= head.RunsFrom && !scheduledAt.After(carryUntil)
}
