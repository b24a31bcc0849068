package schedule

import (
	"slices"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// mostMoved bounds how many days a time may be moved.
const mostMoved = 31

// mostTried bounds how many excluded times in a row are tried, among days that
// the calendars leave, before there is taken to be none: one a day up to the end
// of 2099, or three years of 24.
const mostTried = 30_000

// stretch is how much is looked at in one go, in seconds.
const stretch = 64 * daySeconds

// moved are the times with those that are excluded moved to business days.
type moved struct{ kept *kept }

// around says how far before, and how far after, what it becomes a time may be
// due: the days that it is moved by, and a change of clocks.
func (m *moved) around() (before, after int64) {
	const days = mostMoved * daySeconds
	if m.kept.rules.OnExcluded == ExcludedPrevious {
		return reach, days + reach
	}
	return days + reach, reach
}

func (m *moved) next(after int64) (int64, bool) {
	before, behind := m.around()
	best, found := int64(0), false
	var shut closed
	tries := mostTried
	for at, ok := m.kept.times.next(after - before); ok && tries > 0 && (!found || at <= best+behind); {
		to, fires := m.move(at)
		switch {
		case !fires:
			tries--
			at = shut.skip(m, at)
		case to > after && (!found || to < best):
			best, found = to, true
		}
		at, ok = m.kept.times.next(at)
	}
	return best, found
}

// closed is a stretch of time that the calendars exclude as a whole.
type closed struct{ from, until int64 }

// skip returns from where on to look for times that can be moved, when the one at
// the given instant cannot: what has nothing but closed time within reach is
// passed over at once, were it years.
func (c *closed) skip(m *moved, at int64) int64 {
	if at >= c.until {
		c.from, c.until = at, m.kept.opens(at)
	}
	before, after := m.around()
	if at-c.from <= before+after {
		return at
	}
	return max(at, c.until-before-1)
}

// opens is the first instant from the given one on that is not excluded.
func (k *kept) opens(at int64) int64 {
	for at <= horizon {
		out, until := k.excluded(at)
		if !out {
			break
		}
		at = until
	}
	return at
}

func (m *moved) count(after, upto int64) int64 {
	var n int64
	for upto = min(upto, horizon); after < upto; after += stretch {
		n += int64(len(m.between(after, min(after+stretch, upto))))
	}
	return n
}

// between lists, in order, the times after the first and not after the second
// instant. Each time that is due is looked at once, where asking next for one
// after the other looks at those of two months again and again.
func (m *moved) between(after, upto int64) []int64 {
	before, behind := m.around()
	var list []int64
	for at, ok := m.kept.times.next(after - before); ok && at <= upto+behind; at, ok = m.kept.times.next(at) {
		if to, fires := m.move(at); fires && to > after && to <= upto {
			list = append(list, to)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// move returns where a time fires: where it is due, or, at the same time of day,
// on a business day; false when there is none near enough. The time of day is the
// one that the schedule names, also where a change of clocks shifted it, and what
// changes of clocks do to it on the day that it moves to is up to the schedule's
// policies: a time that is due on that day anyway is met.
func (m *moved) move(at int64) (int64, bool) {
	if out, _ := m.kept.excluded(at); !out {
		return at, true
	}
	step := int64(daySeconds)
	if m.kept.rules.OnExcluded == ExcludedPrevious {
		step = -step
	}
	wall := m.dueFor(at)
	for range mostMoved {
		wall += step
		if weekday := time.Weekday(weekdayOf(floorDay(wall))); weekday == time.Saturday || weekday == time.Sunday {
			continue
		}
		to, fires := m.instantOf(wall)
		if !fires {
			continue
		}
		if out, _ := m.kept.excluded(to); !out {
			return to, true
		}
	}
	return 0, false
}

// dueFor is the wall-clock time that fires at an instant.
func (m *moved) dueFor(at int64) int64 {
	if c, isCron := m.kept.times.(*civil); isCron {
		return c.dueFor(at)
	}
	return m.kept.wallAt(at)
}

// instantOf is when a wall-clock time fires. A schedule of one time has no
// policies: it comes once, late rather than never.
func (m *moved) instantOf(wall int64) (int64, bool) {
	if c, isCron := m.kept.times.(*civil); isCron {
		return c.zone.instantOf(wall, c.gap, c.overlap)
	}
	return m.kept.zone.instantOf(wall, job.GapShiftForward, job.OverlapFirst)
}
