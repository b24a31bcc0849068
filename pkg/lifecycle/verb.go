package lifecycle

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Raised is the head with its epoch raised for a verb. notEdit moves RunsFrom
// along, so that nothing older than this verb begins any more.
func Raised(head job.Head, actor string, now time.Time, notEdit bool) job.Head {
	head.Epoch++
	if notEdit {
		head.RunsFrom = head.Epoch
	}
	head.UpdatedAt, head.ChangedBy, head.Reason = now, actor, ""
	head.Plan, head.Gap = nil, nil
	return head
}

// PassOver leaves a gap in next when the verb moves the cursor past times that
// are already due. The head stays in the due index until the gap is recorded.
func PassOver(next *job.Head, old *job.Head, now time.Time, reason job.Reason) {
	if old.State != job.Enabled || old.NextFireAt.IsZero() || old.NextFireAt.After(now) {
		return
	}
	next.Gap = &job.Gap{From: old.NextFireAt, EffectiveAt: now, Revision: old.Revision, Reason: reason, Then: next.NextFireAt}
	next.NextFireAt = now.Truncate(time.Second)
}
