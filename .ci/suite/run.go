package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// run carries out the parts in order, reports on w and tells whether all passed.
func run(parts []part, w io.Writer) bool {
	var results []result
	for _, p := range parts {
		fmt.Fprintf(w, "== %s\n", p.name)
		r := perform(p, w)
		results = append(results, r)
		if r.err != nil {
			fmt.Fprintf(w, "   failed: %v\n", r.err)
			if p.vital {
				break
			}
		}
	}
	return table(results, len(parts), w)
}

func perform(p part, w io.Writer) result {
	began := time.Now()
	r := result{part: p}
	if p.tests {
		r.counts, r.err = performTests(p, w)
	} else {
		r.err = performCommand(p, w)
	}
	r.elapsed = time.Since(began)
	return r
}

// performCommand is quiet about what goes well, unless the part shows it.
func performCommand(p part, w io.Writer) error {
	var said, figures bytes.Buffer
	cmd := command(p, p.args)
	cmd.Stdout, cmd.Stderr = &said, &said
	if p.shows {
		cmd.Stdout = io.MultiWriter(&said, &figures)
	}
	err := bounded(cmd, p.within)
	if err == nil {
		_, err = figures.WriteTo(w)
	} else if err != nil {
		lines := strings.SplitAfter(said.String(), "\n")
		fmt.Fprintln(w, strings.Join(tail(lines, 200), ""))
	}
	return err
}

// grace is what a command has to clean up behind itself once it was told to stop.
const grace = time.Minute

// bounded runs the command, and tells it to stop when its time is up.
func bounded(cmd *exec.Cmd, within time.Duration) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	var late atomic.Bool
	if within > 0 {
		stop := time.AfterFunc(within, func() {
			late.Store(true)
			_ = cmd.Process.Signal(syscall.SIGTERM)
		})
		defer stop.Stop()
		kill := time.AfterFunc(within+grace, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		cmd.WaitDelay = grace
	}
	err := cmd.Wait()
	if late.Load() {
		return errors.Join(fmt.Errorf("it was stopped after %v", within), err)
	}
	return err
}

func performTests(p part, w io.Writer) (counts, error) {
	cmd := command(p, insertTest(p.args))
	events, err := cmd.StdoutPipe()
	if err != nil {
		return counts{failed: 1}, err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return counts{failed: 1}, err
	}
	t := newTally()
	readErr := t.read(events)
	runErr := cmd.Wait()
	c := t.sum()
	err = verdict(p, c, errors.Join(readErr, runErr))
	if err != nil {
		t.explain(w)
		fmt.Fprint(w, strings.Join(tail(strings.SplitAfter(said.String(), "\n"), 60), ""))
	}
	return c, err
}

// verdict turns counts and the command's own end into one error or none.
func verdict(p part, c counts, runErr error) error {
	switch {
	case runErr != nil:
		return runErr
	case c.failed > 0:
		return fmt.Errorf("%d tests failed", c.failed)
	case c.passed == 0:
		return errors.New("no test ran")
	case c.skipped > 0 && !p.maySkip:
		return fmt.Errorf("%d tests were skipped; this run leaves none out", c.skipped)
	default:
		return nil
	}
}

func insertTest(args []string) []string {
	var out []string
	for _, a := range args {
		if a == "TEST" {
			out = append(out, "go", "test", "-json", "-vet=off")
			continue
		}
		out = append(out, a)
	}
	return out
}

func command(p part, args []string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), p.env...)
	return cmd
}

// table prints part → seconds and the closing line, and tells whether all went well.
// A part that is no test run counts as one check in the closing line, and a part
// that was never reached as one failure.
func table(results []result, planned int, w io.Writer) bool {
	var total counts
	var whole time.Duration
	fmt.Fprintf(w, "\n%-22s %8s %8s %8s %8s\n", "part", "seconds", "passed", "failed", "skipped")
	for _, r := range results {
		c := r.counts
		if !r.part.tests && r.err == nil {
			c.passed = 1
		}
		if r.err != nil && c.failed == 0 {
			c.failed = 1
		}
		total.add(c)
		whole += r.elapsed
		fmt.Fprintf(w, "%-22s %8.1f %8d %8d %8d\n", r.part.name, r.elapsed.Seconds(), c.passed, c.failed, c.skipped)
	}
	if unreached := planned - len(results); unreached > 0 {
		fmt.Fprintf(w, "%d parts were not reached\n", unreached)
		total.failed += unreached
	}
	fmt.Fprintf(w, "%-22s %8.1f\n\n", "all", whole.Seconds())
	fmt.Fprintf(w, "%d passed, %d failed", total.passed, total.failed)
	if total.skipped > 0 {
		fmt.Fprintf(w, ", %d skipped", total.skipped)
	}
	fmt.Fprintln(w)
	return total.failed == 0
}
