package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

func (a *app) scheduleCommand() *cobra.Command {
	c := &cobra.Command{Use: "schedule", Short: "Try out schedules, without any service", Example: "  belfry schedule next '30 3 * * *' --zone Europe/Berlin", Args: noSuchCommand, RunE: showHelp}
	c.AddCommand(a.scheduleNext(), a.scheduleDiff(), a.schedulePlan(), a.scheduleHolidays())
	return c
}

// scheduleFlags are the words of a schedule on the command line.
type scheduleFlags struct {
	calendarFlags

	every, at, zone, dialect, gap, overlap, after string
	start, end, jitter, job                       string
	count                                         int
	jsonl                                         bool
}

// declare adds the flags that every question about a schedule knows.
func (f *scheduleFlags) declare(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.zone, "zone", "", "IANA time zone whose wall clock it follows (default UTC)")
	flags.StringVar(&f.dialect, "dialect", "", "grammar of EXPR: unix, quartz, aws or cronexpr (default unix for 5 fields)")
	flags.StringVar(&f.gap, "gap", "", "SKIP or SHIFT_FORWARD a wall-clock time that does not exist")
	flags.StringVar(&f.overlap, "overlap", "", "FIRST, SECOND or BOTH of a wall-clock time that exists twice")
	flags.StringVar(&f.every, "every", "", "an interval instead of EXPR, such as 90s")
	flags.StringVar(&f.at, "at", "", "one RFC 3339 time instead of EXPR")
	flags.StringVar(&f.start, "start", "", "no time before this RFC 3339 time, from which --every counts")
	flags.StringVar(&f.end, "end", "", "no time after this RFC 3339 time")
	f.calendarFlags.declare(c)
}

func (a *app) scheduleNext() *cobra.Command {
	var f scheduleFlags
	c := &cobra.Command{Use: "next [EXPR]", Short: "Show the coming times of a cron expression or another schedule",
		Long: `Show the coming times of a cron expression, or of --every or --at. No service is asked.

With --jsonl, questions are read from stdin, one JSON object a line, and each is
answered with one line: {"id","dialect","expr","zone","after","count","gap","overlap"}
→ {"id","next":[…],"exhausted":false} or {"id","error":{"code","message"}}.`,
		Example: "  belfry schedule next '30 3 * * *' --zone Europe/Berlin\n  belfry schedule next --every 90s --count 3\n  belfry schedule next --jsonl < questions.jsonl", Args: cobra.ArbitraryArgs}
	flags := c.Flags()
	f.declare(c)
	flags.IntVar(&f.count, "count", 5, "how many times (1 to 1000)")
	flags.StringVar(&f.jitter, "jitter", "", "width of the slots over which jobs spread, such as 10m")
	flags.StringVar(&f.job, "job", "", "with --jitter: the job whose slot is shown")
	flags.StringVar(&f.after, "after", "", "strictly after this RFC 3339 time (default now)")
	flags.BoolVar(&f.jsonl, "jsonl", false, "answer questions from stdin, one a line")
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.jsonl {
			if err := a.byLine(c, args, f); err != nil {
				return err
			}
			return schedule.ServeNext(c.Context(), a.in, a.out)
		}
		return a.previewSchedule(c, f, args)
	}
	return c
}

// byLine refuses a schedule beside --jsonl, and says which other flags have no
// effect there: each question says all of its own.
func (a *app) byLine(c *cobra.Command, args []string, f scheduleFlags) error {
	if len(args) > 0 || f.every != "" || f.at != "" {
		return usage(c, "--jsonl reads its questions from stdin and takes no schedule of its own")
	}
	for _, flag := range []string{
		"zone", "dialect", "gap", "overlap", "start", "end", "exclude", "include", "on-excluded", "count", "jitter", "job", "after",
		"cursor", "down-from", "up-at", "dispatched", "misfire", "window", "max", "tolerance",
	} {
		if c.Flags().Changed(flag) {
			fmt.Fprintf(a.err, "warning: --%s has no effect beside --jsonl\n  say it in each question\n", flag)
		}
	}
	return nil
}

func (a *app) previewSchedule(c *cobra.Command, f scheduleFlags, args []string) error {
	asked, err := f.schedule(c, args)
	if err != nil {
		return err
	}
	after, err := a.afterFlag(c, f.after, f.count)
	if err != nil {
		return err
	}
	if after.IsZero() {
		after = a.now()
	}
	plan, err := schedule.Compile(asked, after.Truncate(time.Second))
	if err != nil {
		return err
	}
	if plan, err = a.under(c, plan, f.calendarFlags); err != nil {
		return err
	}
	compiled := plan.Schedule()
	fires := client.Fires{Items: []client.Fire{}, Description: plan.DescribeAt(after), Zone: plan.Location().String(),
		Gap: compiled.Gap, Overlap: compiled.Overlap, Warnings: warningsOf(asked)}
	for _, fire := range plan.Preview(after, f.count, job.Ref{Tenant: job.DefaultTenant, Job: f.job}) {
		fires.Items = append(fires.Items, client.Fire{At: client.At(fire.At), Local: fire.Local + " " + fire.Offset, Note: client.Text(fire.Mark)})
	}
	fires.Exhausted = len(fires.Items) < f.count
	return a.print(fires, func() {
		a.showFires(fires)
		if last := lastOf(fires, after); fires.Exhausted && plan.LeftOut(last) != "" {
			fmt.Fprintln(a.out, safe(plan.LeftOut(last)))
		}
	})
}

// lastOf is the last time that is shown, or else the one asked about.
func lastOf(fires client.Fires, after time.Time) time.Time {
	if n := len(fires.Items); n > 0 {
		return fires.Items[n-1].At.Time
	}
	return after
}

// schedule puts the flags together; exactly one kind must be named.
func (f scheduleFlags) schedule(c *cobra.Command, args []string) (job.Schedule, error) {
	var read values
	s := job.Schedule{Zone: f.zone, Dialect: job.Dialect(f.dialect), Gap: job.GapPolicy(f.gap), Overlap: job.OverlapPolicy(f.overlap),
		Start: read.time("start", f.start), End: read.time("end", f.end), Jitter: read.duration("jitter", f.jitter)}
	if read.err != nil {
		return s, read.err
	}
	kinds := len(args)
	for _, text := range []string{f.every, f.at} {
		if text != "" {
			kinds++
		}
	}
	switch {
	case len(args) > 1:
		return s, usage(c, "%d arguments are given: put the expression in quotes, as in '30 3 * * *'", len(args))
	case kinds != 1:
		return s, usage(c, "give exactly one of EXPR, --every and --at")
	case f.every != "":
		if s.Every = read.duration("every", f.every); s.Every == 0 && read.err == nil {
			return s, &job.Error{Code: job.CodeScheduleInvalid, Field: "every", Value: f.every, Message: "an interval of " + f.every + " is not possible", Bound: "whole seconds, at least 1s"}
		}
		return s, read.err
	case f.at != "":
		s.At = read.time("at", f.at)
		return s, read.err
	}
	s.Cron = args[0]
	if s.Cron == "" {
		return s, &job.Error{Code: job.CodeScheduleInvalid, Field: "cron", Message: "the expression is empty", Fix: "write five fields, such as '30 3 * * *'"}
	}
	return s, nil
}

// afterFlag reads --after and checks --count; absent is the zero time.
func (a *app) afterFlag(c *cobra.Command, after string, count int) (time.Time, error) {
	if count < 1 || count > 1000 {
		return time.Time{}, usage(c, "--count %d is out of bounds: choose 1 to 1000", count)
	}
	if after == "" {
		return time.Time{}, nil
	}
	return schedule.ParseTime("after", after)
}

func warningsOf(written job.Schedule) []client.Warning {
	warnings := []client.Warning{}
	for _, w := range schedule.Lint(written) {
		warnings = append(warnings, client.Warning(w))
	}
	return warnings
}

// warn shows warnings on stderr, where they are in nobody's way. of names what
// they are about, if there is more than one.
func (a *app) warn(of string, warnings []client.Warning) {
	if of != "" {
		of += ": "
	}
	for _, w := range warnings {
		fmt.Fprintf(a.err, "warning: %s%s: %s\n  %s\n", of, safe(w.Field), safe(w.Message), safe(w.Fix))
	}
}

func (a *app) showFires(f client.Fires) {
	a.warn("", f.Warnings)
	if f.Description != "" {
		fmt.Fprintf(a.out, "%s\n", safe(f.Description))
	}
	if len(f.Items) == 0 {
		fmt.Fprintln(a.out, "no further time")
		return
	}
	t := table{}
	t.row("LOCAL ("+f.Zone+")", "UTC", "", "")
	for _, fire := range f.Items {
		t.row(fire.Local, stamp(fire.At.Time, time.UTC), distance(fire.At.Sub(a.now())), safe(string(fire.Note)))
	}
	t.write(a.out)
	if f.Exhausted {
		fmt.Fprintln(a.out, "no further time after these")
	}
}
