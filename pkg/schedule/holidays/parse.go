package holidays

import (
	"bytes"
	"fmt"
	"slices"
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
// on the same day become yearly days; others that repeat become dates, up to
// 2099. Cancelled events are left out.
//
// A file that is none, an event with a time of day, and a repetition that is not
// yearly are refused, as a *job.Error that names the event.
func Parse(name, zone string, file []byte) (schedule.Calendar, error) {
	c := schedule.Calendar{Name: name, Zone: zone}
	if len(file) > maxFile {
		return c, &job.Error{Code: job.CodeTooLarge, Field: "file", Bound: "1 MB", Message: fmt.Sprintf("the file has %d bytes", len(file))}
	}
	parsed, err := ics.ParseCalendar(bytes.NewReader(file))
	if err != nil {
		return c, &job.Error{Code: job.CodeInvalid, Field: "file", Message: "the file is not an iCalendar file: " + job.Shorten(err.Error()), Fix: "give a file that begins with BEGIN:VCALENDAR"}
	}
	for _, event := range parsed.Events() {
		if strings.EqualFold(value(event, ics.ComponentPropertyStatus), "CANCELLED") {
			continue
		}
		if err := add(&c, event); err != nil {
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

// add puts the days of one event into the calendar.
func add(c *schedule.Calendar, event *ics.VEvent) error {
	first, days, err := span(event)
	if err != nil {
		return err
	}
	rule, err := ruleOf(event)
	if err != nil {
		return err
	}
	except, err := exceptions(event)
	if err != nil {
		return err
	}
	yearly := rule.forever() && len(except) == 0
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

// span is the first day of an event and the number of its days.
func span(event *ics.VEvent) (first time.Time, days int, err error) {
	first, err = date(event, ics.ComponentPropertyDtStart)
	if err != nil {
		return first, 0, err
	}
	if event.GetProperty(ics.ComponentPropertyDtEnd) == nil {
		if length := value(event, ics.ComponentPropertyDuration); length != "" && length != "P1D" {
			return first, 0, refuse(event, "DURATION", length, "P1D, or DTEND", "its length is not understood")
		}
		return first, 1, nil
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

// date reads a property that must be a whole day.
func date(event *ics.VEvent, property ics.ComponentProperty) (time.Time, error) {
	text := value(event, property)
	day, err := time.Parse("20060102", text)
	if err != nil {
		return day, refuse(event, string(property), text, "a whole day, such as 20261224", "it is not a whole day")
	}
	return day, nil
}

// exceptions are the days on which a repeated event does not begin.
func exceptions(event *ics.VEvent) (map[time.Time]bool, error) {
	except := map[time.Time]bool{}
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
