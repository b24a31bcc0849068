package schedule

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Describe says in plain English when the schedule fires.
func (p *Plan) Describe() string {
	var text string
	switch s := p.schedule; {
	case s.Cron != "":
		text = p.fields.describe() + ", " + p.zone.name + p.describeClocks()
	case s.Every != 0:
		text = "every " + s.Every.String() + ", counted from " + clockText(p.times.(interval).anchor, time.RFC3339)
	default:
		text = "once, at " + s.At.UTC().Format(time.RFC3339)
	}
	if !p.schedule.Start.IsZero() {
		text += ", not before " + instant(p.first).Format(time.RFC3339)
	}
	if !p.schedule.End.IsZero() {
		text += ", not after " + instant(p.last).Format(time.RFC3339)
	}
	return text
}

// describeClocks says what changes of clocks do, in zones that know any.
func (p *Plan) describeClocks() string {
	if len(p.zone.periods) < 2 {
		return ""
	}
	gap := "is left out"
	if p.schedule.Gap == job.GapShiftForward {
		gap = "fires right after the jump"
	}
	overlap := map[job.OverlapPolicy]string{
		job.OverlapFirst:  "fires the first time",
		job.OverlapSecond: "fires the second time",
		job.OverlapBoth:   "fires both times",
	}[p.schedule.Overlap]
	return "; what the clocks jump over " + gap + ", what they show twice " + overlap
}

func (f fields) describe() string {
	text := f.describeClock() + f.describeDay()
	if f.months != allMonths {
		text += " in " + named(f.months, func(m int) string { return time.Month(m).String() })
	}
	return text
}

// describeClock names the times of day: one by one while they are few.
func (f fields) describeClock() string {
	const few = 6
	switch {
	case f.minutes == allMinutes && f.everyHour():
		return "every minute"
	case f.minutes.count()*f.hours.count() <= few:
		var times []string
		for _, hour := range f.hours.values() {
			for _, minute := range f.minutes.values() {
				times = append(times, fmt.Sprintf("%02d:%02d", hour, minute))
			}
		}
		return "at " + joined(times)
	}
	text := "at minute " + named(f.minutes, strconv.Itoa)
	n := f.minutes.count()
	if step := 60 / n; n > 1 && 60%n == 0 && f.minutes == span(0, 59, step) {
		text = "every " + strconv.Itoa(step) + " minutes"
		if step == 1 {
			text = "every minute"
		}
		if f.everyHour() {
			return text
		}
	}
	if f.everyHour() {
		return "at minute " + named(f.minutes, strconv.Itoa) + " of every hour"
	}
	return text + " of hour " + named(f.hours, strconv.Itoa)
}

func (f fields) describeDay() string {
	switch {
	case f.days.any && f.weekdays.any:
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
		parts = append(parts, "day "+named(d.each, strconv.Itoa))
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
	return joined(parts) + " of the month"
}

func (w weekdays) describe() string {
	weekday := func(d int) string { return time.Weekday(d).String() }
	var parts []string
	if w.each != 0 {
		parts = append(parts, named(w.each, weekday))
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

// named lists the values of s by name, runs of three and more as "a to b".
func named(s set, name func(int) string) string {
	var parts []string
	for values := s.values(); len(values) > 0; {
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
