package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const berlin = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nSUMMARY:Christmas\r\nDTSTART;VALUE=DATE:20201225\r\nDTEND;VALUE=DATE:20201227\r\nRRULE:FREQ=YEARLY\r\nEND:VEVENT\r\n" +
	"BEGIN:VEVENT\r\nUID:2\r\nSUMMARY:Good Friday\r\nDTSTART;VALUE=DATE:20260403\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"

func TestSchedulesUnderCalendarFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	holidays := file("Berlin 2026.ics", berlin)
	converted := belfry(t, "http://127.0.0.1:1", "", "schedule", "holidays", holidays, "--zone", "Europe/Berlin", "--name", "de")
	golden(t, "holidays as a calendar", converted)
	calendar := file("de.yaml", converted.out)
	for _, c := range []struct {
		name string
		args []string
	}{
		{"a schedule that moves off holidays", []string{"next", "0 6 25 * *", "--zone", "Europe/Berlin", "--exclude", calendar, "--on-excluded", "NEXT_BUSINESS_DAY", "--after", "2026-11-30T00:00:00Z", "--count", "2"}},
		{"a schedule that leaves holidays out", []string{"next", "0 6 * * *", "--zone", "Europe/Berlin", "--exclude", holidays, "--after", "2026-12-24T12:00:00Z", "--count", "2", "--json"}},
		{"a schedule within hours", []string{"next", "0 * * * *", "--zone", "UTC", "--include", file("office.json", `{"calendar":"office","weekly":[{"days":"mon-fri","from":"09:00","to":"17:00"}]}`), "--after", "2026-07-17T15:30:00Z", "--count", "2"}},
		{"an outage over holidays", []string{"plan", "0 6 * * *", "--zone", "Europe/Berlin", "--exclude", calendar, "--down-from", "2026-12-24T12:00:00Z", "--up-at", "2026-12-28T12:00:00Z", "--misfire", "FIRE_ALL"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			golden(t, c.name, belfry(t, "http://127.0.0.1:1", "", append([]string{"schedule"}, c.args...)...))
		})
	}
	for says, args := range map[string][]string{
		`broken.yaml:2: date: "date" is not a key of a calendar`:                 {"next", "@daily", "--exclude", file("broken.yaml", "calendar: x\ndate: [1]\n")},
		`hours.yaml:2: weekly[0].from: "9:00" is not a time of day`:              {"next", "@daily", "--exclude", file("hours.yaml", "calendar: x\nweekly: [{days: mon-fri, from: '9:00'}]\n")},
		`timed.ics: DTSTART: the event "Standup" cannot be a day of rest`:        {"holidays", file("timed.ics", strings.NewReplacer("Christmas", "Standup", ";VALUE=DATE:20201225", ":20201225T090000Z").Replace(berlin))},
		"--on-excluded says nothing without --exclude or --include":              {"next", "@daily", "--on-excluded", "SKIP"},
		`on_excluded: "MONDAY" is not a policy for on_excluded (allowed: SKIP, `: {"next", "@daily", "--exclude", calendar, "--on-excluded", "MONDAY"},
		"name 6 calendars: choose 5 at most":                                     {"next", "@daily", "--exclude", calendar, "--exclude", calendar, "--include", calendar, "--exclude", calendar, "--exclude", calendar, "--exclude", calendar},
		"cannot read":                                                            {"next", "@daily", "--exclude", filepath.Join(dir, "absent.yaml")},
	} {
		if got := belfry(t, "http://127.0.0.1:1", "", append([]string{"schedule"}, args...)...); got.code == 0 || !strings.Contains(got.err, says) {
			t.Errorf("%v: exit code %d: %s", args, got.code, got.err)
		}
	}
}
