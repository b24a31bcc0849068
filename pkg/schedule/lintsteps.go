package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// everyMinute: a star left of hours, or of minutes, that are chosen one by one.
func (l *linter) everyMinute() {
	f := l.fields
	if f.minutes == allMinutes && f.hours.apart(24) {
		fix := fmt.Sprintf("write 0 for the minute if %02d:00 is meant", f.hours.lowest())
		if f.hours.count() > 1 {
			fix = "write 0 for the minute if the full hour is meant"
		}
		if f.seconds == allMinutes {
			fix = strings.Replace(fix, "the minute", "second and minute", 1)
		}
		l.warn(WarnEveryMinute, "minute", fmt.Sprintf("it fires in every minute of hour %s, %d times a day", named(f.hours.values(), strconv.Itoa), f.perDay()), fix)
		return
	}
	if f.seconds == allMinutes && f.minutes.apart(60) {
		l.warn(WarnEveryMinute, "second", "it fires in every second of minute "+named(f.minutes.values(), strconv.Itoa), "write 0 for the second if once is meant")
	}
}

// apart tells whether no two values of a field of the given size, from 0, stand
// side by side.
func (s set) apart(size int) bool {
	for _, v := range s.values() {
		if s.count() > 1 && s.has((v+1)%size) {
			return false
		}
	}
	return true
}

// round is a field as something that a step goes round.
type round struct {
	values set
	size   int    // 0 for days of a month, of which there are now more and now fewer
	cycle  string // what begins again with the field
}

func (l *linter) rounds() map[string]round {
	f := l.fields
	return map[string]round{
		"second": {f.seconds, 60, "minute"}, "minute": {f.minutes, 60, "hour"}, "hour": {f.hours, 24, "day"},
		"day-of-month": {f.days.each, 0, "month"}, "month": {f.months, 12, "year"}, "day-of-week": {f.weekdays.each, 7, "week"},
	}
}

// unevenSteps: a step counts within its field, and starts again with it. What
// matters is which values come of it, not how the step is written.
func (l *linter) unevenSteps() {
	rounds := l.rounds()
	for _, w := range l.words {
		r, known := rounds[w.field]
		base, text, stepped := strings.Cut(w.text, "/")
		if step, err := strconv.Atoi(text); !known || !stepped || err != nil || step == 1 || !runsToTheEnd(base) {
			continue
		}
		switch {
		case r.values.count() == 1:
			l.warn(WarnUnevenStep, w.field, fmt.Sprintf("%s is one value, %d: the next step lies beyond the end of the field", w.text, r.values.lowest()),
				"write the value alone, or use the schedule key every for a longer interval")
		case !r.even():
			l.warn(WarnUnevenStep, w.field, fmt.Sprintf("%s starts again with each %s, so that its last interval has another length", w.text, r.cycle),
				"use the schedule key every for an even interval, or a step that divides the field")
		}
	}
}

// runsToTheEnd tells whether what stands before a step goes on to the end of its
// field: a star, a value, or a range of the whole field. Any other range says
// itself where it ends.
func runsToTheEnd(base string) bool {
	switch strings.ToLower(base) {
	case "0-59", "0-23", "1-31", "1-12", "jan-dec", "0-6", "0-7", "1-7", "sun-sat":
		return true
	}
	return !strings.ContainsAny(base, "-,")
}

// even tells whether the distance from each value to the next is the same, also
// from the last to the first of the next round.
func (r round) even() bool {
	values := r.values.values()
	if r.size == 0 || r.size%len(values) != 0 {
		return false
	}
	for i, v := range values {
		if (values[(i+1)%len(values)]-v+r.size)%r.size != r.size/len(values) {
			return false
		}
	}
	return true
}
