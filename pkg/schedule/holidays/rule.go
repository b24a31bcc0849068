package holidays

import (
	"strconv"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"
)

// rule is how an event comes back. The zero rule is once.
type rule struct {
	yearly  bool
	month   time.Month   // 0 = the first day's
	nth     int          // of weekday in the month, from 1, or from -1 backwards; 0 = on the first day's date
	weekday time.Weekday // with nth
	count   int          // 0 = no bound
	until   time.Time    // zero = no bound
}

// forever tells whether the event comes back on the same date without end.
func (r rule) forever() bool { return r.yearly && r.nth == 0 && r.count == 0 && r.until.IsZero() }

// ruleOf reads the yearly rules that holidays are written with.
func ruleOf(event *ics.VEvent) (rule, error) {
	text := value(event, ics.ComponentPropertyRrule)
	if text == "" {
		return rule{}, nil
	}
	first, err := date(event, ics.ComponentPropertyDtStart)
	if err != nil {
		return rule{}, err
	}
	refused := func() error {
		return refuse(event, "RRULE", text, "FREQ=YEARLY with BYMONTH and BYMONTHDAY or one BYDAY, COUNT or UNTIL", "the way it comes back is not understood")
	}
	var r rule
	byDate := false
	for part := range strings.SplitSeq(text, ";") {
		key, argument, _ := strings.Cut(part, "=")
		number, err := strconv.Atoi(argument)
		isNumber := err == nil
		switch {
		case key == "FREQ" && argument == "YEARLY":
			r.yearly = true
		case key == "INTERVAL" && number == 1, key == "WKST":
		case key == "BYMONTHDAY" && number == first.Day():
			byDate = true
		case key == "BYMONTH" && isNumber && number >= 1 && number <= 12:
			r.month = time.Month(number)
		case key == "COUNT" && isNumber && number > 0:
			r.count = number
		case key == "UNTIL":
			if r.until, err = time.Parse("20060102", strings.SplitN(argument, "T", 2)[0]); err != nil {
				return rule{}, refused()
			}
		case key == "BYDAY":
			if !r.byDay(argument) {
				return rule{}, refused()
			}
		default:
			return rule{}, refused()
		}
	}
	if !r.yearly || r.nth == 0 && r.month != 0 && r.month != first.Month() || r.nth != 0 && (r.month == 0 || byDate) {
		return rule{}, refused()
	}
	if begun, exists := r.in(first.Year(), first); !exists || !begun.Equal(first) {
		return rule{}, refuse(event, "DTSTART", first.Format(time.DateOnly), "the first day that "+text+" names", "it does not begin on a day of its own repetition")
	}
	return r, nil
}

// byDay reads one weekday of a month, such as 4TH or -1MO.
func (r *rule) byDay(text string) bool {
	if len(text) < 3 {
		return false
	}
	n, err := strconv.Atoi(text[:len(text)-2])
	day := strings.Index("SUMOTUWETHFRSA", text[len(text)-2:])
	if err != nil || n == 0 || n < -5 || n > 5 || day < 0 || day%2 != 0 {
		return false
	}
	r.nth, r.weekday = n, time.Weekday(day/2)
	return true
}

// from lists the days on which the event begins, from its first day on.
func (r rule) from(first time.Time) []time.Time {
	if !r.yearly {
		return []time.Time{first}
	}
	var list []time.Time
	for year := first.Year(); year <= lastYear; year++ {
		day, exists := r.in(year, first)
		switch {
		case !exists || day.Before(first):
			continue
		case !r.until.IsZero() && day.After(r.until), r.count > 0 && len(list) == r.count:
			return list
		}
		list = append(list, day)
	}
	return list
}

// in is the event's day of a year; false when the year has none.
func (r rule) in(year int, first time.Time) (time.Time, bool) {
	if r.nth == 0 {
		day := time.Date(year, first.Month(), first.Day(), 0, 0, 0, 0, time.UTC)
		return day, day.Month() == first.Month()
	}
	if r.nth > 0 {
		day := time.Date(year, r.month, 1, 0, 0, 0, 0, time.UTC)
		day = day.AddDate(0, 0, int(r.weekday-day.Weekday()+7)%7+7*(r.nth-1))
		return day, day.Month() == r.month
	}
	day := time.Date(year, r.month+1, 0, 0, 0, 0, 0, time.UTC)
	day = day.AddDate(0, 0, -int(day.Weekday()-r.weekday+7)%7+7*(r.nth+1))
	return day, day.Month() == r.month
}
