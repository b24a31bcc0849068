package schedule

import (
	"fmt"
	"strconv"
	"strings"
)

// normalText writes fields in the seven-field form of the field engine, in the
// narrow part of its language that it reads rightly: numbers without leading
// zeros in ascending order, ranges that run forwards, Sunday as 0, no names,
// no steps, no blanks but single spaces.
func normalText(f fields) string {
	return strings.Join([]string{
		setText(f.seconds, 0, 59),
		setText(f.minutes, 0, 59),
		setText(f.hours, 0, 23),
		daysText(f.days),
		setText(f.months, 1, 12),
		weekdaysText(f.weekdays),
		yearsText(f.years),
	}, " ")
}

// midnightText is normalText for the first second of each matching day.
func midnightText(f fields) string {
	f.seconds, f.minutes, f.hours = span(0, 0, 1), span(0, 0, 1), span(0, 0, 1)
	return normalText(f)
}

func setText(s set, low, high int) string {
	if s == span(low, high, 1) {
		return "*"
	}
	return strings.Join(ranges(s.values()), ",")
}

func yearsText(y years) string {
	if y == allYears {
		return "*"
	}
	return strings.Join(ranges(y.values()), ",")
}

// ranges writes ascending values as single values and ranges.
func ranges(values []int) []string {
	var list []string
	for i := 0; i < len(values); {
		end := i
		for end+1 < len(values) && values[end+1] == values[end]+1 {
			end++
		}
		text := strconv.Itoa(values[i])
		if end > i {
			text += "-" + strconv.Itoa(values[end])
		}
		list = append(list, text)
		i = end + 1
	}
	return list
}

// daysText keeps a full but restricted set (1-31) apart from a star: the
// engine, as the grammar, joins two restricted day fields with OR.
func daysText(d days) string {
	if d.any {
		return "*"
	}
	list := ranges(d.each.values())
	for _, n := range d.nearest.values() {
		list = append(list, strconv.Itoa(n)+"W")
	}
	if d.last {
		list = append(list, "L")
	}
	if d.lastMF {
		list = append(list, "LW")
	}
	return strings.Join(list, ",")
}

func weekdaysText(w weekdays) string {
	if w.any {
		return "*"
	}
	list := ranges(w.each.values())
	for _, day := range w.last.values() {
		list = append(list, strconv.Itoa(day)+"L")
	}
	for _, bit := range w.nth.values() {
		list = append(list, fmt.Sprintf("%d#%d", bit%7, bit/7+1))
	}
	return strings.Join(list, ",")
}
