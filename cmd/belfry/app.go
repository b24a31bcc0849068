package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
)

// app is what every command is given of the world outside.
type app struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
	now      func() time.Time
	local    *time.Location // the person's own zone
	color    bool

	json bool   // --json
	url  string // --url
}

// run carries out one command line and tells the exit code.
func run(ctx context.Context, a *app, args []string) int {
	answer := &written{to: a.out}
	a.out = answer
	root := a.root()
	root.SetArgs(args)
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error { return noneEmpty(c, args) }
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(ctx)
	if err == nil && answer.err != nil {
		err = fmt.Errorf("the answer could not be written: %w", answer.err)
	}
	if err == nil {
		return exitOK
	}
	// A flag that is none ends the reading of flags before --json is met.
	a.json = a.json || slices.Contains(args, "--json")
	return a.report(err, root.Name())
}

// written remembers the first error of what is written through it: a text that
// was cut off must not end as a success.
type written struct {
	to  io.Writer
	err error
}

func (w *written) Write(data []byte) (int, error) {
	n, err := w.to.Write(data)
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "belfry",
		Short: "Schedule jobs, watch their executions, and see why each became what it is",
		Long: `Schedule jobs, watch their executions, and see why each became what it is.

The API is found at --url, else at BELFRY_URL, else at ` + client.DefaultURL + `.
With BELFRY_AUTH=iam calls are signed with the AWS credentials that the AWS
command line would use; with BELFRY_AUTH=bearer, or none, BELFRY_TOKEN is sent.

Exit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 conflict, 5 refused by
validation, 6 unreachable, 7 not let in; apply --dry-run: 0 no change, 10 changes.`,
		Example:       "  belfry apply -f examples/jobs.yaml\n  belfry executions list every-ten-seconds\n  belfry schedule next '30 3 * * *' --zone Europe/Berlin",
		SilenceErrors: true, SilenceUsage: true,
		Args: noSuchCommand, RunE: showHelp,
	}
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print one JSON document instead of text")
	root.PersistentFlags().StringVar(&a.url, "url", "", "base URL of the API (default $BELFRY_URL, then "+client.DefaultURL+")")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(c, "%v", err) })
	root.AddCommand(a.jobsCommand(), a.executionsCommand(), a.backfillCommand(), a.deadCommand(), a.replayCommand(), a.breakersCommand(), a.scheduleCommand(), a.calendarsCommand(), a.payloadCommand(), a.applyCommand(), a.reconcileCommand(), a.shardsCommand(), a.doctorCommand(), a.costCommand(), a.healthCommand(), a.versionCommand(), a.devCommand())
	return root
}

// noneEmpty refuses an argument and a flag's value that are empty, as a variable is
// that nobody set: left out they would mean something else, such as now, or all.
// A shell that asks for completions passes an empty word.
func noneEmpty(c *cobra.Command, args []string) error {
	if c.Name() == cobra.ShellCompRequestCmd || c.Name() == cobra.ShellCompNoDescRequestCmd {
		return nil
	}
	for i, arg := range args {
		switch {
		case arg == "--":
			return nil
		case arg == "" && i > 0 && strings.HasPrefix(args[i-1], "-"):
			return usage(c, "%s is empty: give it a value, or leave it out", args[i-1])
		case arg == "":
			return usage(c, "an argument is empty: give it a value, or leave it out")
		case strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "="):
			return usage(c, "%s is empty: give it a value, or leave it out", strings.TrimSuffix(arg, "="))
		}
	}
	return nil
}

func showHelp(c *cobra.Command, _ []string) error { return c.Help() }

// api makes the client that the flags and the environment name.
func (a *app) api(ctx context.Context) (*client.Client, error) {
	base := a.url
	if base == "" {
		base = a.env("BELFRY_URL")
	}
	// apply sends several jobs at once; each keeps its connection.
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = atOnce
	options := client.Options{BaseURL: base, HTTP: &http.Client{Timeout: 60 * time.Second, Transport: transport}, Retries: 2, Wait: wait, Spread: rand.Float64}
	if err := a.signsIn(ctx, &options); err != nil {
		return nil, err
	}
	api, err := client.New(options)
	if err != nil {
		return nil, &usageError{message: err.Error(), command: "belfry"}
	}
	return api, nil
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// signOfLife is after how long a command says that it is still at work.
const signOfLife = 2 * time.Second

// busy runs work and, while it takes long, tells on stderr what it is at. With
// --json stderr is left to refusals.
func (a *app) busy(ctx context.Context, what func() string, work func(context.Context) error) error {
	if a.json {
		return work(ctx)
	}
	done, told := make(chan struct{}), make(chan struct{})
	begun := a.now()
	go func() {
		defer close(told)
		ticker := time.NewTicker(signOfLife)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				fmt.Fprintf(a.err, "… %s (%s)\n", what(), a.now().Sub(begun).Round(time.Second))
			}
		}
	}()
	err := work(ctx)
	close(done)
	<-told
	return err
}

// call makes the client and one call with it.
func (a *app) call(c *cobra.Command, work func(context.Context, *client.Client) error) error {
	api, err := a.api(c.Context())
	if err != nil {
		return err
	}
	return a.busy(c.Context(), func() string { return "waiting for " + api.URL() }, func(ctx context.Context) error { return work(ctx, api) })
}

// print writes the JSON document or has the text written.
func (a *app) print(document any, text func()) error {
	if !a.json {
		text()
		return nil
	}
	return writeJSON(a.out, document)
}

func writeJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(document)
}
