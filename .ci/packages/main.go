package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"text/tabwriter"
	"time"
)

// The budgets; docs/benchmarks.md has them beside the others.
const (
	mostBytes = 10_000_000 // of a zipped package
	mostInit  = 150 * time.Millisecond
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "packages: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var m measuring
	flags := flag.NewFlagSet("packages", flag.ContinueOnError)
	flags.StringVar(&m.built, "built", "build", "the folder of what is deployed, a folder with a bootstrap for each function")
	flags.StringVar(&m.native, "native", "", "the same, built for this machine, to be started; empty: nothing is started")
	flags.IntVar(&m.starts, "starts", 10, "how often each function is started")
	flags.Int64Var(&m.most, "most", mostBytes, "how many bytes a package may have")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 || m.starts < 1 {
		return fmt.Errorf("say which functions (%d given) and one start or more (%d)", flags.NArg(), m.starts)
	}
	return m.all(ctx, flags.Args(), out)
}

// measuring is what the command line asks for.
type measuring struct {
	built, native string
	starts        int
	most          int64
}

// all measures each function, prints a line for it, and answers what is over the
// budget.
func (m measuring) all(ctx context.Context, functions []string, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "function\tMB zipped\tinit p50\tinit p90\t")
	var over []string
	for _, function := range functions {
		size, err := zipped(filepath.Join(m.built, function, "bootstrap"))
		if err != nil {
			return err
		}
		if size > m.most {
			over = append(over, function)
		}
		p50, p90, err := m.inits(ctx, function)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\t%.2f\t%s\t%s\t\n", function, float64(size)/1e6, p50, p90)
	}
	fmt.Fprintf(w, "budget\t%.2f\t\t%d ms\t\n", float64(m.most)/1e6, mostInit.Milliseconds())
	if err := w.Flush(); err != nil {
		return err
	}
	if over != nil {
		return fmt.Errorf("larger than %d bytes: %v", m.most, over)
	}
	return nil
}

// inits are the median and the ninth of ten of a function's starts, as text.
func (m measuring) inits(ctx context.Context, function string) (p50, p90 string, err error) {
	if m.native == "" || runtime.GOOS != "linux" {
		return "-", "-", nil
	}
	took, err := startOften(ctx, filepath.Join(m.native, function, "bootstrap"), m.starts)
	if err != nil {
		return "", "", err
	}
	text := func(d time.Duration) string { return fmt.Sprintf("%d ms", d.Milliseconds()) }
	return text(took[(len(took)-1)/2]), text(took[(len(took)*9+9)/10-1]), nil
}
