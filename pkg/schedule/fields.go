package schedule

import "math/bits"

// fields is what the grammar of any dialect yields: the values at which each
// field of the wall clock matches. A time matches when all fields match; the
// two day fields are joined with OR when both are restricted.
type fields struct {
	seconds  set
	minutes  set
	hours    set
	days     days
	months   set // bit 1 = January
	weekdays weekdays
	years    years
}

// set holds small numbers, one bit each.
type set uint64

func (s set) has(v int) bool  { return s&(1<<uint(v)) != 0 }
func (s set) with(v int) set  { return s | 1<<uint(v) }
func (s set) count() int      { return bits.OnesCount64(uint64(s)) }
func (s set) lowest() int     { return bits.TrailingZeros64(uint64(s)) }
func (s set) below(v int) set { return s & (1<<uint(v) - 1) }

func span(low, high, step int) set {
	var s set
	for v := low; v <= high; v += step {
		s = s.with(v)
	}
	return s
}

// values lists s in ascending order.
func (s set) values() []int {
	list := make([]int, 0, s.count())
	for rest := s; rest != 0; rest &= rest - 1 {
		list = append(list, bits.TrailingZeros64(uint64(rest)))
	}
	return list
}

var (
	allMinutes = span(0, 59, 1)
	allHours   = span(0, 23, 1)
	allMonths  = span(1, 12, 1)
	onTheFull  = span(0, 0, 1) // second 0 alone
)

// days is the day-of-month field. With any set the field leaves the day open
// and the rest is not looked at.
type days struct {
	any      bool
	each     set  // 1-31; a day beyond the month's end does not match
	nearest  set  // nW: the weekday nearest to day n within its month
	last     bool // L: the last day of the month
	lastMF   bool // LW: the last weekday, Monday to Friday, of the month
	fromLast set  // L-n: n days before the last; none in a month that is shorter
	nearLast set  // L-nW: the weekday nearest to L-n within its month
}

// weekdays is the day-of-week field, 0 = Sunday. With any set the field leaves
// the day open and the rest is not looked at.
type weekdays struct {
	any  bool
	each set
	last set // nL: the last such weekday of the month
	nth  set // d#n at bit (n-1)*7+d: the nth such weekday of the month
}

// everyHour tells whether the hours are all 24. Such an expression describes
// an interval rather than a time of day, and its default is to follow elapsed
// time through a change of clocks.
func (f fields) everyHour() bool { return f.hours == allHours }

// impossible tells whether no calendar holds a matching day, such as the 30th
// of February. Weekdays, the last day and the last weekday exist in every
// month; a fifth weekday exists in some year of each month.
func (f fields) impossible() bool {
	if f.days.any || !f.weekdays.any || f.days.last || f.days.lastMF {
		return false
	}
	first, back := (f.days.each | f.days.nearest).lowest(), (f.days.fromLast | f.days.nearLast).lowest()
	for _, month := range f.months.values() {
		if first <= longest(month) || back < longest(month) {
			return false
		}
	}
	return true
}

// longest is the number of days that month has in its longest year.
func longest(month int) int {
	switch month {
	case 2:
		return 29
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}
