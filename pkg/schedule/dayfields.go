package schedule

import (
	"strconv"
	"strings"
)

// parseDays reads the day-of-month field: the shared elements and L, LW, nW.
// A bare star or ? leaves the day open; */2 and */1 restrict it.
func parseDays(f *field, text string) (days, error) {
	list, err := f.items(text)
	if err != nil {
		return days{}, err
	}
	if text == "?" {
		return days{any: true}, nil
	}
	var d days
	for _, item := range list {
		if err := d.add(f, item); err != nil {
			return days{}, err
		}
	}
	return d, nil
}

func (d *days) add(f *field, item string) error {
	upper := strings.ToUpper(item)
	switch number, isNearest := strings.CutSuffix(upper, "W"); {
	case upper == "L":
		d.last = true
	case upper == "LW":
		d.lastMF = true
	case strings.HasPrefix(upper, "L-") && f.fromLast:
		return d.addFromLast(f, number, isNearest, item)
	case isNearest && digits(number):
		day, err := f.value(number, item)
		if err != nil {
			return err
		}
		d.nearest = d.nearest.with(day)
	case strings.HasPrefix(upper, "L-"):
		return withFix(refuse(f.name, item, "L, LW, nW", "an offset from the last day, %s, is not part of this dialect", quote(item)),
			"L is the last day and LW the last weekday of the month")
	case strings.ContainsAny(upper, "LW#"):
		return refuse(f.name, item, f.daysBound(), "%s is not a value", quote(item))
	default:
		r, star, err := f.item(item)
		if err != nil {
			return err
		}
		d.any = d.any || star
		d.each |= f.set(r)
	}
	return nil
}

// daysBound says what an element of the day-of-month field may be.
func (f *field) daysBound() string {
	if f.fromLast {
		return "1-31, L, LW, nW such as 15W, L-n or L-nW"
	}
	return "1-31, L, LW or nW such as 15W"
}

// addFromLast reads L-n, the nth day before the month's last, and L-nW, the
// weekday nearest to it. text is the element in capitals, without its W.
func (d *days) addFromLast(f *field, text string, nearest bool, item string) error {
	const bound = "L-1 to L-30"
	number := strings.TrimPrefix(text, "L-")
	n, err := strconv.Atoi(number)
	if !digits(number) || len(number) > 2 || err != nil || n < 1 || n > 30 {
		return withFix(refuse(f.name, item, bound, "%s is not a number of days before the last, in %s", quote(number), quote(item)),
			"L is the last day itself")
	}
	if nearest {
		d.nearLast = d.nearLast.with(n)
	} else {
		d.fromLast = d.fromLast.with(n)
	}
	return nil
}

// parseWeekdays reads the day-of-week field: the shared elements and nL, d#n.
func parseWeekdays(f *field, text string) (weekdays, error) {
	list, err := f.items(text)
	if err != nil {
		return weekdays{}, err
	}
	if text == "?" {
		return weekdays{any: true}, nil
	}
	var w weekdays
	for _, item := range list {
		if err := w.add(f, item); err != nil {
			return weekdays{}, err
		}
	}
	return w, nil
}

func (w *weekdays) add(f *field, item string) error {
	day, nth, isNth := strings.Cut(item, "#")
	last, isLast := strings.CutSuffix(strings.ToUpper(item), "L")
	switch {
	case isNth:
		return w.addNth(f, day, nth, item)
	case isLast && last == "":
		return withFix(refuse(f.name, item, "a weekday before L, such as 5L", "L alone does not say which weekday"),
			"write 6L for the last Saturday of the month, or 6 for every Saturday")
	case isLast && !strings.ContainsAny(last, "-/*"):
		v, err := f.value(last, item)
		if err != nil {
			return err
		}
		w.last = w.last.with(v % 7)
	default:
		r, star, err := f.item(item)
		if err != nil {
			return err
		}
		w.any = w.any || star
		w.each |= f.set(r)
	}
	return nil
}

func (w *weekdays) addNth(f *field, day, nth, item string) error {
	v, err := f.value(day, item)
	if err != nil {
		return err
	}
	n, err := nthWeek(f, nth, item)
	if err != nil {
		return err
	}
	w.nth = w.nth.with(n*7 + v%7)
	return nil
}

// nthWeek reads the number after #, counted from 0.
func nthWeek(f *field, nth, item string) (int, error) {
	if len(nth) != 1 || nth[0] < '1' || nth[0] > '5' {
		return 0, refuse(f.name, item, "1-5 after #", "%s after # in %s is not a week of a month", quote(nth), quote(item))
	}
	return int(nth[0] - '1'), nil
}
