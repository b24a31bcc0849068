package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAnAnswerThatCouldNotBeWrittenIsAFailure(t *testing.T) {
	rows := map[string][]string{
		"text":  {"version"},
		"JSON":  {"version", "--json"},
		"times": {"schedule", "next", "@daily", "--zone", "UTC"},
		"help":  {"jobs", "--help"},
	}
	for name, args := range rows {
		var errs bytes.Buffer
		a := &app{in: strings.NewReader(""), out: full{}, err: &errs, env: func(string) string { return "" }, now: func() time.Time { return noon }, local: time.UTC}
		if code := run(t.Context(), a, args); code != exitFailed || !strings.Contains(errs.String(), "no space left on device") || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s ends with %d and says %q", name, code, errs.String())
		}
	}
}
