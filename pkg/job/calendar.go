package job

import (
	"fmt"
	"slices"
	"time"
)

// Calendar is a named set of days and hours, as a person writes it: holidays by
// date, holidays of every year, windows of every week, on the clock of its own
// zone. Several jobs may share one, as what they leave out or as what they keep
// to. An instant is in the calendar when any part of it holds it; the zero
// Calendar holds none.
type Calendar struct {
	Name   string   `json:"calendar"`
	Zone   string   `json:"zone,omitempty"`   // IANA name; empty = UTC
	Dates  []string `json:"dates,omitempty"`  // whole days, such as 2026-12-24
	Yearly []string `json:"yearly,omitempty"` // whole days of every year, such as 12-25; 02-29 in leap years
	Weekly []Window `json:"weekly,omitempty"`
}

// Window is a stretch of some days of every week: from From, inclusive, to To,
// exclusive. To 24:00, or both empty, is the whole day. A window that ends
// before it begins goes on into the next day and belongs to the day on which it
// began.
type Window struct {
	Days string `json:"days"`           // as in a unix cron expression: mon-fri, sat,sun
	From string `json:"from,omitempty"` // hh:mm; empty = 00:00
	To   string `json:"to,omitempty"`   // hh:mm; empty = 24:00
}

// OnExcluded says what becomes of a time that calendars exclude. Empty is SKIP.
type OnExcluded string

// SKIP leaves the time out. The others move it to the same time of day on the
// next or the previous business day: a day from Monday to Friday on which the
// calendars do not exclude that time. A time that is moved onto another one is
// the same time.
const (
	ExcludedSkip     OnExcluded = "SKIP"
	ExcludedNext     OnExcluded = "NEXT_BUSINESS_DAY"
	ExcludedPrevious OnExcluded = "PREVIOUS_BUSINESS_DAY"
)

// Bounds of calendars. A revision that pins as many of the largest as a schedule may
// name stays below 260 KB, of the 400 KB that a stored item may have.
const (
	MaxDates         = 2000 // days of a calendar, yearly ones included
	MaxWindows       = 50
	MaxCalendarBytes = 40 << 10 // of its JSON
	MaxCalendars     = 5        // that one schedule names
)

// StoredCalendar is a calendar as the service keeps it. Its content never changes
// under one version; each job keeps to the version that its revision pinned.
type StoredCalendar struct {
	Calendar
	Tenant    string
	Version   int // from 1, raised by each change, never reused
	UpdatedAt time.Time
	ChangedBy string
	Deleted   bool // kept as a tombstone, so that its version is never reused
	Schema    int
}

// PinnedCalendar is the content of a calendar that a revision keeps to.
type PinnedCalendar struct {
	Calendar
	Version int `json:"version"`
}

// CalendarChange is one write of a calendar with its audit entry, all or nothing.
type CalendarChange struct {
	Old   *StoredCalendar // nil: it must not exist yet, nor ever have
	New   StoredCalendar
	Audit Audit
}

// CalendarUser is a job that keeps to a calendar, and the version that its
// revision, or the definition that waits, pinned; the older one of both.
type CalendarUser struct {
	Job     string
	Version int
}

// Calendars names every calendar of the schedule once, in order.
func (s Schedule) Calendars() []string {
	names := slices.Concat(s.Include, s.Exclude)
	slices.Sort(names)
	return slices.Compact(names)
}

// Bare is the schedule without its calendars.
func (s Schedule) Bare() Schedule {
	s.Include, s.Exclude, s.OnExcluded = nil, nil, ""
	return s
}

// checkCalendars refuses what is wrong with the names that a schedule gives.
func (s Schedule) checkCalendars() error {
	given := len(s.Include) + len(s.Exclude)
	switch {
	case given == 0 && s.OnExcluded != "":
		return invalid("schedule.on_excluded", string(s.OnExcluded), "with exclude or include", "on_excluded is given, and no calendar", "name the calendars in schedule.exclude or schedule.include, or leave it out")
	case given > MaxCalendars:
		return invalid("schedule.exclude", fmt.Sprint(given), fmt.Sprintf("%d calendars", MaxCalendars), fmt.Sprintf("the schedule names %d calendars", given), "put what belongs together into one calendar")
	case len(s.Calendars()) < given:
		return invalid("schedule.exclude", fmt.Sprint(given), "each calendar once", "the schedule names a calendar twice", "name it once")
	}
	for field, names := range map[string][]string{"schedule.include": s.Include, "schedule.exclude": s.Exclude} {
		for _, name := range names {
			if err := CheckName("calendar", name); err != nil {
				return invalid(field, name, "names of calendars", "\""+Shorten(name)+"\" is no name of a calendar", "see belfry calendars list")
			}
		}
	}
	return nil
}
