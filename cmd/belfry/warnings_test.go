package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestWarningsAreShownBesideTheAnswer(t *testing.T) {
	url := service(t)
	for _, c := range []struct {
		name, stdin string
		args        []string
	}{
		{"a schedule with warnings", "", []string{"schedule", "next", "*/7 2 31 * 5", "--count", "1", "--after", "2026-07-12T12:00:00Z"}},
		{"a schedule with warnings as JSON", "", []string{"schedule", "next", "*/7 * * * *", "--zone", "UTC", "--count", "1", "--after", "2026-07-12T12:00:00Z", "--json"}},
		{"applying jobs with warnings", "job: odd\nschedule: {cron: '0 0 13 * 5'}\ntarget: {log: {}}\n---\njob: even\nschedule: {every: 1h}\ntarget: {log: {}}\n", []string{"apply", "-f", "-"}},
		{"applying jobs of other dialects", "job: q\nschedule: {cron: '0 0 9 L-1 * ?', dialect: quartz, zone: UTC}\ntarget: {log: {}}\n", []string{"apply", "-f", "-"}},
	} {
		t.Run(c.name, func(t *testing.T) { golden(t, c.name, belfry(t, url, c.stdin, c.args...)) })
	}
}

func TestApplyShowsWhatSixFieldsWouldMean(t *testing.T) {
	got := belfry(t, "http://127.0.0.1:1", "job: six\nschedule: {cron: '0 0 9 * * *', zone: UTC}\ntarget: {log: {}}\n", "apply", "-f", "-")
	for _, part := range []string{"stdin:2: cron: 6 fields", `as quartz: second 0, minute 0, hour 9, day-of-month *, month *, day-of-week * – written "0 0 9 * * ?" would fire at 2`, "as aws: minute 0", "as cronexpr: minute 0"} {
		if !strings.Contains(got.err, part) || got.code != exitRefused || strings.Contains(got.err, "1970") {
			t.Errorf("exit code %d without %q: %s", got.code, part, got.err)
		}
	}
}

func TestApplyWarnsOfACrowd(t *testing.T) {
	var file strings.Builder
	for i := range 500 {
		fmt.Fprintf(&file, "---\njob: j%03d\nschedule: {cron: '0 3 * * *', zone: UTC}\ntarget: {log: {}}\n", i)
	}
	got := belfry(t, service(t), file.String(), "apply", "-f", "-", "--dry-run")
	if !strings.Contains(got.err, "500 of these jobs fall due in one second, 2026-07-13T03:00:00Z") || !strings.Contains(got.err, "jitter") {
		t.Errorf("exit code %d: %s", got.code, got.err)
	}
}
