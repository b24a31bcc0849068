package schedule

import (
	"strconv"
	"strings"
)

// field describes one field of an expression: its name for people, its bounds
// and the words that stand for numbers in it.
type field struct {
	name     string
	min, max int // of a bare star and of v/n
	stepMax  int // largest step; 0 = the dialect has no steps in this field
	names    map[string]int
	bounds   string // what a single value may be; "" = min-max
	width    int    // most digits of a number; 0 = two
	open     bool   // ? may stand alone
	week     bool   // 7 is Sunday too, and a range may end on it
	wraps    bool   // a range that runs backwards goes on from the field's start
	fromLast bool   // L-n and L-nW count back from the month's last day
}

var monthNames = map[string]int{
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
	"jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
	"january": 1, "february": 2, "march": 3, "april": 4, "june": 6,
	"july": 7, "august": 8, "september": 9, "october": 10, "november": 11, "december": 12,
}

var weekdayNames = map[string]int{
	"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6,
	"sunday": 0, "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6,
}

var (
	shortMonths   = shortNames(monthNames)
	shortWeekdays = shortNames(weekdayNames)
)

// shortNames keeps the names of three letters.
func shortNames(all map[string]int) map[string]int {
	short := make(map[string]int, len(all))
	for name, v := range all {
		if len(name) == 3 {
			short[name] = v
		}
	}
	return short
}

// bound says what a single value may be.
func (f *field) bound() string {
	if f.bounds != "" {
		return f.bounds
	}
	return strconv.Itoa(f.min) + "-" + strconv.Itoa(f.max)
}

// run is one element of a list: every step-th value from low to high. In a
// field that wraps, high may lie beyond the field's maximum.
type run struct{ low, high, step int }

// set lists the values of a run that are small numbers.
func (f *field) set(r run) set {
	if f.wraps && r.high > f.max {
		var s set
		for v := r.low; v <= r.high; v += r.step {
			s = s.with(f.min + (v-f.min)%(f.max-f.min+1))
		}
		return s
	}
	return f.fold(span(r.low, r.high, r.step))
}

// largest is the largest single number: 7 in the weekday field, where it is
// Sunday as 0 is.
func (f *field) largest() int {
	if f.week {
		return 7
	}
	return f.max
}

// fold maps 7 to 0 in the weekday field.
func (f *field) fold(s set) set {
	if f.week && s.has(7) {
		return s.below(7).with(0)
	}
	return s
}

// items cuts a field at its commas.
func (f *field) items(text string) ([]string, error) {
	list := strings.Split(text, ",")
	for _, item := range list {
		if item == "" {
			return nil, refuse(f.name, text, "value,value,…", "an element of the list %s is empty", quote(text))
		}
		if item == "?" && (len(list) > 1 || !f.open) {
			return nil, f.refuseOpen(text)
		}
	}
	return list, nil
}

func (f *field) refuseOpen(text string) error {
	if !f.open {
		return withFix(refuse(f.name, text, f.bound(), "? is only allowed in the two day fields"), "write * for every "+f.name)
	}
	return withFix(refuse(f.name, text, "? alone", "? must stand alone, not in %s", quote(text)), "remove ? from the list")
}

// item reads one list element of the kinds that all fields share: star, value,
// range, each with or without a step. star is true for a bare * only.
func (f *field) item(text string) (r run, star bool, err error) {
	if text == "*" {
		return run{f.min, f.max, 1}, true, nil
	}
	r.step = 1
	base, stepText, stepped := strings.Cut(text, "/")
	if stepped {
		if r.step, err = f.step(stepText, text); err != nil {
			return run{}, false, err
		}
	}
	r.low, r.high, err = f.ends(base, text, stepped)
	return r, false, err
}

// ends reads what stands before a step: a star, a range, or a value, which
// with a step runs to the field's maximum.
func (f *field) ends(base, item string, stepped bool) (low, high int, err error) {
	if base == "*" {
		return f.min, f.max, nil
	}
	lowText, highText, ranged := strings.Cut(base, "-")
	if low, err = f.value(lowText, item); err != nil {
		return 0, 0, err
	}
	switch {
	case ranged:
		if high, err = f.value(highText, item); err != nil {
			return 0, 0, err
		}
		if f.week && high == 0 && low > 0 {
			high = 7
		}
		if low > high && f.wraps {
			high += f.max - f.min + 1
		}
		if low > high {
			return 0, 0, f.refuseInverted(base, item, run{low, high, 1})
		}
	case stepped:
		if f.week && low == 7 {
			low = 0
		}
		high = f.max
	default:
		high = low
	}
	return low, high, nil
}

func (f *field) refuseInverted(base, item string, r run) error {
	err := refuse(f.name, item, "first value ≤ last value", "the range %s runs backwards", quote(base))
	switch {
	case f.name == yearField.name:
		return withFix(err, "write the earlier year first")
	case base != item:
		return withFix(err, "if both ends of the field are meant, list the values")
	case r.low > f.max: // Sunday as 7
		return withFix(err, "write "+rangeText(f.min, r.high))
	}
	return withFix(err, "if both ends of the field are meant, write "+rangeText(r.low, f.max)+","+rangeText(f.min, r.high))
}

func rangeText(low, high int) string {
	if low >= high {
		return strconv.Itoa(high)
	}
	return strconv.Itoa(low) + "-" + strconv.Itoa(high)
}

// value reads a number or a name of the field.
func (f *field) value(text, item string) (int, error) {
	if text == "" {
		return 0, refuse(f.name, item, f.bound(), "a value is missing in %s", quote(item))
	}
	if v, known := f.names[strings.ToLower(text)]; known {
		return v, nil
	}
	if !digits(text) {
		err := refuse(f.name, item, f.bound(), "%s is not a value in %s", quote(text), quote(item))
		if spreads(text) {
			return 0, withFix(err, "name a value, and spread jobs with the schedule key jitter, such as jitter: 10m")
		}
		return 0, err
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < f.min || v > f.largest() {
		err := refuse(f.name, item, f.bound(), "%s is out of range %s", quote(text), f.bound())
		if f.name == hourField.name && v == f.max+1 {
			return 0, withFix(err, "midnight is hour 0")
		}
		return 0, err
	}
	if len(text) > f.digits() {
		return 0, refuse(f.name, item, f.bound()+", without more zeros in front", "%s has too many digits", quote(text))
	}
	return v, nil
}

// spreads tells whether a value is how other systems choose one at random: H of
// Jenkins, or a range with a tilde.
func spreads(text string) bool {
	return text == "H" || strings.HasPrefix(text, "H(") || strings.Contains(text, "~")
}

// step reads the number after a slash.
func (f *field) step(text, item string) (int, error) {
	if f.stepMax == 0 {
		return 0, withFix(refuse(f.name, item, f.bound(), "this dialect has no steps in the field %s", f.name), "list the values instead")
	}
	bound := "1-" + strconv.Itoa(f.stepMax)
	if !digits(text) {
		return 0, refuse(f.name, item, bound, "the step in %s is not a whole number", quote(item))
	}
	v, err := strconv.Atoi(text)
	switch {
	case err != nil || v > f.stepMax:
		return 0, withFix(
			refuse(f.name, item, bound, "the step %s in %s is larger than the field", quote(text), quote(item)),
			"a step counts within its field and starts again with it; for a longer interval use the schedule key every")
	case v < 1:
		return 0, refuse(f.name, item, bound, "the step in %s is 0", quote(item))
	case len(text) > f.digits():
		return 0, refuse(f.name, item, bound+", without more zeros in front", "the step %s has too many digits", quote(text))
	}
	return v, nil
}

// digits is the most digits that a number of the field may have.
func (f *field) digits() int {
	if f.width == 0 {
		return 2
	}
	return f.width
}

// digits tells whether text is ASCII digits and nothing else.
func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// parseSet reads a field that knows the shared kinds of elements only.
func parseSet(f *field, text string) (set, error) {
	list, err := f.items(text)
	if err != nil {
		return 0, err
	}
	var all set
	for _, item := range list {
		r, _, err := f.item(item)
		if err != nil {
			return 0, err
		}
		all |= f.set(r)
	}
	return all, nil
}

// parseYears reads the year field.
func parseYears(f *field, text string) (years, error) {
	list, err := f.items(text)
	if err != nil {
		return years{}, err
	}
	var all years
	for _, item := range list {
		r, _, err := f.item(item)
		if err != nil {
			return years{}, err
		}
		for v := r.low; v <= r.high; v += r.step {
			all.add(v)
		}
	}
	return all, nil
}
