package schedule

import (
	"strconv"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

type (
	// Calendar is job's: a person writes it, revisions pin it.
	Calendar = job.Calendar
	// Window is job's, too.
	Window = job.Window
)

// Hours is a Calendar made ready to be asked. It is immutable and safe for
// concurrent use.
type Hours struct {
	name    string
	zone    *zone
	dates   map[int64]bool // days since 1970-01-01
	yearly  [13]set        // days by month
	windows []weekWindow
}

// weekWindow is a window in seconds of a day; to may lie in the next day.
type weekWindow struct {
	days     set // 0 = Sunday
	from, to int64
}

// CompileCalendar refuses what a person can get wrong in a calendar, as a
// *job.Error that names the field, and makes the rest ready to be asked.
func CompileCalendar(c Calendar) (*Hours, error) { return embedded().compileCalendar(c) }

func (z *Zones) compileCalendar(c Calendar) (*Hours, error) {
	if err := job.CheckName("calendar", c.Name); err != nil {
		return nil, err
	}
	if c.Zone == "" {
		c.Zone = job.DefaultZone
	}
	own, err := z.load(c.Zone)
	if err != nil {
		return nil, err
	}
	if len(c.Dates)+len(c.Yearly) > job.MaxDates || len(c.Weekly) > job.MaxWindows {
		return nil, withCode(job.CodeTooLarge, refuse("calendar", c.Name, "2000 days, 50 windows", "the calendar %s has %d days and %d windows",
			quote(c.Name), len(c.Dates)+len(c.Yearly), len(c.Weekly)))
	}
	h := &Hours{name: c.Name, zone: own, dates: make(map[int64]bool, len(c.Dates))}
	for _, text := range c.Dates {
		day, err := parseDate("dates", text)
		if err != nil {
			return nil, err
		}
		h.dates[floorDay(day.Unix())/daySeconds] = true
	}
	for _, text := range c.Yearly {
		// Read in a leap year, so that 29 February is a day.
		day, err := parseDate("yearly", "2000-"+text)
		if err != nil {
			return nil, withCode(job.CodeInvalid, refuse("yearly", text, "mm-dd, such as 12-25", "%s is not a day of the year", quote(text)))
		}
		h.yearly[day.Month()] = h.yearly[day.Month()].with(day.Day())
	}
	for _, w := range c.Weekly {
		window, err := compileWindow(w)
		if err != nil {
			return nil, err
		}
		h.windows = append(h.windows, window)
	}
	return h, nil
}

func parseDate(field, text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || !matches(text, "dddd-dd-dd") || len(text) != len(time.DateOnly) || day.Year() < firstYear || day.Year() > lastYear {
		return time.Time{}, withCode(job.CodeInvalid, refuse(field, text, "yyyy-mm-dd of 1970-2099, such as 2026-12-24", "%s is not a date", quote(text)))
	}
	return day, nil
}

func compileWindow(w Window) (weekWindow, error) {
	days, err := parseWeekdays(weekdayField, strings.TrimSpace(w.Days))
	if err != nil {
		return weekWindow{}, err
	}
	if strings.TrimSpace(w.Days) == "?" {
		return weekWindow{}, withFix(refuse("days", w.Days, weekdayField.bound(), "? does not say on which days the window is"), "write * for every day")
	}
	if days.last|days.nth != 0 {
		return weekWindow{}, refuse("days", w.Days, weekdayField.bound(), "a window comes every week: %s names a week of a month", quote(w.Days))
	}
	out := weekWindow{days: days.each, to: daySeconds}
	if days.any {
		out.days = span(0, 6, 1)
	}
	if w.From != "" {
		if out.from, err = parseClock("from", w.From); err != nil {
			return weekWindow{}, err
		}
	}
	if w.To != "" {
		if out.to, err = parseClock("to", w.To); err != nil {
			return weekWindow{}, err
		}
	}
	switch {
	case out.from == daySeconds:
		return weekWindow{}, refuseClock("from", w.From)
	case out.from == out.to:
		return weekWindow{}, withFix(refuse("to", w.To, "another time than from", "the window from %s to %s is empty", quote(w.From), quote(w.To)), "leave both out for the whole day")
	case out.to < out.from:
		out.to += daySeconds
	}
	return out, nil
}

// parseClock reads hh:mm, up to 24:00, as seconds of a day.
func parseClock(field, text string) (int64, error) {
	if len(text) != len("hh:mm") || !matches(text, "dd:dd") {
		return 0, refuseClock(field, text)
	}
	hour, _ := strconv.Atoi(text[:2])
	minute, _ := strconv.Atoi(text[3:])
	if minute > 59 || hour > 24 || hour == 24 && minute > 0 {
		return 0, refuseClock(field, text)
	}
	return int64(hour*3600 + minute*60), nil
}

func refuseClock(field, text string) error {
	return withCode(job.CodeInvalid, refuse(field, text, "hh:mm from 00:00 to 24:00", "%s is not a time of day for %s", quote(text), field))
}

// Name is the calendar's name.
func (h *Hours) Name() string { return h.name }

// Holds tells whether an instant is in the calendar.
func (h *Hours) Holds(at time.Time) bool {
	held, _ := h.at(at.Unix())
	return held
}

// at tells whether an instant is in the calendar, and until when, exclusively,
// the answer is the same at least.
func (h *Hours) at(at int64) (held bool, until int64) {
	p := h.zone.periods[h.zone.periodAt(at)]
	wall := at + p.offset
	day := floorDay(wall)
	if h.holdsDay(day) {
		return true, min(day+daySeconds-p.offset, p.end)
	}
	until = day + daySeconds
	for _, w := range h.windows {
		for _, begun := range []int64{day - daySeconds, day} {
			if !w.days.has(weekdayOf(begun)) {
				continue
			}
			from, to := begun+w.from, begun+w.to
			if wall >= from && wall < to {
				held = true
			}
			for _, edge := range []int64{from, to} {
				if edge > wall {
					until = min(until, edge)
				}
			}
		}
	}
	return held, min(until-p.offset, p.end)
}

// holdsDay tells whether a whole day, given by its first second, is in it.
func (h *Hours) holdsDay(day int64) bool {
	date := instant(day)
	return h.dates[day/daySeconds] || h.yearly[date.Month()].has(date.Day())
}

// weekdayOf is the weekday of a day given by its first second; 1970 began on a
// Thursday.
func weekdayOf(day int64) int { return int(((day/daySeconds+4)%7 + 7) % 7) }
