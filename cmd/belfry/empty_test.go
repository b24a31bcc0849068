package main

import (
	"strings"
	"testing"
)

// A script passes the variable that nobody set: nothing is done that was not asked
// for, whatever leaving the value out would have meant.
func TestAnEmptyValueIsRefused(t *testing.T) {
	t.Parallel()
	url := service(t)
	if made := belfry(t, url, jobsFile, "apply", "-f", "-"); made.code != 0 {
		t.Fatal(made)
	}
	for says, args := range map[string][]string{
		"an edit that was to take effect later":    {"jobs", "patch", "nightly", "timeout=9m", "--effective-at", ""},
		"the same in one word":                     {"jobs", "patch", "nightly", "timeout=9m", "--effective-at="},
		"a backfill up to a time":                  {"backfill", "nightly", "--from", "2026-07-01T00:00:00Z", "--to", ""},
		"a run that was to be one when repeated":   {"jobs", "run", "nightly", "--idempotency-key", ""},
		"a list of one job":                        {"executions", "list", ""},
		"another installation":                     {"--url", "", "jobs", "delete", "nightly"},
		"a file by its short name":                 {"apply", "-f", ""},
		"a preview in a zone, where none is asked": {"schedule", "next", "30 3 * * *", "--zone", ""},
	} {
		if got := belfry(t, url, "", args...); got.code != 2 || !strings.Contains(got.err, "is empty") || !strings.Contains(got.err, "see: belfry") {
			t.Errorf("%s: %v gives %d: %s%s", says, args, got.code, got.out, got.err)
		}
	}
	if got := belfry(t, url, "", "jobs", "get", "nightly"); !strings.Contains(got.out, "revision:     1\n") || got.code != 0 {
		t.Errorf("the job is not what it was:\n%s", got.out)
	}
	if got := belfry(t, url, "", "__complete", "jobs", "get", ""); got.code != 0 || !strings.Contains(got.out, "nightly") {
		t.Errorf("completion gives %d: %s", got.code, got.out)
	}
}
