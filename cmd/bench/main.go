package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"slices"
	"strings"
)

// The exit codes.
const (
	exitKept   = 0
	exitBroken = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// measurements carry the benches out.
var measurements = map[string]func(ctx context.Context, r *report, told io.Writer) error{
	"budget":     measureBudget,
	"idle":       measureIdle,
	"precision":  measurePrecision,
	"burst":      measureBurst,
	"throughput": measureThroughput,
}

// run carries out one command line and returns the exit code.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(errOut)
	flags.Usage = func() {
		fmt.Fprintf(errOut, "usage: bench [-cpuprofile FILE] [%s]\n", strings.Join(benches, " | "))
	}
	profile := flags.String("cpuprofile", "", "write a CPU profile to this file")
	if flags.Parse(args) != nil {
		return exitUsage
	}
	bench := benches[0]
	if flags.NArg() > 0 {
		bench = flags.Arg(0)
	}
	if flags.NArg() > 1 || !slices.Contains(benches, bench) {
		flags.Usage()
		return exitUsage
	}
	stop, err := startProfile(*profile)
	if err != nil {
		fmt.Fprintf(errOut, "bench: %v\n", err)
		return exitBroken
	}
	defer stop()
	return carryOut(ctx, bench, out, errOut)
}

// startProfile writes a CPU profile to the file until stop is called; nothing
// without a file.
func startProfile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close() // a profile cut short tells so when it is read
	}, nil
}

// carryOut measures one bench, writes what it found and returns the exit code.
func carryOut(ctx context.Context, bench string, out, errOut io.Writer) int {
	r := newReport(bench)
	failure := measurements[bench](ctx, r, errOut)
	r.table(errOut)
	document, err := r.document()
	if err == nil {
		_, err = fmt.Fprintln(out, string(document))
	}
	for _, problem := range []error{failure, err} {
		if problem != nil {
			fmt.Fprintf(errOut, "bench %s: %v\n", bench, problem)
			return exitBroken
		}
	}
	if len(r.broken()) > 0 {
		return exitBroken
	}
	return exitKept
}
