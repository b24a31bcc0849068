package schedule

import "github.com/belfry-scheduler/belfry/pkg/job"

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
