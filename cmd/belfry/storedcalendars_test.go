package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A story, in order: a calendar is imported, a job of a file names it, it changes, the
// change is applied, and while it is named it cannot be deleted.
func TestCalendarsAtTheCommandLine(t *testing.T) {
	url := service(t)
	ics := filepath.Join(t.TempDir(), "berlin.ics")
	if err := os.WriteFile(ics, []byte(berlin), 0o600); err != nil {
		t.Fatal(err)
	}
	const nightly = "job: nightly\nschedule:\n  cron: 0 6 * * *\n  zone: UTC\n  exclude: [de]\ntarget: {log: {}}\n"
	for _, step := range []struct {
		name, stdin string
		args        []string
	}{
		{"calendars a job that names none there is", nightly, []string{"apply", "-f", "-"}},
		{"calendars import", "", []string{"calendars", "import", ics, "--zone", "UTC", "--name", "de"}},
		{"calendars a job that names one", nightly, []string{"apply", "-f", "-"}},
		{"calendars the job", "", []string{"jobs", "get", "nightly"}},
		{"calendars put as a dry run", "calendar: de\ndates: ['2026-07-14']\n", []string{"calendars", "put", "-f", "-", "--dry-run"}},
		{"calendars put", "calendar: de\ndates: ['2026-07-14']\n", []string{"calendars", "put", "-f", "-"}},
		{"calendars get", "", []string{"calendars", "get", "de"}},
		{"calendars apply", "", []string{"calendars", "apply", "de"}},
		{"calendars put and apply", "calendar: de\ndates: ['2026-07-15']\n", []string{"calendars", "put", "-f", "-", "--apply"}},
		{"calendars list", "", []string{"calendars", "list"}},
		{"calendars delete while it is named", "", []string{"calendars", "delete", "de"}},
		{"calendars put of no calendar", "calendar: de\ndate: []\n", []string{"calendars", "put", "-f", "-"}},
		{"calendars put of no version", "calendar: de\n", []string{"calendars", "put", "-f", "-", "--if-version", "0"}},
	} {
		golden(t, step.name, belfry(t, url, step.stdin, step.args...))
	}
}
