package jobfile

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestCalendarsStandBesideJobs(t *testing.T) {
	const de = `{"calendar":"de","zone":"Europe/Berlin","dates":["2026-04-03"],"yearly":["12-25"],"weekly":[{"days":"sat,sun"},{"days":"mon-fri","from":"22:00","to":"06:00"}]}`
	const written = "calendar: de\nzone: Europe/Berlin\ndates: [2026-04-03]\nyearly:\n- 12-25\nweekly:\n- days: sat,sun\n- {days: mon-fri, from: 22:00, to: \"06:00\"}\n"
	for says, row := range map[string]struct{ file, calendars, jobs string }{
		"a calendar alone":                       {written, de, ""},
		"a calendar in front of a job":           {written + "---\njob: a\n" + every, de, "a"},
		"a calendar behind the job":              {"job: a\n" + every + "---\n" + written, de, "a"},
		"both in a list":                         {"[" + de + `,{"job":"a","schedule":{"every":"1s"},"target":{"log":{}}}]`, de, "a"},
		"one with its name alone":                {"calendar: none\n", `{"calendar":"none"}`, ""},
		"one with nothing where a list might be": {"calendar: none\ndates:\nweekly: []\n", `{"calendar":"none"}`, ""},
		"a job and a calendar of one name":       {"calendar: a\n---\njob: a\n" + every, `{"calendar":"a"}`, "a"},
		"days that several share":                {"- {calendar: a, dates: &d [2026-12-24]}\n- {calendar: b, dates: *d}\n", `{"calendar":"a","dates":["2026-12-24"]} {"calendar":"b","dates":["2026-12-24"]}`, ""},
	} {
		t.Run(says, func(t *testing.T) {
			contents, err := Parse("jobs.yaml", []byte(row.file), today)
			if err == nil {
				err = RefuseRepeats(contents)
			}
			var calendars, jobs []string
			for _, c := range contents.Calendars {
				text, _ := json.Marshal(c.Content)
				calendars = append(calendars, string(text))
			}
			for _, e := range contents.Jobs {
				jobs = append(jobs, e.Definition.Job)
			}
			if got := strings.Join(calendars, " "); got != row.calendars || strings.Join(jobs, " ") != row.jobs || err != nil {
				t.Errorf("got %s and %v, %v", got, jobs, err)
			}
		})
	}
}

func TestACalendarIsRefusedWithTheLine(t *testing.T) {
	const fine = "calendar: a\n"
	for says, row := range map[string]struct{ file, want string }{
		"a date that is none":                {fine + "dates:\n- 2026-12-24\n- 2026-02-30\n", `4: dates[1]: "2026-02-30" is not a date (allowed: yyyy-mm-dd of 1970-2099, such as 2026-12-24)`},
		"a day of the year that is none":     {fine + "yearly: [12-24, 13-01]\n", `2: yearly[1]: "13-01" is not a day of the year (allowed: mm-dd, such as 12-25)`},
		"a zone that is none":                {"job: a\n" + every + "---\n" + fine + "zone: Mars/Olympus\n", `6: zone: "Mars/Olympus" is not a time zone`},
		"hours that are none":                {fine + "weekly:\n- days: sat\n- days: mon-fri\n  from: \"9:00\"\n", `5: weekly[1].from: "9:00" is not a time of day for from (allowed: hh:mm from 00:00 to 24:00)`},
		"a weekday that is none":             {fine + "weekly: [{days: mon-fry}]\n", `2: weekly[0].days: `},
		"a window of no length":              {fine + "weekly:\n- {days: mon, from: '09:00', to: '09:00'}\n", `3: weekly[0].to: the window from "09:00" to "09:00" is empty`},
		"a key that is not known":            {fine + "date: [2026-12-24]\n", `2: date: "date" is not a key of a calendar (allowed: calendar, dates, weekly, yearly, zone); did you mean dates?`},
		"a key of a window":                  {fine + "weekly:\n- day: mon\n", `3: weekly[0].day: "day" is not a key of weekly[0] (allowed: days, from, to)`},
		"a key of a job":                     {fine + every, `2: schedule: "schedule" is not a key of a calendar`},
		"a number for a date":                {fine + "dates: [2026]\n", `2: dates[0]: this is not text`},
		"a name that is none":                {"calendar: A B\n", `1: calendar: `},
		"no name":                            {"dates: [2026-12-24]\n", `1: calendar: `},
		"a date alone where a list belongs":  {fine + "dates: 2026-12-24\n", `2: dates: this is not a list`},
		"windows where a list belongs":       {fine + "weekly: {days: mon}\n", `2: weekly: this is not a list`},
		"a document that names both":         {"job: a\n" + every + "calendar: b\n", `4: calendar: this names both a job and a calendar (allowed: job or calendar); name the calendar in schedule.exclude`},
		"more windows than a calendar holds": {fine + "weekly: [" + strings.Repeat("{days: mon},", 51) + "]\n", `1: calendar: the calendar "a" has 0 days and 51 windows (allowed: 2000 days, 50 windows)`},
	} {
		t.Run(says, func(t *testing.T) {
			contents, err := Parse("jobs.yaml", []byte(row.file), today)
			var faults Faults
			if !errors.As(err, &faults) || len(faults) != strings.Count(faults.Error(), "jobs.yaml:") || !strings.HasPrefix(faults.Error(), "jobs.yaml:"+row.want) || len(contents.Jobs) > 0 {
				t.Errorf("got %v\nwant %s", err, row.want)
			}
		})
	}
}

func TestEveryFaultOfACalendarIsToldAtOnce(t *testing.T) {
	contents, faults := ParseSound("jobs.yaml", []byte("calendar: a\nzone: Mars\ndates: [x]\nyearly: [y]\nweekly: [{days: z}, {days: mon, from: '7'}]\n---\njob: b\n"+every+"---\ncalendar: c\ndate: []\n"), today)
	var lines []string
	for _, f := range faults {
		lines = append(lines, itoa(f.Err.Line)+" "+f.Err.Field)
	}
	const want = "12 date,2 zone,3 dates[0],4 yearly[0],5 weekly[0].days,5 weekly[1].from" // what does not read, then what breaks a rule
	if got := strings.Join(lines, ","); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(contents.Jobs) != 1 || len(contents.Calendars) > 0 || strings.Join(contents.Doubtful, " ") != "a c" {
		t.Errorf("what has no fault is %+v", contents)
	}
}

func TestACalendarGivenTwiceIsRefused(t *testing.T) {
	a, errA := Parse("a.yaml", []byte("calendar: de\n"), today)
	b, errB := Parse("b.yaml", []byte("# again\ncalendar: de\n"), today)
	a.Add(b)
	const want = `b.yaml:2: calendar: calendar "de" is given twice, first at a.yaml:1; keep one of them, or rename one`
	if err := RefuseRepeats(a); errA != nil || errB != nil || err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestAFileOfOneCalendarHoldsNothingElse(t *testing.T) {
	for says, row := range map[string]struct{ file, want string }{
		"one":               {"calendar: de\n", ""},
		"two":               {"calendar: de\n---\ncalendar: fr\n", `f:1: calendar: the file holds 2 calendars, and one is expected`},
		"none":              {"# nothing yet\n", `f:1: calendar: the file holds 0 calendars, and one is expected`},
		"a job":             {"job: a\n" + every, `f:1: job: "job" is not a key of a calendar`},
		"one without marks": {"zone: UTC\n", `f:1: calendar: `},
		"what is no object": {"- 7\n", `f:1: calendar: keys are expected here: calendar, dates, weekly, yearly, zone`},
	} {
		c, err := ParseCalendar("f", []byte(row.file))
		if row.want == "" && (err != nil || c.Content.Name != "de") || row.want != "" && (err == nil || !strings.HasPrefix(err.Error(), row.want)) {
			t.Errorf("%s: got %+v, %v", says, c, err)
		}
	}
}
