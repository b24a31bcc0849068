package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/belfry-scheduler/belfry/cmd/belfry/jobfile"
	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// atOnce is how many jobs an apply sends side by side.
const atOnce = 8

// applied is one job of an apply's answer.
type applied struct {
	client.PutResult
	File   string         `json:"file"`
	Line   int            `json:"line"`
	zone   *time.Location // of its schedule
	jitter job.Duration   // of its schedule
}

// applyAnswer is the JSON document of an apply.
type applyAnswer struct {
	DryRun  bool      `json:"dry_run"`
	Changes int       `json:"changes"`
	Jobs    []applied `json:"jobs"`
}

func (a *app) applyCommand() *cobra.Command {
	var files []string
	var dryRun bool
	c := &cobra.Command{Use: "apply -f FILE", Short: "Create and edit jobs as files say",
		Long: `Create and edit jobs as files say. FILE is a YAML file, a directory (its *.yaml and
*.yml files) or - for stdin; -f may be repeated. All files are read and judged,
here and by the service, before anything is written. Jobs that no file names are
left alone. Applying the same files again changes nothing.

With --dry-run nothing is written; exit code 0 means no change, 10 changes.`,
		Example: "  belfry apply -f examples/jobs.yaml\n  belfry apply -f jobs/ --dry-run\n  generate-jobs | belfry apply -f -", Args: upTo(0)}
	c.Flags().StringArrayVarP(&files, "file", "f", nil, "file or directory of jobs, or - for stdin (repeatable)")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would change")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if len(files) == 0 {
			return usage(c, "say what to apply with -f FILE")
		}
		entries, err := a.readJobs(c, files)
		return a.applyRead(c.Context(), entries, err, dryRun)
	}
	return c
}

// askWithin is how long the service is asked about jobs when others already have
// faults: whoever is to mend them does not wait for one that is away.
const askWithin = 10 * time.Second

// applyRead applies what was read. When files have faults nothing is applied, and
// the service is asked what it refuses of their other jobs, so that all faults are
// told in one go; without an answer those of the files are told alone.
func (a *app) applyRead(ctx context.Context, entries []jobfile.Entry, err error, dryRun bool) error {
	var faults jobfile.Faults
	if err != nil && !errors.As(err, &faults) {
		return err
	}
	if len(faults) == 0 {
		return a.apply(ctx, entries, dryRun)
	}
	if api, err := a.api(ctx); err == nil && len(entries) > 0 {
		within, stop := context.WithTimeout(ctx, askWithin)
		defer stop()
		_, err := a.putAll(within, api, entries, true)
		var more jobfile.Faults
		if errors.As(err, &more) {
			return merged(faults, more)
		}
	}
	return faults
}

// merged are faults of the files and of the service, file by file, by their lines.
func merged(faults, more jobfile.Faults) jobfile.Faults {
	all, place := slices.Concat(faults, more), map[string]int{}
	for _, f := range all {
		if _, known := place[f.File]; !known {
			place[f.File] = len(place)
		}
	}
	slices.SortStableFunc(all, func(a, b jobfile.Fault) int {
		return cmp.Or(place[a.File]-place[b.File], a.Err.Line-b.Err.Line)
	})
	return all
}

// apply asks the service about every job first and writes only when it refuses
// none of them.
func (a *app) apply(ctx context.Context, entries []jobfile.Entry, dryRun bool) error {
	api, err := a.api(ctx)
	if err != nil {
		return err
	}
	answer, err := a.putAll(ctx, api, entries, true)
	if err != nil {
		return err
	}
	if !dryRun {
		if answer, err = a.putAll(ctx, api, entries, false); err != nil {
			return err
		}
	}
	if err := a.print(answer, func() { a.showApplied(answer) }); err != nil {
		return err
	}
	if dryRun && answer.Changes > 0 {
		return silent{exitChanges}
	}
	return nil
}

// putAll sends every job, several at once, and answers in the files' order. It
// gathers what the service refuses and stops at any other failure.
func (a *app) putAll(ctx context.Context, api *client.Client, entries []jobfile.Entry, dryRun bool) (applyAnswer, error) {
	answer := applyAnswer{DryRun: dryRun, Jobs: make([]applied, len(entries))}
	refused := make([]*job.Error, len(entries))
	var done atomic.Int64
	doing := "applied %d of %d jobs"
	if dryRun {
		doing = "asked about %d of %d jobs"
	}
	err := a.busy(ctx, func() string { return fmt.Sprintf(doing, done.Load(), len(entries)) }, func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(atOnce)
		for i := range entries {
			group.Go(func() error {
				e := &entries[i]
				result, err := api.PutJob(ctx, e.Definition, client.PutOptions{DryRun: dryRun})
				done.Add(1)
				var known *job.Error
				if errors.As(err, &known) && known.Code.Class() != job.ClassBusy {
					known.Line = e.LineOf(known.Field)
					refused[i] = known
					return nil
				}
				answer.Jobs[i] = applied{PutResult: result, File: e.File, Line: e.Line, zone: zoneOf(e.Definition.Schedule), jitter: e.Definition.Schedule.Jitter}
				return err
			})
		}
		return group.Wait()
	})
	if err != nil {
		return answer, err
	}
	for _, j := range answer.Jobs {
		if j.Action != "" && j.Action != "unchanged" {
			answer.Changes++
		}
	}
	return answer, refusedJobs(entries, refused)
}

func refusedJobs(entries []jobfile.Entry, refused []*job.Error) error {
	var faults jobfile.Faults
	for i, e := range refused {
		if e != nil {
			faults = append(faults, jobfile.Fault{File: entries[i].File, Err: e})
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

func (a *app) showApplied(answer applyAnswer) {
	if len(answer.Jobs) == 0 {
		fmt.Fprintln(a.err, "the files hold no jobs")
		return
	}
	t := table{paint: a.states(0)}
	for _, j := range answer.Jobs {
		t.row(j.Action, j.Job, a.nextText(j), changeText(j.PutResult))
	}
	t.write(a.out)
	for _, j := range answer.Jobs {
		a.warn(j.Job, j.Warnings)
	}
	a.warn("", crowdOf(answer.Jobs))
	if answer.DryRun {
		fmt.Fprintf(a.out, "dry run: %d of %d jobs would change, nothing was written\n", answer.Changes, len(answer.Jobs))
	}
}

// crowdOf warns when many of the jobs that were applied fall due at once.
func crowdOf(jobs []applied) []client.Warning {
	var nexts []time.Time
	for _, j := range jobs {
		if !j.NextFireAt.IsZero() && j.jitter == 0 {
			nexts = append(nexts, j.NextFireAt.Time)
		}
	}
	if w, warned := schedule.Crowd(nexts); warned {
		return []client.Warning{client.Warning(w)}
	}
	return nil
}

// nextText is the job's next time on its own wall clock, or why it has none.
func (a *app) nextText(j applied) string {
	if j.NextFireAt.IsZero() {
		return "no next time: " + string(j.State)
	}
	return "next " + a.when(j.NextFireAt, j.zone)
}

func changeText(r client.PutResult) string {
	if r.Action != "updated" {
		return ""
	}
	var parts []string
	for _, side := range []struct {
		verb  string
		times []client.Time
	}{{"appears", r.Appear}, {"vanishes", r.Vanish}} {
		if len(side.times) == 0 {
			continue
		}
		text := side.verb + " " + side.times[0].UTC().Format("2006-01-02 15:04:05 UTC")
		if more := len(side.times) - 1; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}
