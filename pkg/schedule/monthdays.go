package schedule

import "time"

// beyondEngine tells whether a day field says what the field engine cannot:
// days counted back from the month's last. Such expressions reach the engine
// with open day fields, and the days are chosen here.
func (f fields) beyondEngine() bool {
	return !f.days.any && f.days.fromLast|f.days.nearLast != 0
}

// openDays is f without its day fields.
func (f fields) openDays() fields {
	f.days, f.weekdays = days{any: true}, weekdays{any: true}
	return f
}

// daysOf lists the days of a month on which f is due, the month and the year
// themselves apart.
func (f fields) daysOf(year int, month time.Month) set {
	first := int(time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Weekday())
	m := calendarMonth{first: first, length: time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()}
	switch {
	case f.days.any && f.weekdays.any:
		return span(1, m.length, 1)
	case f.days.any:
		return m.byWeekday(f.weekdays)
	case f.weekdays.any:
		return m.byDay(f.days)
	}
	return m.byDay(f.days) | m.byWeekday(f.weekdays)
}

// calendarMonth is the shape of a month: the weekday of its first day, 0 =
// Sunday, and its number of days.
type calendarMonth struct{ first, length int }

func (m calendarMonth) weekday(day int) int { return (m.first + day - 1) % 7 }

// nearest is the day from Monday to Friday that is nearest to day, without
// leaving the month.
func (m calendarMonth) nearest(day int) int {
	switch weekday := m.weekday(day); {
	case weekday == int(time.Saturday) && day == 1:
		return 3
	case weekday == int(time.Saturday):
		return day - 1
	case weekday == int(time.Sunday) && day == m.length:
		return day - 2
	case weekday == int(time.Sunday):
		return day + 1
	}
	return day
}

func (m calendarMonth) byDay(d days) set {
	within := span(1, m.length, 1)
	due := d.each & within
	for _, day := range (d.nearest & within).values() {
		due = due.with(m.nearest(day))
	}
	if d.last {
		due = due.with(m.length)
	}
	if d.lastMF {
		due = due.with(m.nearest(m.length))
	}
	for _, back := range d.fromLast.below(m.length).values() {
		due = due.with(m.length - back)
	}
	for _, back := range d.nearLast.below(m.length).values() {
		due = due.with(m.nearest(m.length - back))
	}
	return due
}

func (m calendarMonth) byWeekday(w weekdays) set {
	var due set
	for day := 1; day <= m.length; day++ {
		weekday := m.weekday(day)
		if w.each.has(weekday) || w.last.has(weekday) && day+7 > m.length || w.nth.has((day-1)/7*7+weekday) {
			due = due.with(day)
		}
	}
	return due
}
