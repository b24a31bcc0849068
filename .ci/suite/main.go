// Command suite runs the parts of a long check one after the other, counts the
// tests that really ran from the event stream of `go test -json`, and closes
// with a table of seconds and a line `N passed, N failed`.
//
// A part that fails does not stop the ones behind it: one run tells everything
// that is wrong. Only a failed set-up ends the run, since nothing after it could
// be believed.
package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: suite test|race|conformance|prove")
		os.Exit(2)
	}
	plan, err := planOf(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "suite:", err)
		os.Exit(2)
	}
	if !run(plan, os.Stdout) {
		os.Exit(1)
	}
}

// result is what one part came to.
type result struct {
	part    part
	elapsed time.Duration
	counts  counts
	err     error
}
