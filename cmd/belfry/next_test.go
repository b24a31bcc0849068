package main

import "testing"

func TestBoundsAndIntervalsOfATriedSchedule(t *testing.T) {
	t.Parallel()
	next := func(args ...string) []string {
		return append([]string{"schedule", "next", "--after", "2026-03-28T00:00:00Z", "--zone", "UTC"}, args...)
	}
	for _, c := range []struct {
		name string
		args []string
	}{
		{"a schedule between start and end", next("0 6 * * *", "--start", "2026-04-01T06:00:00Z", "--end", "2026-04-02T06:00:00Z")},
		{"an interval counted from its start", next("--every", "90m", "--start", "2026-03-27T23:10:00Z", "--count", "2")},
		{"an interval whose start lies ahead", next("--every", "90m", "--start", "2026-04-01T00:00:00Z", "--end", "2026-04-01T02:00:00Z", "--json")},
		{"an end before the start", next("0 6 * * *", "--start", "2026-04-02T06:00:00Z", "--end", "2026-04-01T06:00:00Z")},
		{"a start that is a date", next("0 6 * * *", "--start", "2026-04-02")},
		{"an interval of nothing", next("--every", "0s")},
		{"an interval without a unit", next("--every", "90", "--json")},
		{"a jitter without a unit", next("0 6 * * *", "--jitter", "5")},
		{"lines beside a flag", []string{"schedule", "next", "--jsonl", "--gap", "SKIP"}},
		{"lines of outages beside a flag", []string{"schedule", "plan", "--jsonl", "--max", "3"}},
		{"lines beside an expression", []string{"schedule", "next", "--jsonl", "0 6 * * *"}},
		{"a window without a unit", []string{"schedule", "plan", "0 6 * * *", "--down-from", "2026-03-28T00:00:00Z", "--window", "24"}},
	} {
		t.Run(c.name, func(t *testing.T) { golden(t, c.name, belfry(t, "http://127.0.0.1:1", "", c.args...)) })
	}
}
