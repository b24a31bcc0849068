package holidays

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// Bounds of a file.
const (
	maxFile   = 1 << 20 // bytes
	mostDays  = 366     // of one event
	lastYear  = 2099
	firstYear = 1970
)

// Parse reads the whole-day events of an iCalendar file as a calendar with the
// given name, on the clock of the given zone. Events that come back every year
// on the same day become yearly days; others that repeat, and those that begin
// after they were written, become dates, up to 2099. Cancelled events are left
// out, and a changed occurrence takes the place of the one that it changes.
//
// A file that is none or was cut off, an event with a time of day, and a
// repetition that is not yearly are refused, as a *job.Error that names the event.
func Parse(name, zone string, file []byte) (schedule.Calendar, error) {
	c := schedule.Calendar{Name: name, Zone: zone}
	if len(file) > maxFile {
		return c, &job.Error{Code: job.CodeTooLarge, Field: "file", Bound: "1 MB", Message: fmt.Sprintf("the file has %d bytes", len(file))}
	}
	events, err := eventsOf(file)
	if err != nil {
		return c, err
	}
	changed, err := changedDays(events)
	if err != nil {
		return c, err
	}
	for _, event := range events {
		if strings.EqualFold(value(event, ics.ComponentPropertyStatus), "CANCELLED") {
			continue
		}
		if err := add(&c, event, changed); err != nil {
			return c, err
		}
	}
	if len(c.Dates)+len(c.Yearly) == 0 {
		return c, &job.Error{Code: job.CodeInvalid, Field: "file", Message: "the file has no events", Fix: "give a file with the days of rest as events"}
	}
	slices.Sort(c.Dates)
	slices.Sort(c.Yearly)
	c.Dates, c.Yearly = slices.Compact(c.Dates), slices.Compact(c.Yearly)
	_, err = schedule.CompileCalendar(c)
	return c, err
}

// eventsOf reads the one calendar of a file. One that stops before its end was
// cut off, and nobody knows what it has lost.
func eventsOf(file []byte) ([]*ics.VEvent, error) {
	refused := func(why string) error {
		return &job.Error{Code: job.CodeInvalid, Field: "file", Message: "the file is not an iCalendar file: " + job.Shorten(why),
			Fix: "give a file of one calendar, from BEGIN:VCALENDAR to END:VCALENDAR"}
	}
	parsed, err := ics.ParseCalendar(bytes.NewReader(file))
	if err != nil {
		return nil, refused(err.Error())
	}
	if !bytes.HasSuffix(bytes.ToUpper(bytes.TrimSpace(file)), []byte("END:VCALENDAR")) {
		return nil, refused("it ends before END:VCALENDAR")
	}
	events := parsed.Events()
	for _, event := range events {
		if err := checkOnce(event); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// add puts the days of one event into the calendar.
func add(c *schedule.Calendar, event *ics.VEvent, changed changes) error {
	first, days, err := span(event)
	if err != nil {
		return err
	}
	rule, err := ruleOf(event)
	if err != nil {
		return err
	}
	except, err := exceptions(event, changed)
	if err != nil {
		return err
	}
	yearly := rule.forever() && len(except) == 0 && !crossesFebruary(first, days) && !begunLater(event, first)
	for _, begun := range rule.from(first) {
		for i := range days {
			day := begun.AddDate(0, 0, i)
			switch {
			case yearly:
				c.Yearly = append(c.Yearly, day.Format("01-02"))
			case !except[begun] && day.Year() >= firstYear && day.Year() <= lastYear:
				c.Dates = append(c.Dates, day.Format(time.DateOnly))
			}
		}
		if yearly {
			break
		}
	}
	return nil
}

// crossesFebruary tells whether the days after an event's first one have other
// dates in leap years.
func crossesFebruary(first time.Time, days int) bool {
	march := time.Date(first.Year(), time.March, 1, 0, 0, 0, 0, time.UTC)
	if !first.Before(march) {
		march = march.AddDate(1, 0, 0)
	}
	return !first.AddDate(0, 0, days-1).Before(march.AddDate(0, 0, -1)) && days > 1
}

// begunLater tells whether an event begins in a year after the one in which it
// was written: a yearly day would hold in the years between, too.
func begunLater(event *ics.VEvent, first time.Time) bool {
	written := value(event, ics.ComponentPropertyDtstamp)
	if len(written) < len("2006") {
		return false
	}
	year, err := strconv.Atoi(written[:len("2006")])
	return err == nil && first.Year() > year
}

// span is the first day of an event and the number of its days.
func span(event *ics.VEvent) (first time.Time, days int, err error) {
	first, err = date(event, ics.ComponentPropertyDtStart)
	if err != nil {
		return first, 0, err
	}
	if event.GetProperty(ics.ComponentPropertyDtEnd) == nil {
		days, err = length(event)
		return first, days, err
	}
	end, err := date(event, ics.ComponentPropertyDtEnd)
	if err != nil {
		return first, 0, err
	}
	days = int(end.Sub(first) / (24 * time.Hour))
	if days == 0 {
		days = 1 // some writers give the day itself as the end
	}
	if days < 0 || days > mostDays {
		return first, 0, refuse(event, "DTEND", end.Format(time.DateOnly), "1 to 366 days after DTSTART", fmt.Sprintf("it has %d days", days))
	}
	return first, days, nil
}

// length reads DURATION, in days or weeks; one day without it.
func length(event *ics.VEvent) (days int, err error) {
	text := value(event, ics.ComponentPropertyDuration)
	if text == "" {
		return 1, nil
	}
	number, unit := strings.TrimPrefix(text, "P"), 1
	if weeks, ok := strings.CutSuffix(number, "W"); ok {
		number, unit = weeks, 7
	} else {
		number = strings.TrimSuffix(number, "D")
	}
	days, err = strconv.Atoi(number)
	if text[0] != 'P' || number == text[1:] || err != nil || days < 1 || days*unit > mostDays {
		return 0, refuse(event, "DURATION", text, "P1D to P366D, or weeks such as P2W", "its length is not understood")
	}
	return days * unit, nil
}

// date reads a property that must be a whole day.
func date(event *ics.VEvent, property ics.ComponentProperty) (time.Time, error) {
	text := value(event, property)
	day, err := time.Parse("20060102", text)
	if err != nil {
		return day, refuse(event, string(property), text, "a whole day, such as 20261224", "it is not a whole day")
	}
	return day, nil
}

// exceptions are the days on which an event does not begin: those that it
// excepts, and those that another event changes.
func exceptions(event *ics.VEvent, changed changes) (map[time.Time]bool, error) {
	except := changed.of(event)
	for _, p := range event.GetProperties(ics.ComponentPropertyExdate) {
		for text := range strings.SplitSeq(p.Value, ",") {
			day, err := time.Parse("20060102", text)
			if err != nil {
				return nil, refuse(event, "EXDATE", text, "a whole day, such as 20261224", "it is not a whole day")
			}
			except[day] = true
		}
	}
	if event.GetProperty(ics.ComponentPropertyRdate) != nil {
		return nil, refuse(event, "RDATE", value(event, ics.ComponentPropertyRdate), "RRULE, or an event for each day", "its further days are not understood")
	}
	return except, nil
}

func value(event *ics.VEvent, property ics.ComponentProperty) string {
	if p := event.GetProperty(property); p != nil {
		return p.Value
	}
	return ""
}

// refuse names the event by its summary, or else by its id.
func refuse(event *ics.VEvent, property, text, bound, why string) error {
	name := value(event, ics.ComponentPropertySummary)
	if name == "" {
		name = value(event, ics.ComponentPropertyUniqueId)
	}
	return &job.Error{Code: job.CodeInvalid, Field: property, Value: job.Shorten(text), Bound: bound,
		Message: fmt.Sprintf("the event %q cannot be a day of rest: %s", job.Shorten(name), why), Fix: "remove the event from the file, or write its days out"}
}
