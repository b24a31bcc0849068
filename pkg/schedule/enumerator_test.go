package schedule

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// enumerator reads an expression of the dialects quartz and aws in the most
// literal way: every day of the calendar is asked whether it is due, then every
// hour, minute and second of it. It shares nothing with the package but the
// zone's file.
type enumerator struct{ second, minute, hour, day, month, weekday, year string }

func newEnumerator(t testing.TB, dialect job.Dialect, expr string) enumerator {
	t.Helper()
	words := strings.Fields(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(expr), "cron("), ")"))
	switch {
	case dialect == job.DialectAWS && len(words) == 6:
		words = append([]string{"0"}, words...)
	case dialect == job.DialectQuartz && len(words) == 6:
		words = append(words, "*")
	}
	if len(words) != 7 {
		t.Fatalf("%q has %d words", expr, len(words))
	}
	return enumerator{words[0], words[1], words[2], words[3], words[4], words[5], words[6]}
}

// inList tells whether v is in a list of values, ranges and steps. A range that
// runs backwards goes around the field.
func inList(list string, v, low, high int, names ...string) bool {
	number := func(text string) int {
		if i := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, text) }); i >= 0 {
			return low + i
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			panic(err)
		}
		return n
	}
	for item := range strings.SplitSeq(list, ",") {
		base, stepText, stepped := strings.Cut(item, "/")
		step := 1
		if stepped {
			step = number(stepText)
		}
		from, to := low, high
		if base != "*" && base != "?" {
			first, last, ranged := strings.Cut(base, "-")
			from = number(first)
			switch {
			case ranged:
				to = number(last)
			case !stepped:
				to = from
			}
		}
		for x, n := from, 0; n <= high-low; x, n = x+1, n+1 {
			if x > high {
				x = low
			}
			if x == v && n%step == 0 {
				return true
			}
			if x == to {
				break
			}
		}
	}
	return false
}

var (
	monthWords   = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	weekdayWords = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
)

func (e enumerator) dueOn(day time.Time) bool {
	return inList(e.month, int(day.Month()), 1, 12, monthWords...) && e.dayDue(day) && e.weekdayDue(day)
}

func (e enumerator) dayDue(day time.Time) bool {
	last := time.Date(day.Year(), day.Month()+1, 0, 0, 0, 0, 0, time.UTC)
	for item := range strings.SplitSeq(strings.ToUpper(e.day), ",") {
		base, nearest := strings.CutSuffix(item, "W")
		var wanted int
		switch rest, fromLast := strings.CutPrefix(base, "L"); {
		case rest == "" && fromLast:
			wanted = last.Day()
		case fromLast:
			back, err := strconv.Atoi(rest)
			if err != nil {
				panic(err)
			}
			wanted = last.Day() + back
		case nearest:
			wanted, _ = strconv.Atoi(base)
		case inList(item, day.Day(), 1, 31):
			return true
		default:
			continue
		}
		if wanted < 1 || wanted > last.Day() {
			continue
		}
		if nearest {
			wanted = nearestWorkday(day, wanted)
		}
		if wanted == day.Day() {
			return true
		}
	}
	return false
}

func (e enumerator) weekdayDue(day time.Time) bool {
	field := strings.ToUpper(e.weekday)
	on := func(text string) bool { return inList(text, int(day.Weekday())+1, 1, 7, weekdayWords...) }
	base, last := strings.CutSuffix(field, "L")
	name, nth, isNth := strings.Cut(field, "#")
	switch {
	case field == "L":
		return day.Weekday() == time.Saturday
	case isNth:
		return on(name) && strconv.Itoa((day.Day()-1)/7+1) == nth
	case last:
		return on(base) && day.AddDate(0, 0, 7).Month() != day.Month()
	}
	return on(field)
}

// clocksOn lists the times of day at which a due day fires.
func (e enumerator) clocksOn(day time.Time) []time.Time {
	var list []time.Time
	for hour := range 24 {
		for minute := range 60 {
			if !inList(e.hour, hour, 0, 23) || !inList(e.minute, minute, 0, 59) {
				continue
			}
			for second := range 60 {
				if inList(e.second, second, 0, 59) {
					list = append(list, time.Date(day.Year(), day.Month(), day.Day(), hour, minute, second, 0, time.UTC))
				}
			}
		}
	}
	return list
}

// after lists the first count instants after the given one, by the default
// policies: every hour named means elapsed time.
func (e enumerator) after(loc *time.Location, after time.Time, count int) []time.Time {
	everyHour := true
	for hour := range 24 {
		everyHour = everyHour && inList(e.hour, hour, 0, 23)
	}
	var list []time.Time
	begin := civilOf(after.In(loc)).Truncate(24*time.Hour).AddDate(0, 0, -2)
	more := 3 // days looked at after the last one that is needed
	for day := begin; day.Year() < 2100 && more > 0; day = day.AddDate(0, 0, 1) {
		if len(list) >= count {
			more--
		}
		if !inList(e.year, day.Year(), firstYear, lastYear) {
			day = time.Date(day.Year(), 12, 31, 0, 0, 0, 0, time.UTC)
			continue
		}
		if !e.dueOn(day) {
			continue
		}
		for _, clock := range e.clocksOn(day) {
			for _, at := range instantsOf(clock, loc, everyHour) {
				if at.After(after) {
					list = append(list, at)
				}
			}
		}
	}
	slices.SortFunc(list, time.Time.Compare)
	list = slices.CompactFunc(list, time.Time.Equal)
	return list[:min(count, len(list))]
}

// instantsOf finds the instants at which a clock in loc shows clock, by trying
// every offset that is in force around it. A time that none shows fires as the
// gap ends, unless elapsed time is followed; of two, the first alone.
func instantsOf(clock time.Time, loc *time.Location, elapsed bool) []time.Time {
	var shown []time.Time
	for hours := -30; hours <= 30; hours += 10 {
		_, offset := clock.Add(time.Duration(hours) * time.Hour).In(loc).Zone()
		at := clock.Add(-time.Duration(offset) * time.Second)
		if civilOf(at.In(loc)).Equal(clock) && !slices.ContainsFunc(shown, at.Equal) {
			shown = append(shown, at)
		}
	}
	slices.SortFunc(shown, time.Time.Compare)
	switch {
	case elapsed:
		return shown
	case len(shown) == 0:
		return []time.Time{firstAtOrPast(clock, loc, clock.Add(-30*time.Hour), clock.Add(60*time.Hour))}
	}
	return shown[:1]
}
