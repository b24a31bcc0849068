package holidays

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// file wraps events, each a list of properties with spaces between them; a space
// that belongs to one is written U+00A0.
func file(events ...string) []byte {
	lines := []string{"BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//test//test//EN"}
	for _, event := range events {
		lines = append(lines, "BEGIN:VEVENT", "UID:x@test", "DTSTAMP:20260101T000000Z")
		for _, property := range strings.Split(event, " ") {
			lines = append(lines, strings.ReplaceAll(property, "\u00a0", " "))
		}
		lines = append(lines, "END:VEVENT")
	}
	return []byte(strings.Join(append(lines, "END:VCALENDAR"), "\r\n") + "\r\n")
}

func TestEventsBecomeDays(t *testing.T) {
	for what, c := range map[string]struct {
		event         string
		dates, yearly string
	}{
		"a day":                                  {"DTSTART;VALUE=DATE:20260403 DTEND;VALUE=DATE:20260404", "2026-04-03", ""},
		"a day without an end":                   {"DTSTART;VALUE=DATE:20260403", "2026-04-03", ""},
		"a day that is its own end":              {"DTSTART;VALUE=DATE:20260403 DTEND;VALUE=DATE:20260403", "2026-04-03", ""},
		"several days":                           {"DTSTART;VALUE=DATE:20261230 DTEND;VALUE=DATE:20270102", "2026-12-30 2026-12-31 2027-01-01", ""},
		"every year":                             {"DTSTART;VALUE=DATE:20201225 RRULE:FREQ=YEARLY", "", "12-25"},
		"every year, in more words":              {"DTSTART;VALUE=DATE:20201225 RRULE:FREQ=YEARLY;INTERVAL=1;BYMONTH=12;BYMONTHDAY=25", "", "12-25"},
		"two days every year":                    {"DTSTART;VALUE=DATE:20201225 DTEND;VALUE=DATE:20201227 RRULE:FREQ=YEARLY", "", "12-25 12-26"},
		"three times":                            {"DTSTART;VALUE=DATE:20241225 RRULE:FREQ=YEARLY;COUNT=3", "2024-12-25 2025-12-25 2026-12-25", ""},
		"until a day":                            {"DTSTART;VALUE=DATE:20241225 RRULE:FREQ=YEARLY;UNTIL=20251231T000000Z", "2024-12-25 2025-12-25", ""},
		"the fourth Thursday in November":        {"DTSTART;VALUE=DATE:20241128 RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;COUNT=3", "2024-11-28 2025-11-27 2026-11-26", ""},
		"the last Monday in May":                 {"DTSTART;VALUE=DATE:20240527 RRULE:FREQ=YEARLY;BYMONTH=5;BYDAY=-1MO;COUNT=3", "2024-05-27 2025-05-26 2026-05-25", ""},
		"29 February, where it is":               {"DTSTART;VALUE=DATE:20240229 RRULE:FREQ=YEARLY;UNTIL=20330101", "2024-02-29 2028-02-29 2032-02-29", ""},
		"every year but one":                     {"DTSTART;VALUE=DATE:20240101 RRULE:FREQ=YEARLY;COUNT=3 EXDATE;VALUE=DATE:20250101", "2024-01-01 2026-01-01", ""},
		"a length in days":                       {"DTSTART;VALUE=DATE:20260403 DURATION:P2D", "2026-04-03 2026-04-04", ""},
		"a length in weeks":                      {"DTSTART;VALUE=DATE:20260403 DURATION:P1W", "2026-04-03 2026-04-04 2026-04-05 2026-04-06 2026-04-07 2026-04-08 2026-04-09", ""},
		"every year, two days over New Year":     {"DTSTART;VALUE=DATE:20201231 DTEND;VALUE=DATE:20210102 RRULE:FREQ=YEARLY", "", "01-01 12-31"},
		"every year, up to the end of February":  {"DTSTART;VALUE=DATE:20200227 DTEND;VALUE=DATE:20200229 RRULE:FREQ=YEARLY;UNTIL=20220101", "2020-02-27 2020-02-28 2021-02-27 2021-02-28", ""},
		"a line that is folded":                  {"DTSTART;VALUE=DA\r\n\u00a0TE:20260403", "2026-04-03", ""},
		"a cancelled one beside one that is not": {"DTSTART;VALUE=DATE:20240101 END:VEVENT BEGIN:VEVENT UID:y@test STATUS:CANCELLED DTSTART;VALUE=DATE:20240102", "2024-01-01", ""},
	} {
		t.Run(what, func(t *testing.T) {
			got, err := Parse("x", "Europe/Berlin", file(c.event))
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(got.Dates, " ") != c.dates || strings.Join(got.Yearly, " ") != c.yearly || got.Name != "x" || got.Zone != "Europe/Berlin" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestRepetitionsRunToTheEndOfTheCalendar(t *testing.T) {
	got, err := Parse("x", "UTC", file("DTSTART;VALUE=DATE:20241128 RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH", "DTSTART;VALUE=DATE:20241128"))
	if err != nil || len(got.Dates) != 76 || got.Dates[75] != "2099-11-26" || !slices.IsSorted(got.Dates) {
		t.Errorf("%d dates, %v", len(got.Dates), err)
	}
}

func TestAChangedOccurrenceTakesThePlaceOfTheOneThatItChanges(t *testing.T) {
	every := "UID:party@test DTSTART;VALUE=DATE:20240101 RRULE:FREQ=YEARLY;COUNT=3"
	for what, c := range map[string]struct{ event, dates string }{
		"moved":                   {"UID:party@test RECURRENCE-ID;VALUE=DATE:20250101 DTSTART;VALUE=DATE:20250102", "2024-01-01 2025-01-02 2026-01-01"},
		"renamed, on its own day": {"UID:party@test RECURRENCE-ID;VALUE=DATE:20250101 DTSTART;VALUE=DATE:20250101", "2024-01-01 2025-01-01 2026-01-01"},
		"cancelled":               {"UID:party@test RECURRENCE-ID;VALUE=DATE:20250101 STATUS:CANCELLED DTSTART;VALUE=DATE:20250101", "2024-01-01 2026-01-01"},
		"that of another event":   {"UID:other@test RECURRENCE-ID;VALUE=DATE:20250101 DTSTART;VALUE=DATE:20250102", "2024-01-01 2025-01-01 2025-01-02 2026-01-01"},
	} {
		got, err := Parse("x", "UTC", bytes.ReplaceAll(file(every, c.event), []byte("UID:x@test\r\n"), nil))
		if err != nil || strings.Join(got.Dates, " ") != c.dates {
			t.Errorf("%s: got %v, %v", what, got.Dates, err)
		}
	}
}

// A yearly day has no first year and no length that changes in leap years.
func TestWhatNoYearlyDaySaysBecomesDates(t *testing.T) {
	for what, c := range map[string]struct{ event, first, last string }{
		"a holiday that begins years after the file":  {"DTSTART;VALUE=DATE:20300619 RRULE:FREQ=YEARLY", "2030-06-19", "2099-06-19"},
		"two days that are 29 February in leap years": {"DTSTART;VALUE=DATE:20210228 DTEND;VALUE=DATE:20210302 RRULE:FREQ=YEARLY", "2021-02-28", "2099-03-01"},
	} {
		got, err := Parse("x", "UTC", file(c.event))
		if err != nil || len(got.Yearly) > 0 || got.Dates[0] != c.first || got.Dates[len(got.Dates)-1] != c.last {
			t.Errorf("%s: %v, %v", what, got, err)
		}
		if strings.HasPrefix(what, "two") && (!slices.Contains(got.Dates, "2024-02-29") || slices.Contains(got.Dates, "2024-03-01")) {
			t.Errorf("%s: %v", what, got.Dates)
		}
	}
}

func TestFilesThatAreNotUnderstoodAreRefusedByEvent(t *testing.T) {
	for reason, c := range map[string]struct {
		file []byte
		code job.Code
		says string
	}{
		"no calendar":          {[]byte("hello"), job.CodeInvalid, "not an iCalendar file"},
		"nothing":              {nil, job.CodeInvalid, ""},
		"no events":            {file(), job.CodeInvalid, "no events"},
		"a time of day":        {file("SUMMARY:Standup DTSTART:20260403T090000Z"), job.CodeInvalid, `"Standup" cannot be a day of rest: it is not a whole day`},
		"an end with a time":   {file("SUMMARY:Standup DTSTART;VALUE=DATE:20260403 DTEND:20260403T090000Z"), job.CodeInvalid, "DTEND"},
		"an end before":        {file("SUMMARY:Back DTSTART;VALUE=DATE:20260403 DTEND;VALUE=DATE:20260401"), job.CodeInvalid, "-2 days"},
		"two years":            {file("SUMMARY:Long DTSTART;VALUE=DATE:20260403 DTEND;VALUE=DATE:20280401"), job.CodeInvalid, "729 days"},
		"a length in hours":    {file("SUMMARY:Long DTSTART;VALUE=DATE:20260403 DURATION:PT48H"), job.CodeInvalid, "DURATION"},
		"a length of years":    {file("SUMMARY:Long DTSTART;VALUE=DATE:20260403 DURATION:P90W"), job.CodeInvalid, "DURATION"},
		"cut off at an event":  {bytes.TrimSuffix(file("DTSTART;VALUE=DATE:20260403"), []byte("END:VCALENDAR\r\n")), job.CodeInvalid, "ends before END:VCALENDAR"},
		"cut off within one":   {file("DTSTART;VALUE=DATE:20260403")[:120], job.CodeInvalid, "not an iCalendar file"},
		"two calendars":        {append(file("DTSTART;VALUE=DATE:20260403"), file("DTSTART;VALUE=DATE:20260404")...), job.CodeInvalid, "one calendar"},
		"two beginnings":       {file("SUMMARY:Off DTSTART;VALUE=DATE:20260504 DTSTART;VALUE=DATE:20260505"), job.CodeInvalid, "DTSTART"},
		"two repetitions":      {file("SUMMARY:Off DTSTART;VALUE=DATE:20260504 RRULE:FREQ=YEARLY RRULE:FREQ=WEEKLY"), job.CodeInvalid, "given twice"},
		"excepted by a rule":   {file("SUMMARY:Off DTSTART;VALUE=DATE:20260504 RRULE:FREQ=YEARLY EXRULE:FREQ=YEARLY;INTERVAL=2"), job.CodeInvalid, "EXRULE"},
		"a Thursday the 28th":  {file("SUMMARY:Off DTSTART;VALUE=DATE:20241128 RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH;BYMONTHDAY=28"), job.CodeInvalid, "RRULE"},
		"begun on another day": {file("SUMMARY:Off DTSTART;VALUE=DATE:20240101 RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH"), job.CodeInvalid, "does not begin on a day of its own repetition"},
		"all later days":       {file("SUMMARY:Off RECURRENCE-ID;VALUE=DATE;RANGE=THISANDFUTURE:20260101 DTSTART;VALUE=DATE:20260504"), job.CodeInvalid, "RECURRENCE-ID"},
		"changed at an hour":   {file("SUMMARY:Off RECURRENCE-ID:20260101T000000Z DTSTART;VALUE=DATE:20260504"), job.CodeInvalid, "RECURRENCE-ID"},
		"a weekly one":         {file("SUMMARY:Off DTSTART;VALUE=DATE:20260403 RRULE:FREQ=WEEKLY"), job.CodeInvalid, "the way it comes back is not understood"},
		"every other year":     {file("SUMMARY:Off DTSTART;VALUE=DATE:20260403 RRULE:FREQ=YEARLY;INTERVAL=2"), job.CodeInvalid, "RRULE"},
		"every Monday in May":  {file("SUMMARY:Off DTSTART;VALUE=DATE:20260504 RRULE:FREQ=YEARLY;BYMONTH=5;BYDAY=MO"), job.CodeInvalid, "RRULE"},
		"a Monday of the year": {file("SUMMARY:Off DTSTART;VALUE=DATE:20260504 RRULE:FREQ=YEARLY;BYDAY=20MO"), job.CodeInvalid, "RRULE"},
		"another month":        {file("SUMMARY:Off DTSTART;VALUE=DATE:20260504 RRULE:FREQ=YEARLY;BYMONTH=6"), job.CodeInvalid, "RRULE"},
		"further days":         {file("SUMMARY:Off DTSTART;VALUE=DATE:20260504 RDATE;VALUE=DATE:20260506"), job.CodeInvalid, "RDATE"},
		"a broken exception":   {file("SUMMARY:Off DTSTART;VALUE=DATE:20260504 RRULE:FREQ=YEARLY EXDATE:20260506T000000Z"), job.CodeInvalid, "EXDATE"},
		"too long":             {make([]byte, 1<<20+1), job.CodeTooLarge, "1048577 bytes"},
	} {
		t.Run(reason, func(t *testing.T) {
			_, err := Parse("x", "UTC", c.file)
			if job.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := Parse("x", "Mars", file("DTSTART;VALUE=DATE:20260403")); job.CodeOf(err) != job.CodeZoneUnknown {
		t.Errorf("an unknown zone: %v", err)
	}
}

func TestAnImportedHolidayMovesAJob(t *testing.T) {
	c, err := Parse("de", "Europe/Berlin", file("DTSTART;VALUE=DATE:20201225 RRULE:FREQ=YEARLY"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := schedule.CompileCalendar(c)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := schedule.Compile(job.Schedule{Cron: "0 6 25 * *", Zone: "Europe/Berlin"}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err = plan.Under(schedule.Rules{Exclude: []*schedule.Hours{h}, OnExcluded: schedule.ExcludedNext})
	if err != nil {
		t.Fatal(err)
	}
	if next, ok := plan.Next(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)); !ok || next.Format(time.RFC3339) != "2026-12-28T05:00:00Z" {
		t.Errorf("next %v", next)
	}
}

// FuzzParse: whatever the file, it is refused with a reason or gives a calendar
// that compiles.
func FuzzParse(f *testing.F) {
	f.Add(file("DTSTART;VALUE=DATE:20241128 RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH"))
	f.Add([]byte("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20260403\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("x", "UTC", data)
		if err != nil {
			if job.CodeOf(err) == "" || job.CodeOf(err) == job.CodeInternal {
				t.Fatal(err)
			}
			return
		}
		if _, err := schedule.CompileCalendar(c); err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
	})
}
