package schedule

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Range is a run of scheduled times without listing them. The zero Range holds
// none.
type Range struct {
	First, Last time.Time
	Count       int
}

// Late is what is to become of the times that came due since the cursor.
type Late struct {
	// Fire lists the misfired times that the policy still runs, oldest first.
	Fire []time.Time
	// Missed holds every time that is late by more than the tolerance, whether
	// it is in Fire or not.
	Missed Range
	// OnTime lists the times due by now that are not late, oldest first.
	OnTime []time.Time
	// Next is the first time after now and after the cursor, if HasNext.
	Next    time.Time
	HasNext bool
	// Coalesced holds, under COALESCE, the missed times that the one time in
	// Fire stands for. The data interval of that execution may begin earlier:
	// where the last one that succeeded ended.
	Coalesced Range
}

// PlanLate decides what to do with the times after cursor, the last time that
// was handled, and not after now. A time is late when more than m.Tolerance has
// passed since; one exactly as old as the tolerance is on time.
//
// m.Window bounds the age at which a late time may still run: one exactly as
// old as the window may. m.Max keeps the latest of those. Zero means no bound
// for either, and an empty policy means FIRE_ONCE. m.Rate is not used here: it
// says how fast Fire is drained.
//
// Missed is counted without visiting each time of an interval or of a day, so
// a job of every second may have been down for a year; under FIRE_ALL memory
// is bounded by m.Max when it is set.
func PlanLate(p *Plan, cursor, now time.Time, m job.Misfire) Late {
	var late Late
	from, to := cursor.Unix(), now.Unix()
	lateUpto := min(agedUpto(now, m.Tolerance), to)
	late.Missed = p.rangeOf(from, lateUpto)
	late.OnTime = p.Between(instant(max(from, lateUpto)), now, 0)
	late.Next, late.HasNext = p.Next(instant(max(from, to)))
	if m.Policy == "" {
		m.Policy = job.MisfireFireOnce
	}
	if late.Missed.Count == 0 {
		return late
	}
	if m.Window > 0 {
		oldest := now.Add(-m.Window.Std())
		from = max(from, ceil(oldest)-1)
	}
	switch m.Policy {
	case job.MisfireFireAll:
		late.Fire = p.fireAll(from, lateUpto, m.Max)
	case job.MisfireCoalesce:
		late.Coalesced = p.rangeOf(from, lateUpto)
		if late.Coalesced.Count > 0 {
			late.Fire = []time.Time{late.Coalesced.Last}
		}
	case job.MisfireFireOnce:
		late.Fire = p.fireAll(from, lateUpto, 1)
	case job.MisfireSkip:
	}
	return late
}

// agedUpto returns the last whole second that is late at now: older than the
// tolerance, not as old.
func agedUpto(now time.Time, tolerance job.Duration) int64 {
	return ceil(now.Add(-tolerance.Std())) - 1
}

func (p *Plan) fireAll(after, upto int64, most int) []time.Time {
	if most <= 0 {
		return p.Between(instant(after), instant(upto), 0)
	}
	var list []time.Time
	for _, at := range p.latest(after, upto, most) {
		list = append(list, instant(at))
	}
	return list
}

// rangeOf measures the times after the first and not after the second instant.
func (p *Plan) rangeOf(after, upto int64) Range {
	n := p.count(after, upto)
	first, ok := p.next(after)
	if n == 0 || !ok {
		return Range{}
	}
	last := p.latest(after, upto, 1)
	return Range{First: instant(first), Last: instant(last[len(last)-1]), Count: int(n)}
}
