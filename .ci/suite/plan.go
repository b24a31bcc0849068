package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// part is one step of a run: either a command judged by its exit code, or a
// `go test` invocation whose events are counted.
type part struct {
	name string
	// args is the command. For tests it is everything before and after
	// `go test -json`, which the runner inserts at the marker "TEST".
	args []string
	// env is added to the environment of the command.
	env []string
	// tests says that args is a test run: no test at all is then a failure.
	tests bool
	// maySkip allows skipped tests: true where -short leaves the long ones out.
	maySkip bool
	// vital ends the run when the part fails.
	vital bool
	// shows prints what the command says when it goes well, too: figures.
	shows bool
	// within is how long a command may take; zero = as long as it likes, which is
	// for those that bound themselves. It is told to stop then, and killed a minute later.
	within time.Duration
}

// sharing names the rooms whose memory is touched by more than one goroutine.
// Other pure rooms have none to race over, and the detector slows them tenfold;
// plans of schedules are shared by everything that asks for a time.
var sharing = []string{
	"pkg/schedule", "pkg/clock", "pkg/localaws", "pkg/store", "pkg/queue",
	"pkg/trigger", "pkg/execute", "pkg/dispatch", "pkg/worker", "pkg/target",
	"pkg/restore", "pkg/sweep", "pkg/archive", "pkg/signing", "pkg/observe",
	"pkg/httpapi", "functions", "cmd",
}

// all is every package, with the checks of this repository about itself, which
// the pattern ./... passes over for the dot in their path.
var all = []string{"./...", "./.ci/docs", "./.ci/packages", "./.ci/suite", "./.ci/walls"}

func planOf(name string) ([]part, error) {
	switch name {
	case "test":
		return []part{
			{name: "deps", args: []string{".ci/deps"}, vital: true},
			{name: "build", args: []string{"make", "build"}},
			{name: "lint", args: []string{"make", "lint"}},
			testPart("tests", nil, []string{"-count=1", "-shuffle=on", "-timeout=15m"}, all),
			racePart("-short", "-timeout=15m"),
			conformancePart(),
			{name: "infra", args: []string{"make", "infra-test"}},
			{name: "infra lint", args: []string{"make", "infra-lint"}},
			{name: "packages", args: []string{"make", "packages"}, shows: true, within: 10 * time.Minute},
			{name: "synth", args: []string{"make", "synth.check"}, within: 10 * time.Minute},
			{name: "synth, fresh clone", args: []string{"make", "synth.clone"}, within: 10 * time.Minute},
			stackPart(),
		}, nil
	case "race":
		return []part{racePart("-short", "-timeout=15m")}, nil
	case "conformance":
		return []part{conformancePart()}, nil
	case "prove":
		return provePlan()
	default:
		return nil, fmt.Errorf("no plan %q: test, race, conformance or prove", name)
	}
}

// provePlan is what a developer runs before a release or after touching the
// protocol. BELFRY_PROVE=1 tells explorations and crash runs to go their full
// depth.
func provePlan() ([]part, error) {
	deep := []string{"BELFRY_PROVE=1"}
	whole := testPart("full depth", nil, []string{"-count=1", "-timeout=60m"}, all)
	whole.env = deep
	again := testPart("ten shuffles", nil, []string{"-short", "-count=10", "-shuffle=on", "-timeout=60m"}, all)
	again.maySkip = true
	race := racePart("-count=3", "-timeout=60m")
	parts := []part{{name: "deps", args: []string{".ci/deps"}, vital: true}, whole, again, race}
	fuzz, err := fuzzParts(os.Getenv("FUZZTIME"))
	return append(parts, fuzz...), err
}

func testPart(name string, before, flags, packages []string) part {
	args := append([]string{}, before...)
	args = append(args, "TEST")
	args = append(args, flags...)
	return part{name: name, args: append(args, packages...), tests: true}
}

// conformancePart gives the cases a peer: without one they would only agree
// with the local backend. The tag keeps the peer's tests out of every other run.
func conformancePart() part {
	return testPart("conformance", []string{".ci/with-moto"},
		[]string{"-tags=conformance", "-count=1", "-timeout=15m"}, []string{"./pkg/localaws/conformance/...", "./pkg/archive/bucket", "./pkg/worker/idempotent/object", "./pkg/target/..."})
}

// stackPart deploys to an emulator of its own, on a port that nothing else has: one
// that a developer has up is left alone.
func stackPart() part {
	p := part{name: "stack", args: []string{"localstack/stack", "test"}, within: 20 * time.Minute}
	if os.Getenv("STACK_PORT") == "" {
		p.env = []string{"STACK_PORT=free"}
	}
	return p
}

func racePart(flags ...string) part {
	var rooms []string
	for _, room := range sharing {
		if _, err := os.Stat(room); err == nil {
			rooms = append(rooms, "./"+room+"/...")
		}
	}
	p := testPart("race", nil, append([]string{"-race", "-shuffle=on"}, flags...), rooms)
	p.env = []string{"CGO_ENABLED=1"}
	p.maySkip = strings.Contains(strings.Join(flags, " "), "-short")
	return p
}
