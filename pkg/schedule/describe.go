package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Describe says in plain English when the schedule fires, and what changes of
// clocks do to it as a rule.
func (p *Plan) Describe() string {
	return p.describe() + p.describeClocks() + p.describeRules() + p.describeBounds()
}

// DescribeAt is Describe with the effects of the next changes of clocks, by
// date, in place of the rule: those within about a year of the given instant.
func (p *Plan) DescribeAt(now time.Time) string {
	return p.describe() + p.describeEffects(now.Unix()) + p.describeRules() + p.describeBounds()
}

func (p *Plan) describe() string {
	switch s := p.schedule; {
	case s.Cron != "":
		return p.fields.describe() + ", " + p.zone.place()
	case s.Every != 0:
		return "every " + s.Every.String() + ", counted from " + clockText(p.due().(interval).anchor, time.RFC3339)
	default:
		return "once, at " + s.At.UTC().Format(time.RFC3339)
	}
}

func (p *Plan) describeBounds() string {
	text := ""
	if p.schedule.Jitter != 0 {
		text += ", each spread by a slot within " + p.schedule.Jitter.String()
	}
	if !p.schedule.Start.IsZero() {
		text += ", not before " + instant(p.first).Format(time.RFC3339)
	}
	if !p.schedule.End.IsZero() {
		text += ", not after " + instant(p.last).Format(time.RFC3339)
	}
	return text
}

// place names a zone as people do: New York time.
func (z *zone) place() string {
	area, place, found := strings.Cut(z.name, "/")
	if !found || area == "Etc" {
		return z.name
	}
	return strings.ReplaceAll(place[strings.LastIndexByte(place, '/')+1:], "_", " ") + " time"
}

// describeClocks says what changes of clocks do, in zones that know any.
func (p *Plan) describeClocks() string {
	if len(p.zone.periods) < 2 || p.schedule.Cron == "" {
		return ""
	}
	gap := "is left out"
	if p.schedule.Gap == job.GapShiftForward {
		gap = "fires right after the jump"
	}
	return "; what the clocks jump over " + gap + ", what they show twice fires " + overlapWords[p.schedule.Overlap]
}

var overlapWords = map[job.OverlapPolicy]string{
	job.OverlapFirst: "the first time", job.OverlapSecond: "the second time", job.OverlapBoth: "both times",
}

func (f fields) describe() string {
	text := f.describeClock() + f.describeDay()
	if f.months != allMonths {
		text += " in " + named(f.months.values(), monthName)
	}
	if f.years != allYears {
		text += " in " + namedYears(f.years.values())
	}
	return text
}

// namedYears lists years; many that are evenly spaced are told by the first two
// and the last.
func namedYears(list []int) string {
	if len(list) <= few {
		return named(list, strconv.Itoa)
	}
	step := list[1] - list[0]
	for i := 2; i < len(list); i++ {
		if step == 1 || list[i]-list[i-1] != step {
			return named(list, strconv.Itoa)
		}
	}
	return fmt.Sprintf("%d, %d and so on every %d years up to %d", list[0], list[1], step, list[len(list)-1])
}

func monthName(m int) string { return time.Month(m).String() }

// few is how many times of day are named one by one.
const few = 6

// describeClock says at which times of a day.
func (f fields) describeClock() string {
	switch {
	case f.seconds != onTheFull:
		return f.describeSeconds()
	case f.minutes == allMinutes && f.everyHour():
		return "every minute"
	case f.minutes.count()*f.hours.count() <= few:
		return "at " + joined(f.clockTimes("15:04"))
	}
	text, even := f.minutes.rhythm("minute", 60)
	switch {
	case even && f.everyHour():
		return text
	case even:
		return text + " of hour " + named(f.hours.values(), strconv.Itoa)
	case f.everyHour():
		return text + " of every hour"
	}
	return text + " of hour " + named(f.hours.values(), strconv.Itoa)
}

func (f fields) describeSeconds() string {
	if f.seconds.count()*f.minutes.count()*f.hours.count() <= few {
		return "at " + joined(f.clockTimes("15:04:05"))
	}
	text, even := f.seconds.rhythm("second", 60)
	switch {
	case f.minutes != allMinutes:
		text += " of minute " + named(f.minutes.values(), strconv.Itoa)
	case !even:
		text += " of every minute"
	}
	switch {
	case !f.everyHour():
		text += " of hour " + named(f.hours.values(), strconv.Itoa)
	case f.minutes != allMinutes:
		text += " of every hour"
	}
	return text
}

// clockTimes lists all times of a day.
func (f fields) clockTimes(layout string) []string {
	var times []string
	for _, hour := range f.hours.values() {
		for _, minute := range f.minutes.values() {
			for _, second := range f.seconds.values() {
				times = append(times, clockText(int64(hour*3600+minute*60+second), layout))
			}
		}
	}
	return times
}

// rhythm says "every n units" of a set that goes round its field evenly from 0,
// and names the values of any other.
func (s set) rhythm(unit string, size int) (text string, even bool) {
	n := s.count()
	if step := size / n; size%n == 0 && n > 1 && s == span(0, size-1, step) {
		if step == 1 {
			return "every " + unit, true
		}
		return "every " + strconv.Itoa(step) + " " + unit + "s", true
	}
	return "at " + unit + " " + named(s.values(), strconv.Itoa), false
}

// everyDay tells whether each day matches: both day fields are open, or one of
// them names all of its days.
func (f fields) everyDay() bool {
	return f.days.any && f.weekdays.any || !f.days.any && f.days.each == allDays || !f.weekdays.any && f.weekdays.each == allWeekdays
}

func (f fields) describeDay() string {
	switch {
	case f.everyDay():
		return ", every day"
	case f.weekdays.any:
		return " on " + f.days.describe()
	case f.days.any:
		return " on " + f.weekdays.describe()
	}
	return " on " + f.days.describe() + " or on " + f.weekdays.describe()
}

func (d days) describe() string {
	var parts []string
	if d.each != 0 {
		parts = append(parts, "day "+named(d.each.values(), strconv.Itoa))
	}
	for _, n := range d.nearest.values() {
		parts = append(parts, "the weekday nearest day "+strconv.Itoa(n))
	}
	if d.last {
		parts = append(parts, "the last day")
	}
	if d.lastMF {
		parts = append(parts, "the last weekday (Monday to Friday)")
	}
	for _, back := range d.fromLast.values() {
		parts = append(parts, lastBut(back))
	}
	for _, back := range d.nearLast.values() {
		parts = append(parts, "the weekday nearest to "+lastBut(back))
	}
	return joined(parts) + " of the month"
}

func lastBut(days int) string {
	if days == 1 {
		return "the last day but one"
	}
	return "the day " + strconv.Itoa(days) + " days before the last"
}

var (
	workdays    = span(1, 5, 1)
	weekend     = set(0).with(0).with(6)
	allDays     = span(1, 31, 1)
	allWeekdays = span(0, 6, 1)
)

func (w weekdays) describe() string {
	weekday := func(d int) string { return time.Weekday(d).String() }
	var parts []string
	switch w.each {
	case 0:
	case workdays:
		parts = append(parts, "weekdays")
	case weekend:
		parts = append(parts, "Saturday and Sunday")
	default:
		parts = append(parts, named(w.each.values(), weekday))
	}
	for _, d := range w.last.values() {
		parts = append(parts, "the last "+weekday(d)+" of the month")
	}
	for _, bit := range w.nth.values() {
		parts = append(parts, "the "+ordinals[bit/7]+" "+weekday(bit%7)+" of the month")
	}
	return joined(parts)
}

var ordinals = []string{"first", "second", "third", "fourth", "fifth"}

// named lists ascending values by name, runs of three and more as "a to b".
func named(values []int, name func(int) string) string {
	var parts []string
	for len(values) > 0 {
		run := 1
		for run < len(values) && values[run] == values[0]+run {
			run++
		}
		if run < 3 {
			run = 1
			parts = append(parts, name(values[0]))
		} else {
			parts = append(parts, name(values[0])+" to "+name(values[run-1]))
		}
		values = values[run:]
	}
	return joined(parts)
}

// joined writes a list as "a, b and c".
func joined(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}
