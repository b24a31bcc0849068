package main

import (
	"strings"
	"testing"
)

const (
	holidays14 = "calendar: de\ndates: [2026-07-14]\n"
	nightlyDE  = "job: nightly\nschedule: {cron: 0 6 * * *, zone: UTC, exclude: [de]}\ntarget: {log: {}}\n"
	weeklyDE   = "job: weekly\nschedule: {cron: 0 7 * * 2, zone: UTC, exclude: [de]}\ntarget: {log: {}}\n"
)

// A story, in order: a file with a calendar behind the job that names it is applied,
// then again, then with other days, while a job of another file names the calendar too.
func TestAFileHoldsCalendarsBesideJobs(t *testing.T) {
	t.Parallel()
	url := service(t)
	moved := strings.Replace(holidays14, "14", "15", 1)
	for _, step := range []struct {
		name, stdin string
		args        []string
	}{
		{"as a dry run", nightlyDE + "---\n" + holidays14, []string{"apply", "-f", "-", "--dry-run"}},
		{"which wrote none", "", []string{"calendars", "list", "--json"}},
		{"for the first time", nightlyDE + "---\n" + holidays14, []string{"apply", "-f", "-"}},
		{"again", nightlyDE + "---\n" + holidays14, []string{"apply", "-f", "-"}},
		{"again as a dry run", nightlyDE + "---\n" + holidays14, []string{"apply", "-f", "-", "--dry-run"}},
		{"a job of another file", weeklyDE, []string{"apply", "-f", "-"}},
		{"with other days as a dry run", moved + "---\n" + nightlyDE, []string{"apply", "-f", "-", "--dry-run"}},
		{"with other days", moved + "---\n" + nightlyDE, []string{"apply", "-f", "-"}},
		{"with those days again as JSON", moved + "---\n" + nightlyDE, []string{"apply", "-f", "-", "--json"}},
		{"to the other job", "", []string{"calendars", "apply", "de"}},
		{"and nothing is left to do", moved + "---\n" + nightlyDE + "---\n" + weeklyDE, []string{"apply", "-f", "-"}},
		{"of a calendar alone", "calendar: none\n", []string{"apply", "-f", "-"}},
		{"that jobs put does not take", holidays14 + "---\n" + nightlyDE, []string{"jobs", "put", "-f", "-"}},
	} {
		golden(t, "a file with calendars "+step.name, belfry(t, url, step.stdin, step.args...))
	}
	shown := belfry(t, url, "", "calendars", "get", "de")
	if got := belfry(t, url, shown.out, "apply", "-f", "-"); got.code != 0 || !strings.HasPrefix(got.out, "calendar de unchanged, version 2;") {
		t.Errorf("what get shows is applied as %+v\n%s", got, shown.out)
	}
}

func TestAFileWithAFaultyCalendarWritesNothing(t *testing.T) {
	t.Parallel()
	large := "calendar: large\nweekly:\n" + strings.Repeat("- days: "+strings.Repeat("mon,", 300)+"tue\n", 40)
	for name, file := range map[string]string{
		"by what the file says":           "calendar: de\nzone: Mars\ndates:\n- 2026-07-14\n- 14 July\n---\n" + nightlyDE + "---\njob: a\nschedule: {every: 1h, include: [nowhere]}\ntarget: {log: {}}\n",
		"by what only the service judges": large + "---\n" + strings.ReplaceAll(nightlyDE, "[de]", "[large]") + "---\n" + strings.ReplaceAll(weeklyDE, "[de]", "[fr, it]"),
		"in a time that never comes":      "calendar: never\n---\n" + strings.ReplaceAll(nightlyDE, "exclude: [de]", "include: [never]"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := service(t)
			golden(t, "a faulty file with calendars "+name, belfry(t, url, file, "apply", "-f", "-"))
			for _, list := range []string{"calendars", "jobs"} {
				if got := belfry(t, url, "", list, "list", "--json"); !strings.HasPrefix(got.out, `{"items":[]`) {
					t.Errorf("%s were written: %s", list, got.out)
				}
			}
		})
	}
}
