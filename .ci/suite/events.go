package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// counts is what a test run came to. Only leaves count: a test that has
// sub-tests is their heading.
type counts struct {
	passed, failed, skipped int
}

func (c *counts) add(o counts) {
	c.passed += o.passed
	c.failed += o.failed
	c.skipped += o.skipped
}

// event is the part of a line of `go test -json` that is read here.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build output, instead of Package
	Test        string
	Output      string
	FailedBuild string
}

// tally follows one event stream.
type tally struct {
	verdict  map[string]string   // package + test → pass, fail, skip
	open     map[string]bool     // began, no verdict yet
	parent   map[string]bool     // has sub-tests
	output   map[string][]string // package + test, or package alone
	packages map[string]string   // package → pass, fail, skip
	failures []string            // keys in the order in which they failed
}

func newTally() *tally {
	return &tally{
		verdict: map[string]string{}, open: map[string]bool{}, parent: map[string]bool{},
		output: map[string][]string{}, packages: map[string]string{},
	}
}

// read follows r to its end. A line that is no event is what the go command
// itself had to say; it is kept with the failures.
func (t *tally) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				e = event{Action: "output", Package: "go", Output: string(line)}
			}
			t.see(e)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading test events: %w", err)
		}
	}
}

func key(pkg, test string) string {
	if test == "" {
		return pkg
	}
	return pkg + " " + test
}

func (t *tally) see(e event) {
	if e.Package == "" {
		e.Package = e.ImportPath
	}
	k := key(e.Package, e.Test)
	switch e.Action {
	case "run":
		t.open[k] = true
		if i := strings.LastIndex(e.Test, "/"); i > 0 {
			t.parent[key(e.Package, e.Test[:i])] = true
		}
	case "output", "build-output":
		t.output[k] = append(t.output[k], e.Output)
	case "pass", "skip", "fail":
		t.close(e, k)
	}
}

func (t *tally) close(e event, k string) {
	if e.Test != "" {
		delete(t.open, k)
		// A repeated run (-count) keeps the worst verdict.
		if t.verdict[k] != "fail" {
			t.verdict[k] = e.Action
		}
	} else {
		t.packages[k] = e.Action
		if e.FailedBuild != "" {
			t.output[k] = append(t.output[e.FailedBuild], t.output[k]...)
		}
	}
	if e.Action == "fail" && !slices.Contains(t.failures, k) {
		t.failures = append(t.failures, k)
	}
}

// sum counts leaves. A package that failed without any failed test (it did not
// build, it panicked outside a test, it ran out of time) counts as one failure,
// and so does a test that began and never ended.
func (t *tally) sum() counts {
	var c counts
	blamed := map[string]bool{}
	for k, verdict := range t.verdict {
		if verdict == "fail" {
			blamed[strings.SplitN(k, " ", 2)[0]] = true
		}
		if t.parent[k] && (verdict != "fail" || t.failedBelow(k)) {
			continue
		}
		switch verdict {
		case "pass":
			c.passed++
		case "skip":
			c.skipped++
		case "fail":
			c.failed++
		}
	}
	for k := range t.open {
		blamed[strings.SplitN(k, " ", 2)[0]] = true
		c.failed++
	}
	for pkg, verdict := range t.packages {
		if verdict == "fail" && !blamed[pkg] {
			c.failed++
		}
	}
	return c
}

// failedBelow tells whether a heading failed because a sub-test did, rather than
// by an assertion of its own.
func (t *tally) failedBelow(k string) bool {
	for other, verdict := range t.verdict {
		if verdict == "fail" && strings.HasPrefix(other, k+"/") {
			return true
		}
	}
	return false
}

// Beyond these a log is longer than anyone reads: the first failures tell, and
// the closing line has the number of all.
const (
	mostExplained = 40
	mostLines     = 60
)

// explain writes the output of what failed and the names of what was skipped.
func (t *tally) explain(w io.Writer) {
	explained := 0
	for _, k := range t.failures {
		if t.parent[k] && t.failedBelow(k) {
			continue
		}
		if explained++; explained > mostExplained {
			fmt.Fprintln(w, "--- and more")
			break
		}
		fmt.Fprintf(w, "--- failed: %s\n", k)
		for _, line := range tail(t.output[k], mostLines) {
			fmt.Fprint(w, line)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(t.open)) {
		fmt.Fprintf(w, "--- began and never ended: %s\n", k)
	}
	if _, said := t.output["go"]; said {
		fmt.Fprint(w, strings.Join(tail(t.output["go"], mostLines), ""))
	}
	for _, k := range slices.Sorted(maps.Keys(t.verdict)) {
		if t.verdict[k] == "skip" && !t.parent[k] {
			fmt.Fprintf(w, "--- skipped: %s\n", k)
		}
	}
}

func tail(lines []string, n int) []string {
	if len(lines) <= n {
		return lines
	}
	return append([]string{fmt.Sprintf("… %d lines before\n", len(lines)-n)}, lines[len(lines)-n:]...)
}
