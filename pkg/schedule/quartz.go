package schedule

import (
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// The fields of the dialect quartz. Its ranges may run over the end of a field
// (22-2, FRI-MON); its weekdays count from 1 = Sunday.
var (
	quartzSecond  = &field{name: "second", min: 0, max: 59, stepMax: 59, wraps: true}
	quartzMinute  = &field{name: "minute", min: 0, max: 59, stepMax: 59, wraps: true}
	quartzHour    = &field{name: "hour", min: 0, max: 23, stepMax: 23, wraps: true}
	quartzDay     = &field{name: "day-of-month", min: 1, max: 31, stepMax: 31, open: true, wraps: true, fromLast: true}
	quartzMonth   = &field{name: "month", min: 1, max: 12, stepMax: 12, names: shortMonths, bounds: "1-12 or a name JAN-DEC", wraps: true}
	quartzWeekday = &field{name: "day-of-week", min: 1, max: 7, stepMax: 7, names: fromOne(shortWeekdays), bounds: "1-7 (1 = Sunday) or a name SUN-SAT", open: true, wraps: true}
)

// fromOne counts weekdays from 1 = Sunday.
func fromOne(fromZero map[string]int) map[string]int {
	names := make(map[string]int, len(fromZero))
	for name, v := range fromZero {
		names[name] = v + 1
	}
	return names
}

// quartzNotation is how an expression of the dialect quartz is written.
var quartzNotation = notation{
	dialect: job.DialectQuartz,
	fewest:  6, most: 7,
	bound: "6 or 7 fields: second minute hour day-of-month month day-of-week [year]",
	daily: "0 0 0 * * ?",
}

// parseQuartz is the grammar of the dialect quartz.
func parseQuartz(text string) (fields, error) {
	words, err := quartzNotation.words(text)
	if err != nil {
		return fields{}, err
	}
	year := "*"
	if len(words) == 7 {
		year = words[6]
	}
	if err := oneQuestionMark(job.DialectQuartz, words[3], words[5]); err != nil {
		return fields{}, err
	}
	var r reader
	f := fields{
		seconds:  r.set(quartzSecond, words[0]),
		minutes:  r.set(quartzMinute, words[1]),
		hours:    r.set(quartzHour, words[2]),
		days:     r.days(quartzDay, words[3]),
		months:   r.set(quartzMonth, words[4]),
		weekdays: read(&r, parseOneBased, quartzWeekday, words[5]),
		years:    r.years(yearField, year),
	}
	return f, r.err
}

// oneQuestionMark refuses an expression unless exactly one of its two day
// fields is ?: these dialects do not join the two.
func oneQuestionMark(d job.Dialect, day, weekday string) error {
	const bound = "? in exactly one of the two day fields"
	switch {
	case day == "?" && weekday == "?":
		return withFix(refuse("day-of-week", weekday, bound, "both day fields are ?, so no day is chosen"), "write * in day-of-month for every day")
	case day == "?" || weekday == "?":
		return nil
	case weekday == "*":
		return withFix(refuse("day-of-week", weekday, bound, "in the %s dialect one of the two day fields must be ?", d), "write ? in day-of-week")
	case day == "*":
		return withFix(refuse("day-of-month", day, bound, "in the %s dialect one of the two day fields must be ?", d), "write ? in day-of-month")
	}
	return withFix(refuse("day-of-week", weekday, bound, "in the %s dialect day-of-month and day-of-week cannot both choose days", d),
		"write ? in one of them; for either of two days write two jobs, or use the dialect unix, which joins them with OR")
}

// parseOneBased reads a day-of-week field whose 1 is Sunday: values, ranges and
// names, L for Saturday, or, alone, nL or d#n.
func parseOneBased(f *field, text string) (weekdays, error) {
	list, err := f.items(text)
	if err != nil {
		return weekdays{}, err
	}
	if text == "?" {
		return weekdays{any: true}, nil
	}
	if upper := strings.ToUpper(text); strings.ContainsAny(upper, "L#") {
		return parseSpecialWeekday(f, upper, text)
	}
	var w weekdays
	for _, item := range list {
		r, star, err := f.item(item)
		if err != nil {
			return weekdays{}, err
		}
		w.any = w.any || star
		w.each |= f.set(r) >> 1
	}
	return w, nil
}

func parseSpecialWeekday(f *field, upper, text string) (weekdays, error) {
	last, isLast := strings.CutSuffix(upper, "L")
	day, nth, isNth := strings.Cut(upper, "#")
	switch {
	case strings.Contains(upper, ","):
		return weekdays{}, withFix(refuse(f.name, text, "L, nL or d#n alone", "L and # must stand alone, not in the list %s", quote(text)),
			"make a job for each, or use the dialect unix, which reads such lists")
	case upper == "L":
		return weekdays{each: set(0).with(6)}, nil
	case isNth:
		v, err := f.value(day, text)
		if err != nil {
			return weekdays{}, err
		}
		n, err := nthWeek(f, nth, text)
		if err != nil {
			return weekdays{}, err
		}
		return weekdays{nth: set(0).with(n*7 + v - 1)}, nil
	case isLast:
		v, err := f.value(last, text)
		if err != nil {
			return weekdays{}, err
		}
		return weekdays{last: set(0).with(v - 1)}, nil
	}
	return weekdays{}, refuse(f.name, text, f.bound()+", L, nL or d#n", "%s is not a value", quote(text))
}
