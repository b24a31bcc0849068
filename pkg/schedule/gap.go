package schedule

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// GapRecord is the one record of the times that a verb passed over, whoever
// writes it: the verb itself, or the next scan. rev is the revision whose times
// they are, nil when it is absent.
func GapRecord(head *job.Head, rev *job.Revision, at time.Time) job.RangeRecord {
	return (*Zones)(nil).GapRecord(head, rev, at)
}

// GapRecord is the package's GapRecord with the zones of this database.
func (z *Zones) GapRecord(head *job.Head, rev *job.Revision, at time.Time) job.RangeRecord {
	return job.RangeRecord{Ref: head.Ref, Range: z.passedOver(head.Gap, rev), Revision: head.Gap.Revision, Epoch: head.Epoch, Pool: head.Pool,
		Status: job.Missed, Reason: head.Gap.Reason, At: at}
}

// PassedOver is the range of scheduled times that a verb passed over, counted
// under the schedule of the revision whose times they are. A revision that is
// absent or can no longer be evaluated still leaves a range, of one time, since
// the cursor itself was due.
func PassedOver(gap *job.Gap, rev *job.Revision) job.Range { return (*Zones)(nil).passedOver(gap, rev) }

func (z *Zones) passedOver(gap *job.Gap, rev *job.Revision) job.Range {
	one := job.Range{From: gap.From, To: gap.From, Count: 1}
	if rev == nil {
		return one
	}
	compiled, err := z.OfRevision(rev)
	if err != nil {
		return one
	}
	late := PlanLate(compiled, gap.From.Add(-time.Second), gap.EffectiveAt, job.Misfire{Policy: job.MisfireSkip})
	all := job.Range{From: late.Missed.First, To: late.Missed.Last, Count: late.Missed.Count + len(late.OnTime)}
	if late.Missed.Count == 0 && len(late.OnTime) > 0 {
		all.From = late.OnTime[0]
	}
	if len(late.OnTime) > 0 {
		all.To = late.OnTime[len(late.OnTime)-1]
	}
	if all.Count == 0 {
		return one
	}
	return all
}
