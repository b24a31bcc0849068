package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Fire is one coming time as a person should see it.
type Fire struct {
	At     time.Time // the instant, in UTC
	Local  string    // what the zone's clock shows then, such as "2026-03-29 03:00:00"
	Offset string    // how far that clock runs ahead of UTC, such as "+02:00"
	Mark   string    // each effect of changes of clocks, calendars and jitter in words, "" for none
	Start  time.Time // when it may start: At, later by the job's jitter slot
}

// Preview lists up to count times after the given instant, fewer when the
// schedule ends. Mark says which of them were shifted out of a gap or are one
// of two of a repeated time, and which times were left out before them.
//
// A schedule with jitter starts each time later by the slot of the job that ref
// names; without a job (the zero Ref) the mark tells the whole width.
func (p *Plan) Preview(after time.Time, count int, ref job.Ref) []Fire {
	var list []Fire
	jitter, slot := p.schedule.Jitter, time.Duration(0)
	if ref.Job != "" {
		slot = Slot(jitter, ref)
	}
	previous := after.Unix()
	for len(list) < count {
		at, ok := p.next(previous)
		if !ok {
			break
		}
		offset := p.zone.periods[p.zone.periodAt(at)].offset
		list = append(list, Fire{
			At:     instant(at),
			Local:  clockText(at+offset, "2006-01-02 15:04:05"),
			Offset: offsetText(offset),
			Mark:   joinMarks(p.mark(previous, at), markJitter(jitter, slot, ref)),
			Start:  instant(at).Add(slot),
		})
		previous = at
	}
	return list
}

// markJitter says how much later than its scheduled time an execution starts.
func markJitter(jitter job.Duration, slot time.Duration, ref job.Ref) string {
	switch {
	case jitter == 0:
		return ""
	case ref.Job == "":
		return "starts up to " + jitter.String() + " later, by the job's jitter slot"
	}
	return "starts " + job.Duration(slot).String() + " later, its jitter slot within " + jitter.String()
}

func joinMarks(marks ...string) string {
	return strings.Join(slices.DeleteFunc(marks, func(m string) bool { return m == "" }), "; ")
}

func (p *Plan) mark(previous, at int64) string {
	marks := p.markExcluded(previous, at)
	c, isCron := p.due().(*civil)
	if !isCron {
		return joinMost(marks)
	}
	for i := c.zone.periodAt(max(previous, p.first-1)) + 1; i < len(c.zone.periods) && c.zone.periods[i].start <= at; i++ {
		if text := c.markGap(i, at); text != "" {
			marks = append(marks, text)
		}
	}
	if text := c.markOverlap(at); text != "" {
		marks = append(marks, text)
	}
	return joinMost(marks)
}

// joinMost writes down the first marks of many: a time may stand for a month of
// moved ones.
func joinMost(marks []string) string {
	text := strings.Join(marks[:min(len(marks), mostMarks)], "; ")
	if more := len(marks) - mostMarks; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

const mostMarks = 5

// markGap says what became of the times that the gap before period i
// swallowed. Shifted ones are at, left out ones lie before it.
func (c *civil) markGap(i int, at int64) string {
	low, high := c.zone.jump(i)
	if low >= high {
		return ""
	}
	first, ok := c.wall.next(low - 1)
	if !ok || first >= high {
		return ""
	}
	which := clockText(first, "15:04") + " on " + clockText(first, "2006-01-02") + " does not exist"
	if n := c.wall.countTimes(low-1, high-1); n > 1 {
		which = fmt.Sprintf("%d times from %s on %s do not exist", n, clockText(first, "15:04"), clockText(first, "2006-01-02"))
	}
	which += jumpText(low, high)
	switch {
	case c.gap == job.GapSkip:
		return "before this, " + which + ": left out"
	case at != c.zone.periods[i].start:
		return ""
	}
	which += ": shifted to the first instant after the gap"
	if regular, ok := c.wall.next(high - 1); ok && regular == high {
		which += ", which is due anyway"
	}
	return which
}

// jumpText shows a change of clocks, with the dates if it changes those too.
func jumpText(from, to int64) string {
	direction := "forward"
	if to < from {
		direction = "back"
	}
	layout := "15:04"
	if floorDay(from) != floorDay(to) {
		layout = "2006-01-02 15:04"
	}
	return " (clocks go from " + clockText(from, layout) + " " + direction + " to " + clockText(to, layout) + ")"
}

// markOverlap says which occurrence of a repeated time at is.
func (c *civil) markOverlap(at int64) string {
	i := c.zone.periodAt(at)
	wall := at + c.zone.periods[i].offset
	found := c.zone.occurrences(wall)
	if len(found) < 2 {
		return ""
	}
	if matching, ok := c.wall.next(wall - 1); !ok || matching != wall {
		return "" // it was shifted here
	}
	text := "first of two times " + clockText(wall, "15:04")
	if found[0] != i {
		text = "second of two times " + clockText(wall, "15:04")
	}
	text += jumpText(c.zone.jump(found[1]))
	switch c.overlap {
	case job.OverlapFirst:
		return text + ", the second is left out"
	case job.OverlapSecond:
		return text + ", the first is left out"
	case job.OverlapBoth:
	}
	return text
}

func clockText(wall int64, layout string) string { return instant(wall).Format(layout) }

// offsetText writes an offset as ±hh:mm, with seconds when it has some.
func offsetText(offset int64) string {
	sign := "+"
	if offset < 0 {
		sign, offset = "-", -offset
	}
	text := fmt.Sprintf("%s%02d:%02d", sign, offset/3600, offset/60%60)
	if offset%60 != 0 {
		text += fmt.Sprintf(":%02d", offset%60)
	}
	return text
}
