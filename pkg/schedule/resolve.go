package schedule

import "github.com/belfry-scheduler/belfry/pkg/job"

// civil maps the wall-clock seconds of a cron expression to instants.
//
// It walks instants, not wall-clock times: period by period of constant
// offset, in which the two run in step. That keeps the answers strictly
// increasing whatever a zone did, and needs no assumption about how much, how
// often or why clocks changed.
type civil struct {
	wall    *wall
	zone    *zone
	gap     job.GapPolicy
	overlap job.OverlapPolicy
}

// next returns the first instant after the given one at which the expression
// is due.
func (c *civil) next(after int64) (int64, bool) {
	after = max(after, periodsFrom)
	periods := c.zone.periods
	for i := c.zone.periodAt(after + 1); i < len(periods); {
		p := periods[i]
		if p.start > after && c.gap == job.GapShiftForward && c.shiftsTo(i) {
			return p.start, true
		}
		seen := max(after, p.start-1)
		wall, more := c.wall.next(seen + p.offset)
		for ; more && wall-p.offset < p.end; wall, more = c.wall.next(wall) {
			if seen = wall - p.offset; c.takes(wall, i) {
				return seen, true
			}
		}
		i = c.skip(i, seen, wall, more)
	}
	return 0, false
}

// skip returns the next period worth looking at, when seen is the last instant
// of period i that was looked at and wall is the next matching wall-clock time
// after it. Periods that begin near seen are always looked at, since they may
// show again the wall-clock times up to it.
func (c *civil) skip(i int, seen, wall int64, more bool) int {
	next := i + 1
	if next == len(c.zone.periods) || c.zone.periods[next].start < seen+reach {
		return next
	}
	if !more {
		return len(c.zone.periods)
	}
	return max(next, c.zone.periodAt(wall-reach))
}

// takes tells whether the occurrence of wall in period i is one that the
// overlap policy fires at.
func (c *civil) takes(wall int64, i int) bool {
	p, at := c.zone.periods[i], wall-c.zone.periods[i].offset
	if c.overlap == job.OverlapBoth || at >= p.start+reach && at < p.end-reach {
		return true
	}
	found := c.zone.occurrences(wall)
	if c.overlap == job.OverlapSecond && len(found) > 1 {
		return found[1] == i
	}
	return found[0] == i
}

// shiftsTo tells whether period i begins with a gap that swallows a matching
// wall-clock time which then fires as the period begins.
func (c *civil) shiftsTo(i int) bool {
	low, high := c.zone.jump(i)
	for wall, ok := c.wall.next(low - 1); ok && wall < high; wall, ok = c.wall.next(wall) {
		if c.zone.swallowedBy(wall) == i {
			return true
		}
	}
	return false
}

// dueFor returns the wall-clock time that fires at an instant: the one that the
// clock shows, or else the first of those that the gap before it swallowed.
func (c *civil) dueFor(at int64) int64 {
	i := c.zone.periodAt(at)
	shown := at + c.zone.periods[i].offset
	if named, ok := c.wall.next(shown - 1); ok && named == shown {
		return shown
	}
	low, high := c.zone.jump(i)
	for wall, ok := c.wall.next(low - 1); ok && wall < high; wall, ok = c.wall.next(wall) {
		if c.zone.swallowedBy(wall) == i {
			return wall
		}
	}
	return shown
}

// instantOf returns when a wall-clock time fires under the policies, the first
// time for one that fires twice; false when the gap policy leaves it out.
func (z *zone) instantOf(wall int64, gap job.GapPolicy, overlap job.OverlapPolicy) (int64, bool) {
	found := z.occurrences(wall)
	if len(found) == 0 {
		i := z.swallowedBy(wall)
		if i < 0 || gap == job.GapSkip {
			return 0, false
		}
		return z.periods[i].start, true
	}
	i := found[0]
	if overlap == job.OverlapSecond && len(found) > 1 {
		i = found[1]
	}
	return wall - z.periods[i].offset, true
}

// occurrences lists the periods in which the clock shows wall, in order: none
// for a time in a gap, two for a repeated one.
func (z *zone) occurrences(wall int64) []int {
	var found []int
	for i := z.periodAt(wall - reach); i < len(z.periods) && z.periods[i].start <= wall+reach; i++ {
		at := wall - z.periods[i].offset
		if at >= z.periods[i].start && at < z.periods[i].end {
			found = append(found, i)
		}
	}
	return found
}

// swallowedBy returns the first period whose gap holds wall, -1 when a clock
// shows wall at some instant.
func (z *zone) swallowedBy(wall int64) int {
	if len(z.occurrences(wall)) > 0 {
		return -1
	}
	for i := z.periodAt(wall - reach); i < len(z.periods) && z.periods[i].start <= wall+reach; i++ {
		if low, high := z.jump(i); wall >= low && wall < high {
			return i
		}
	}
	return -1
}
