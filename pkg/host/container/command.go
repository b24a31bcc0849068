package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// The exit codes, as those of the command line tool.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitRefused = 5
)

// flags are what the command line says.
type flags struct {
	slots       int
	drain       time.Duration
	deadLetters bool
	health      bool
}

// errUsage marks a command line that cannot be carried out.
var errUsage = errors.New("see worker --help")

// Main is the main of a container worker: it serves until SIGINT or SIGTERM, drains,
// and returns the code to exit with. register adds handlers of one's own beside the
// targets that ship.
func Main(register ...func(*worker.Worker)) (exitCode int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal drains; from then on a second one ends the process at once.
	context.AfterFunc(ctx, stop)
	return run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr, register...)
}

// run carries out one command line and returns the exit code. The worker runs
// until ctx ends, then drains.
func run(ctx context.Context, args []string, lookup func(string) (string, bool), out, errOut io.Writer, register ...func(*worker.Worker)) int {
	c := command(lookup, out, register)
	c.SetArgs(twoDashes(c, args))
	c.SetOut(out)
	c.SetErr(errOut)
	err := c.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(errOut, "worker: %v\n", err)
	return codeOf(err)
}

// codeOf is the exit code for what ended the worker.
func codeOf(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, worker.ErrStuck):
		return worker.ExitStuck
	case errors.Is(err, errUsage):
		return exitUsage
	case job.CodeOf(err).Class() == job.ClassRefused && job.CodeOf(err) != "":
		return exitRefused
	}
	return exitFailed
}

func command(lookup func(string) (string, bool), out io.Writer, register []func(*worker.Worker)) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "worker",
		Short: "Run executions from the queues of Belfry's pools",
		Long:  "Run executions from the queues of Belfry's pools, until SIGINT or SIGTERM.\n\n" + environmentHelp(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("it takes no arguments, %q was given: %w", args[0], errUsage)
			}
			return nil
		},
		SilenceUsage: true, SilenceErrors: true, CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		RunE: func(c *cobra.Command, _ []string) error { return serve(c.Context(), f, lookup, out, register) },
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", err, errUsage) })
	c.Flags().IntVar(&f.slots, "slots", 0, "executions at a time in each pool (0 = as many as the pool says)")
	c.Flags().DurationVar(&f.drain, "drain", 30*time.Second, "how long running executions may go on after SIGTERM (0 = 30s); the rest is retried elsewhere")
	c.Flags().BoolVar(&f.deadLetters, "dead-letters", false, "also consume the pools' dead-letter queues, where no function does")
	c.Flags().BoolVar(&f.health, "health", false, "run nothing; ask the worker that answers at BELFRY_HEALTH how it is, and end with 0 or 1")
	return c
}

// twoDashes gives a flag that is written with a single dash its second one, as
// programs in Go that read flags by the standard library allow.
func twoDashes(c *cobra.Command, args []string) []string {
	out := slices.Clone(args)
	for i, arg := range out {
		name, _, _ := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
		if strings.HasPrefix(arg, "-") && c.Flags().Lookup(name) != nil {
			out[i] = "-" + arg
		}
	}
	return out
}

// environmentHelp documents the variables, out of their own list.
func environmentHelp() string {
	var b strings.Builder
	b.WriteString("Environment (region, endpoints and credentials are the AWS SDK's own variables):\n")
	for _, v := range assemble.Variables {
		fmt.Fprintf(&b, "  %-24s %s\n  %-24s (%s", v.Name, v.Meaning, "", v.Bound)
		if v.Default != "" {
			fmt.Fprintf(&b, "; default %s", v.Default)
		}
		b.WriteString(")\n")
	}
	return b.String()
}

func serve(ctx context.Context, f flags, lookup func(string) (string, bool), out io.Writer, register []func(*worker.Worker)) error {
	e, err := assemble.ReadEnvironment(lookup)
	if err != nil {
		return err
	}
	if f.health {
		return probe(ctx, e.Health, out)
	}
	log := slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: e.LogLevel}))
	h := newHealth(clock.System{}.Now)
	w, pools, traces, err := wire(ctx, f, e, h.hear, log, register)
	if err != nil {
		return err
	}
	traces.Install()
	defer traces.Close(context.WithoutCancel(ctx))
	h.running = w.Running
	unanswered, err := h.serve(e.Health, log)
	if err != nil {
		return err
	}
	defer unanswered() // while it drains, too
	context.AfterFunc(ctx, func() { h.draining.Store(true) })
	log.Info("worker started", slog.Any("pools", pools))
	agent, _ := lookup("ECS_AGENT_URI")
	// What still runs while it drains is protected, too.
	protected, unprotect := context.WithCancel(context.WithoutCancel(ctx))
	defer unprotect()
	var platform sync.WaitGroup
	platform.Go(func() {
		(&protection{agent: agent, running: w.Running, clock: clock.System{}, client: &http.Client{}, log: log}).run(protected)
	})
	err = w.Run(ctx)
	unprotect()
	platform.Wait()
	log.Info("worker stopped")
	return err
}
