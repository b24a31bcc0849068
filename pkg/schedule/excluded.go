package schedule

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// OnExcluded is job's.
type OnExcluded = job.OnExcluded

// The policies for excluded times.
const (
	ExcludedSkip     = job.ExcludedSkip
	ExcludedNext     = job.ExcludedNext
	ExcludedPrevious = job.ExcludedPrevious
)

// Rules are the calendars that a schedule keeps to. A time is excluded when an
// Exclude calendar holds it, or when there are Include calendars and none holds
// it.
type Rules struct {
	Include, Exclude []*Hours
	OnExcluded       OnExcluded
}

// mostMoved bounds how many days a time may be moved.
const mostMoved = 31

// mostTried bounds how many excluded times in a row are tried before there is
// taken to be none: more than two years of 24 a day.
const mostTried = 20_000

// mostDaily bounds how often a day a schedule whose times are moved may fire.
const mostDaily = 24

// Under returns the plan of a cron or at schedule, or, with SKIP alone, of an
// interval, under the given rules. Calendars decide by the instant that would
// fire; bounds of the schedule hold for the times after moving.
func (p *Plan) Under(r Rules) (*Plan, error) {
	switch r.OnExcluded {
	case "":
		r.OnExcluded = ExcludedSkip
	case ExcludedSkip:
	case ExcludedNext, ExcludedPrevious:
		if p.schedule.Every != 0 || p.fields.perDay() > mostDaily {
			return nil, withFix(refuse("on_excluded", string(r.OnExcluded), "at most 24 times a day, and no interval", "%s cannot be moved by days", quote(p.source())),
				"use SKIP, or fewer times of day")
		}
	default:
		return nil, refusePolicy("on_excluded", string(r.OnExcluded), "SKIP, NEXT_BUSINESS_DAY or PREVIOUS_BUSINESS_DAY")
	}
	under := *p
	kept := &kept{times: p.times, zone: p.zone, rules: r}
	under.times = kept
	if r.OnExcluded != ExcludedSkip {
		under.times = &moved{kept: kept}
	}
	return &under, nil
}

// perDay is how many times of a day f names.
func (f fields) perDay() int { return f.seconds.count() * f.minutes.count() * f.hours.count() }

// kept are the times that the calendars do not exclude.
type kept struct {
	times times
	zone  *zone
	rules Rules
}

// excluded tells whether an instant is excluded, and until when, exclusively,
// the answer is the same at least.
func (k *kept) excluded(at int64) (bool, int64) {
	out, until := false, int64(horizon+1)
	for _, h := range k.rules.Exclude {
		held, same := h.at(at)
		out, until = out || held, min(until, same)
	}
	within := len(k.rules.Include) == 0
	for _, h := range k.rules.Include {
		held, same := h.at(at)
		within, until = within || held, min(until, same)
	}
	return out || !within, until
}

func (k *kept) next(after int64) (int64, bool) {
	at, ok := k.times.next(after)
	for ok && at <= horizon {
		out, until := k.excluded(at)
		if !out {
			return at, true
		}
		at, ok = k.times.next(until - 1)
	}
	return 0, false
}

func (k *kept) count(after, upto int64) int64 {
	var n int64
	upto = min(upto, horizon)
	for after = max(after, periodsFrom); after < upto; {
		out, until := k.excluded(after + 1)
		end := min(until-1, upto)
		if !out {
			n += k.times.count(after, end)
		}
		after = end
	}
	return n
}

// moved are the times with those that are excluded moved to business days.
type moved struct{ kept *kept }

func (m *moved) next(after int64) (int64, bool) {
	// A time that is moved lies up to mostMoved days, and a change of clocks,
	// from where it is due.
	const reachable = mostMoved*daySeconds + reach
	best, found := int64(0), false
	tries := mostTried
	for at, ok := m.kept.times.next(after - reachable); ok && tries > 0 && (!found || at <= best+reachable); at, ok = m.kept.times.next(at) {
		tries--
		to, kept := m.move(at)
		if kept && to > after && (!found || to < best) {
			best, found = to, true
		}
	}
	return best, found
}

func (m *moved) count(after, upto int64) int64 {
	var n int64
	for at, ok := m.next(after); ok && at <= upto; at, ok = m.next(at) {
		n++
	}
	return n
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
