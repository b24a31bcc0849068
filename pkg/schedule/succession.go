package schedule

import (
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Course is schedules that follow one another: each has the times after the moment
// at which the one before it ends. The empty Course has no times.
type Course []Leg

// Leg is one schedule of a Course.
type Leg struct {
	Plan *Plan
	Upto time.Time // moment up to and at which it holds; zero = for good
}

// Upto is the plan without its times after at.
func (p *Plan) Upto(at time.Time) *Plan {
	bounded := *p
	bounded.last = min(bounded.last, at.Unix())
	return &bounded
}

func (l Leg) plan() *Plan {
	if l.Upto.IsZero() {
		return l.Plan
	}
	return l.Plan.Upto(l.Upto)
}

// Next returns the first time strictly after the given instant; false when
// no schedule has one.
func (c Course) Next(after time.Time) (time.Time, bool) {
	for _, leg := range c {
		if at, ok := leg.plan().Next(after); ok {
			return at, true
		}
		if leg.Upto.After(after) {
			after = leg.Upto
		}
	}
	return time.Time{}, false
}

// Between lists the times after from and not after to, in order, at most limit
// of them; a limit of zero or less means no limit.
func (c Course) Between(from, to time.Time, limit int) []time.Time {
	var list []time.Time
	for at, ok := c.Next(from); ok && !at.After(to); at, ok = c.Next(at) {
		list = append(list, at)
		if len(list) == limit {
			break
		}
	}
	return list
}

// Preview lists up to count times after the given instant as Plan.Preview does.
func (c Course) Preview(after time.Time, count int, ref job.Ref) []Fire {
	var list []Fire
	for _, leg := range c {
		list = append(list, leg.plan().Preview(after, count-len(list), ref)...)
		if leg.Upto.After(after) {
			after = leg.Upto
		}
	}
	return list
}

// DescribeAt says in words what holds at a moment and what follows it when.
func (c Course) DescribeAt(now time.Time) string {
	var parts []string
	from := ""
	for _, leg := range c {
		if leg.Upto.IsZero() || leg.Upto.After(now) {
			parts = append(parts, from+leg.Plan.DescribeAt(now))
			from = "after " + leg.Upto.UTC().Format(time.RFC3339) + ": "
		}
	}
	return strings.Join(parts, "; ")
}
