package holidays

import (
	"maps"
	"time"

	ics "github.com/arran4/golang-ical"
)

// changes are, by the id that events share, the days of a repetition that an
// event of its own replaces.
type changes map[string]map[time.Time]bool

// changedDays collects the days that a RECURRENCE-ID names, of cancelled events,
// too: what they replace does not take place.
func changedDays(events []*ics.VEvent) (changes, error) {
	changed := changes{}
	for _, event := range events {
		property := event.GetProperty(ics.ComponentPropertyRecurrenceId)
		if property == nil {
			continue
		}
		day, err := date(event, ics.ComponentPropertyRecurrenceId)
		if err != nil {
			return nil, err
		}
		if len(property.ICalParameters["RANGE"]) > 0 {
			return nil, refuse(event, "RECURRENCE-ID", property.Value, "one day", "it changes all later days, too, which is not understood")
		}
		id := event.Id()
		if changed[id] == nil {
			changed[id] = map[time.Time]bool{}
		}
		changed[id][day] = true
	}
	return changed, nil
}

// of lists the days of an event that others replace. What replaces is not
// replaced itself.
func (c changes) of(event *ics.VEvent) map[time.Time]bool {
	if event.GetProperty(ics.ComponentPropertyRecurrenceId) != nil {
		return map[time.Time]bool{}
	}
	days := maps.Clone(c[event.Id()])
	if days == nil {
		days = map[time.Time]bool{}
	}
	return days
}

// checkOnce refuses what is written twice and read once, and what takes days
// away in a way that is not read at all.
func checkOnce(event *ics.VEvent) error {
	for _, property := range []ics.ComponentProperty{ics.ComponentPropertyDtStart, ics.ComponentPropertyDtEnd, ics.ComponentPropertyDuration,
		ics.ComponentPropertyRrule, ics.ComponentPropertyRecurrenceId} {
		if given := event.GetProperties(property); len(given) > 1 {
			return refuse(event, string(property), given[1].Value, "once", "it is given twice")
		}
	}
	if rule := event.GetProperty(ics.ComponentPropertyExrule); rule != nil {
		return refuse(event, "EXRULE", rule.Value, "EXDATE for each day", "the days that it leaves out are not understood")
	}
	return nil
}
