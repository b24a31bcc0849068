package schedule

import (
	"slices"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Outage is a question about misfires: the scheduler stands still until UpAt;
// what becomes of the times that came due meanwhile?
type Outage struct {
	// Cursor is the last time that was handled; nothing up to it fires again.
	Cursor time.Time
	// DownFrom is when the scheduler went down; zero when that is not known. What
	// was due between Cursor and DownFrom and is not in Dispatched counts as not
	// handled: the crash may have come between the two.
	DownFrom time.Time
	// UpAt is when it plans again.
	UpAt time.Time
	// Dispatched are times after Cursor that have an execution already.
	Dispatched []time.Time
	// Misfire is the policy. Zero values mean no window, no cap, no tolerance.
	Misfire job.Misfire
}

// Aftermath answers an Outage.
type Aftermath struct {
	// CatchUp lists the misfired times that run, oldest first.
	CatchUp []time.Time
	// Missed holds all times that are late by more than the tolerance, run or not.
	Missed Range
	// OnTime lists the times at UpAt that are not late and have no execution yet.
	OnTime []time.Time
	// Next is the first time after UpAt and Cursor, if HasNext.
	Next    time.Time
	HasNext bool
	// Covers is, under COALESCE, the stretch that the one execution stands for,
	// if the one at the cursor succeeded: from it, inclusive, to the time that
	// fires. Count is the number of missed times in the policy's window.
	Covers    Range
	Coalesces bool
}

// mostListed bounds the lists of an Aftermath.
const mostListed = 100_000

// WhatIf plans an outage as the trigger plane does, and leaves out of what fires
// the times that have been dispatched: their executions exist, so that firing
// them again changes nothing.
//
// An outage that ends before it begins is refused, as is a policy that would
// run, or find on time, more than 100 000 times.
func WhatIf(p *Plan, o Outage) (Aftermath, error) {
	if !o.DownFrom.IsZero() && o.UpAt.Before(o.DownFrom) {
		return Aftermath{}, withCode(job.CodeInvalid, refuse("up_at", o.UpAt.Format(time.RFC3339), "not before down_from",
			"up_at %s lies before down_from %s", o.UpAt.Format(time.RFC3339), o.DownFrom.Format(time.RFC3339)))
	}
	if err := checkListable(p, o); err != nil {
		return Aftermath{}, err
	}
	late := PlanLate(p, o.Cursor, o.UpAt, o.Misfire)
	dispatched := func(at time.Time) bool {
		return slices.ContainsFunc(o.Dispatched, at.Equal)
	}
	a := Aftermath{
		CatchUp: slices.DeleteFunc(late.Fire, dispatched), OnTime: slices.DeleteFunc(late.OnTime, dispatched),
		Missed: late.Missed, Next: late.Next, HasNext: late.HasNext,
	}
	if o.Misfire.Policy == job.MisfireCoalesce && len(a.CatchUp) > 0 {
		a.Coalesces = true
		a.Covers = Range{First: o.Cursor.UTC(), Last: a.CatchUp[0], Count: late.Coalesced.Count}
	}
	return a, nil
}

// checkListable counts before anything is listed.
func checkListable(p *Plan, o Outage) error {
	from, to := o.Cursor.Unix(), o.UpAt.Unix()
	lateUpto := min(agedUpto(o.UpAt, o.Misfire.Tolerance), to)
	onTime := p.count(max(from, lateUpto), to)
	fires := int64(0)
	if o.Misfire.Policy == job.MisfireFireAll {
		if o.Misfire.Window > 0 {
			from = max(from, ceil(o.UpAt.Add(-o.Misfire.Window.Std()))-1)
		}
		fires = p.count(from, lateUpto)
		if most := int64(o.Misfire.Max); most > 0 {
			fires = min(fires, most)
		}
	}
	if fires > mostListed || onTime > mostListed {
		return withCode(job.CodeTooLarge, withFix(
			refuse("policy", "", "100000 times", "%d times would be caught up and %d would be on time", fires, onTime), "give a max, a window or a shorter outage"))
	}
	return nil
}
