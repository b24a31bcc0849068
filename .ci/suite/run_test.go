package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestVerdict(t *testing.T) {
	for sentence, c := range map[string]struct {
		part part
		c    counts
		run  error
		want string
	}{
		"all passed":                         {part{}, counts{passed: 2}, nil, ""},
		"the command failed":                 {part{}, counts{passed: 2}, errors.New("exit status 1"), "exit status 1"},
		"a test failed":                      {part{}, counts{passed: 2, failed: 1}, nil, "1 tests failed"},
		"nothing ran":                        {part{}, counts{}, nil, "no test ran"},
		"a test was skipped in the full run": {part{}, counts{passed: 1, skipped: 1}, nil, "1 tests were skipped"},
		"a long test was left out of a short run": {
			part{maySkip: true}, counts{passed: 1, skipped: 1}, nil, "",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := verdict(c.part, c.c, c.run)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("said %v, want %q", err, c.want)
			}
		})
	}
}

func TestRunGoesOnAfterAFailureAndCountsIt(t *testing.T) {
	var out bytes.Buffer
	ok := run([]part{
		{name: "bad", args: []string{"sh", "-c", "echo reason; exit 3"}},
		{name: "good", args: []string{"true"}},
	}, &out)
	if ok {
		t.Error("the run passed although a part failed")
	}
	for _, want := range []string{"reason", "\n1 passed, 1 failed\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

func TestFiguresAreShownWhenAllGoesWell(t *testing.T) {
	for shows, want := range map[bool]int{true: 1, false: 0} {
		var out bytes.Buffer
		if !run([]part{{name: "sizes", args: []string{"sh", "-c", "echo 4.62 MB; echo hush >&2"}, shows: shows}}, &out) {
			t.Errorf("it failed:\n%s", out.String())
		}
		if strings.Count(out.String(), "4.62 MB") != want || strings.Contains(out.String(), "hush") {
			t.Errorf("shown when %v:\n%s", shows, out.String())
		}
	}
}

func TestACommandThatTakesTooLongIsToldToStop(t *testing.T) {
	var out bytes.Buffer
	endless := "trap 'echo cleaned up; exit 0' TERM; while :; do read -t 1 line <> <(:); done"
	if run([]part{{name: "endless", args: []string{"bash", "-c", endless}, within: 100 * time.Millisecond}}, &out) {
		t.Error("it passed")
	}
	for _, want := range []string{"cleaned up", "stopped after 100ms", "0 passed, 1 failed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

func TestAFailedSetUpEndsTheRun(t *testing.T) {
	var out bytes.Buffer
	ok := run([]part{
		{name: "deps", args: []string{"false"}, vital: true},
		{name: "good", args: []string{"true"}},
	}, &out)
	if ok {
		t.Error("the run passed although its set-up failed")
	}
	if !strings.Contains(out.String(), "\n0 passed, 2 failed\n") {
		t.Errorf("the part that was not reached is not counted:\n%s", out.String())
	}
}

func TestARunOfTestsIsCountedFromItsEvents(t *testing.T) {
	var out bytes.Buffer
	p := part{name: "tests", tests: true, args: []string{"sh", "-c",
		`echo '{"Action":"run","Package":"p","Test":"A"}'; echo '{"Action":"pass","Package":"p","Test":"A"}'`}}
	if !run([]part{p}, &out) {
		t.Errorf("refused:\n%s", out.String())
	}
	if !strings.HasSuffix(out.String(), "\n1 passed, 0 failed\n") {
		t.Errorf("closing line is wrong:\n%s", out.String())
	}
}

func TestEveryPlanIsKnown(t *testing.T) {
	for _, name := range []string{"test", "race", "conformance"} {
		if parts, err := planOf(name); err != nil || len(parts) == 0 {
			t.Errorf("plan %s: %v, %v", name, parts, err)
		}
	}
	if _, err := planOf("everything"); err == nil {
		t.Error("an unknown plan was accepted")
	}
}
