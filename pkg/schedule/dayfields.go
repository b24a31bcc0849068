package schedule

import "strings"

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
	case isNearest && digits(number):
		day, err := f.value(number, item)
		if err != nil {
			return err
		}
		d.nearest = d.nearest.with(day)
	case strings.HasPrefix(upper, "L-"):
		return withFix(refuse(f.name, item, "L, LW, nW", "an offset from the last day, %s, is not part of the unix dialect", quote(item)),
			"L is the last day and LW the last weekday of the month")
	case strings.ContainsAny(upper, "LW#"):
		return refuse(f.name, item, "1-31, L, LW or nW such as 15W", "%s is not a value", quote(item))
	default:
		values, star, err := f.item(item)
		if err != nil {
			return err
		}
		d.any = d.any || star
		d.each |= values
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
		values, star, err := f.item(item)
		if err != nil {
			return err
		}
		w.any = w.any || star
		w.each |= values
	}
	return nil
}

func (w *weekdays) addNth(f *field, day, nth, item string) error {
	v, err := f.value(day, item)
	if err != nil {
		return err
	}
	if len(nth) != 1 || nth[0] < '1' || nth[0] > '5' {
		return refuse(f.name, item, "1-5 after #", "%s after # in %s is not a week of a month", quote(nth), quote(item))
	}
	w.nth = w.nth.with(int(nth[0]-'1')*7 + v%7)
	return nil
}
