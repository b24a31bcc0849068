package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/cmd/belfry/jobfile"
	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// jobsPut is apply for one job, with a condition on what is there.
func (a *app) jobsPut() *cobra.Command {
	var file string
	var o editFlags
	c := &cobra.Command{Use: "put -f FILE", Short: "Create or edit the one job of a file, on a condition",
		Long:    "Create or edit the one job of a file, on a condition about what is there now.\nFor several jobs, and without conditions, use belfry apply.",
		Example: "  belfry jobs put -f nightly.yaml --if-absent\n  belfry jobs put -f nightly.yaml --if-revision 3", Args: upTo(0)}
	c.Flags().StringVarP(&file, "file", "f", "", "file with one job, or - for stdin")
	c.Flags().BoolVar(&o.IfAbsent, "if-absent", false, "only if there is no such job")
	o.declare(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		switch {
		case file == "":
			return usage(c, "say what to put with -f FILE")
		case o.IfAbsent && c.Flags().Changed("if-revision"):
			return usage(c, "--if-absent and --if-revision contradict each other: give one of them")
		}
		if err := o.read(c); err != nil {
			return err
		}
		read, err := a.readJobs(c, []string{file})
		switch {
		case err != nil:
			return err
		case len(read.Calendars) > 0:
			return usage(c, "%s holds a calendar: use belfry apply, which writes both", file)
		case len(read.Jobs) != 1:
			return usage(c, "%s holds %d jobs, not one: use belfry apply", file, len(read.Jobs))
		}
		return a.call(c, func(ctx context.Context, api *client.Client) error {
			return a.put(ctx, api, &read.Jobs[0], o.PutOptions)
		})
	}
	return c
}

// editFlags are the conditions of an edit at the command line.
type editFlags struct {
	client.PutOptions
	effective string
}

func (f *editFlags) declare(c *cobra.Command) {
	c.Flags().IntVar(&f.IfMatch, "if-revision", 0, "only if this revision is current")
	c.Flags().StringVar(&f.effective, "effective-at", "", "let an edit take effect after this RFC 3339 time; times up to it stay as they are")
}

// read refuses what the flags cannot mean.
func (f *editFlags) read(c *cobra.Command) error {
	if err := checkRevision(c, f.IfMatch); err != nil || f.effective == "" {
		return err
	}
	var err error
	if f.EffectiveAt, err = time.Parse(time.RFC3339, f.effective); err != nil {
		return usage(c, "--effective-at %q is no RFC 3339 time, such as 2027-01-01T00:00:00Z", f.effective)
	}
	return nil
}

// checkRevision refuses a condition that names no revision: 0 would be none,
// and the change would be made whatever is there.
func checkRevision(c *cobra.Command, revision int) error {
	if c.Flags().Changed("if-revision") && revision < 1 {
		return usage(c, "--if-revision %d names no revision: they count from 1", revision)
	}
	return nil
}

func (a *app) put(ctx context.Context, api *client.Client, e *jobfile.Entry, o client.PutOptions) error {
	result, err := api.PutJob(ctx, e.Definition, o)
	var known *job.Error
	if errors.As(err, &known) && known.Code.Class() == job.ClassRefused {
		known.Line = e.LineOf(known.Field)
		return jobfile.Faults{{File: e.File, Err: known}}
	}
	if err != nil {
		return err
	}
	one := applied{PutResult: result, File: e.File, Line: e.Line, zone: zoneOf(e.Definition.Schedule)}
	return a.print(result, func() { a.showApplied(applyAnswer{Jobs: []applied{one}}) })
}
