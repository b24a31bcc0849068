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

// atOnce is how many puts an apply sends side by side.
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
	DryRun    bool              `json:"dry_run"`
	Changes   int               `json:"changes"`
	Calendars []appliedCalendar `json:"calendars"`
	Jobs      []applied         `json:"jobs"`
}

func (a *app) applyCommand() *cobra.Command {
	var files []string
	var dryRun bool
	c := &cobra.Command{Use: "apply -f FILE", Short: "Create and edit jobs and calendars as files say",
		Long: `Create and edit jobs and calendars as files say. FILE is a YAML file, a directory (its
*.yaml and *.yml files) or - for stdin; -f may be repeated. All files are read and
judged, here and by the service, before anything is written. Jobs and calendars that
no file names are left alone. Applying the same files again changes nothing.

A document that begins with calendar: is a calendar (see belfry calendars --help), any
other is a job. Calendars are written before the jobs, wherever they stand. A calendar
that changes does so for the jobs of the files; what it does to others is shown, and
done by: belfry calendars apply.

With --dry-run nothing is written; exit code 0 means no change, 10 changes.`,
		Example: "  belfry apply -f examples/jobs.yaml\n  belfry apply -f examples/calendars.yaml --dry-run\n  belfry apply -f jobs/ --dry-run\n  generate-jobs | belfry apply -f -", Args: upTo(0)}
	c.Flags().StringArrayVarP(&files, "file", "f", nil, "file or directory of jobs and calendars, or - for stdin (repeatable)")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "only say what would change")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if len(files) == 0 {
			return usage(c, "say what to apply with -f FILE")
		}
		read, err := a.readJobs(c, files)
		return a.applyRead(c.Context(), read, err, dryRun)
	}
	return c
}

// askWithin is how long the service is asked about jobs when others already have
// faults: whoever is to mend them does not wait for one that is away.
const askWithin = 10 * time.Second

// applyRead applies what was read. When files have faults nothing is applied, and
// the service is asked what it refuses of the rest, so that all faults are told in
// one go; without an answer those of the files are told alone.
func (a *app) applyRead(ctx context.Context, read jobfile.Contents, err error, dryRun bool) error {
	var faults jobfile.Faults
	if err != nil && !errors.As(err, &faults) {
		return err
	}
	if len(faults) == 0 {
		return a.apply(ctx, read, dryRun)
	}
	if api, err := a.api(ctx); err == nil && len(read.Jobs)+len(read.Calendars) > 0 {
		within, stop := context.WithTimeout(ctx, askWithin)
		defer stop()
		_, err := a.ask(within, api, read)
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

// apply asks the service about everything first and writes only when it refuses
// none of it.
func (a *app) apply(ctx context.Context, read jobfile.Contents, dryRun bool) error {
	api, err := a.api(ctx)
	if err != nil {
		return err
	}
	answer, err := a.ask(ctx, api, read)
	if err == nil && !dryRun {
		answer, err = a.write(ctx, api, read)
	}
	if err != nil {
		return err
	}
	if err := a.print(answer, func() { a.showApplied(answer) }); err != nil {
		return err
	}
	if dryRun && answer.Changes > 0 {
		return silent{exitChanges}
	}
	return nil
}

// ask tells what an apply would do. Jobs are judged under the calendars as the files
// have them; those that name one of which nothing is known yet, since it has faults,
// are left out.
func (a *app) ask(ctx context.Context, api *client.Client, read jobfile.Contents) (applyAnswer, error) {
	calendars, err := a.putCalendars(ctx, api, read.Calendars, true)
	var refused jobfile.Faults
	if err != nil && !errors.As(err, &refused) {
		return applyAnswer{}, err
	}
	doubtful, tried := read.Doubtful, map[string]job.Calendar{}
	for i, c := range read.Calendars {
		switch calendars[i].Action {
		case "":
			doubtful = append(doubtful, c.Content.Name)
		case "created", "updated":
			tried[c.Content.Name] = c.Content
		}
	}
	sound := slices.DeleteFunc(slices.Clone(read.Jobs), func(e jobfile.Entry) bool {
		return slices.ContainsFunc(e.Definition.Schedule.Calendars(), func(name string) bool { return slices.Contains(doubtful, name) })
	})
	answer, err := a.putJobs(ctx, api, sound, client.PutOptions{DryRun: true}, tried)
	answer.DryRun = true
	answer.add(calendars)
	var more jobfile.Faults
	switch {
	case err != nil && !errors.As(err, &more):
		return answer, err
	case len(refused)+len(more) > 0:
		return answer, merged(refused, more)
	}
	return answer, nil
}

// write puts the calendars, and then the jobs, which take what the calendars hold.
func (a *app) write(ctx context.Context, api *client.Client, read jobfile.Contents) (applyAnswer, error) {
	calendars, err := a.putCalendars(ctx, api, read.Calendars, false)
	if err != nil {
		return applyAnswer{}, err
	}
	answer, err := a.putJobs(ctx, api, read.Jobs, client.PutOptions{}, nil)
	if err == nil {
		err = a.recount(ctx, api, calendars)
	}
	answer.add(calendars)
	return answer, err
}

// putJobs sends every job, several at once, and answers in the files' order. It
// gathers what the service refuses and stops at any other failure. tried are
// calendars that the service does not keep so.
func (a *app) putJobs(ctx context.Context, api *client.Client, entries []jobfile.Entry, options client.PutOptions, tried map[string]job.Calendar) (applyAnswer, error) {
	answer := applyAnswer{Calendars: []appliedCalendar{}, Jobs: make([]applied, len(entries))}
	refused, err := a.sendAll(ctx, "jobs", options.DryRun, len(entries), func(ctx context.Context, i int) error {
		e, o := &entries[i], options
		for _, name := range e.Definition.Schedule.Calendars() {
			if c, differs := tried[name]; differs {
				o.Calendars = append(o.Calendars, c)
			}
		}
		result, err := api.PutJob(ctx, e.Definition, o)
		answer.Jobs[i] = applied{PutResult: result, File: e.File, Line: e.Line, zone: zoneOf(e.Definition.Schedule), jitter: e.Definition.Schedule.Jitter}
		return err
	})
	for _, j := range answer.Jobs {
		if j.Action != "" && j.Action != "unchanged" {
			answer.Changes++
		}
	}
	return answer, refusedOf(refused, err, func(i int, e *job.Error) string {
		e.Line = entries[i].LineOf(e.Field)
		return entries[i].File
	})
}

// sendAll does n puts of one kind, several at a time, and says meanwhile how far it
// is. It gathers what the service refuses and ends at any other failure.
func (a *app) sendAll(ctx context.Context, kind string, dryRun bool, n int, put func(ctx context.Context, i int) error) ([]*job.Error, error) {
	refused := make([]*job.Error, n)
	var done atomic.Int64
	doing := "applied %d of %d %s"
	if dryRun {
		doing = "asked about %d of %d %s"
	}
	return refused, a.busy(ctx, func() string { return fmt.Sprintf(doing, done.Load(), n, kind) }, func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(atOnce)
		for i := range n {
			group.Go(func() error {
				err := put(ctx, i)
				done.Add(1)
				var known *job.Error
				if errors.As(err, &known) && known.Code.Class() != job.ClassBusy {
					refused[i] = known
					return nil
				}
				return err
			})
		}
		return group.Wait()
	})
}

// refusedOf are refusals as faults of files; place tells the file of one, and gives it
// its line.
func refusedOf(refused []*job.Error, err error, place func(i int, e *job.Error) string) error {
	if err != nil {
		return err
	}
	var faults jobfile.Faults
	for i, e := range refused {
		if e != nil {
			faults = append(faults, jobfile.Fault{File: place(i, e), Err: e})
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

func (a *app) showApplied(answer applyAnswer) {
	if len(answer.Jobs)+len(answer.Calendars) == 0 {
		fmt.Fprintln(a.err, "the files hold no jobs")
		return
	}
	a.showCalendars(answer)
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
		fmt.Fprintf(a.out, "dry run: %s would change, nothing was written\n", answer.countText())
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
	if !r.SwitchAt.IsZero() {
		parts = append(parts, "takes over after "+stamp(r.SwitchAt.Time, time.UTC))
	}
	if !r.TakenBackAt.IsZero() {
		parts = append(parts, "what waited for "+stamp(r.TakenBackAt.Time, time.UTC)+" is taken back")
	}
	return strings.Join(parts, "; ")
}
