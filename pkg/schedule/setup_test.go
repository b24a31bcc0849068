package schedule

import (
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// instantOf reads a time that the test's author wrote.
func instantOf(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func compiled(t testing.TB, s job.Schedule) *Plan {
	t.Helper()
	return compiledFrom(t, s, time.Time{})
}

func compiledFrom(t testing.TB, s job.Schedule, anchor time.Time) *Plan {
	t.Helper()
	plan, err := Compile(s, anchor)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// timesAfter lists the next n times as RFC 3339 text.
func timesAfter(p *Plan, after time.Time, n int) []string {
	list := []string{}
	for at, ok := p.Next(after); ok && len(list) < n; at, ok = p.Next(at) {
		list = append(list, at.Format(time.RFC3339))
	}
	return list
}
