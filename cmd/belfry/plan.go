package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// planFlags are the words of an outage on the command line.
type planFlags struct {
	scheduleFlags

	cursor, downFrom, upAt     string
	dispatched                 []string
	misfire, window, tolerance string
	most                       int
}

func (a *app) schedulePlan() *cobra.Command {
	var f planFlags
	c := &cobra.Command{Use: "plan [EXPR]", Short: "Show what would happen if the scheduler were down for a while",
		Long: `Show what would become of the times of a cron expression, or of --every or --at, if the
scheduler were down from --down-from until --up-at. No service is asked.

A time is late when more than --tolerance has passed since; --misfire says what
becomes of late times, --window how old one may be, --max how many may run. What is
left out means none of these bounds. (In a job it means tolerance 60s and max 1000.)

With --jsonl, questions are read from stdin, one JSON object a line, and each is
answered with one line: {"id","expr","dialect","zone","cursor","down_from","up_at",
"start","end","dispatched":[…],"gap","overlap","policy":{"misfire","window_s","max",
"tolerance_s"}} → {"id","catchup":[…],"missed":{"count","first","last"},
"on_time_at_up":[…],"next_regular":[…],"range"} or {"id","error":{"code","message"}}.`,
		Example: "  belfry schedule plan '0 6 * * *' --down-from 2026-07-01T12:00:00Z --up-at 2026-07-06T12:00:00Z --misfire FIRE_ALL\n  belfry schedule plan --jsonl < outages.jsonl", Args: cobra.ArbitraryArgs}
	flags := c.Flags()
	f.declare(c)
	flags.StringVar(&f.downFrom, "down-from", "", "RFC 3339 time from which the scheduler is down")
	flags.StringVar(&f.upAt, "up-at", "", "RFC 3339 time at which it plans again (default now)")
	flags.StringVar(&f.cursor, "cursor", "", "last time that had been handled (default the last one up to --down-from)")
	flags.StringArrayVar(&f.dispatched, "dispatched", nil, "a time after the cursor that has an execution already (repeatable)")
	flags.StringVar(&f.misfire, "misfire", string(job.MisfireFireOnce), "SKIP, FIRE_ONCE, FIRE_ALL or COALESCE late times")
	flags.StringVar(&f.window, "window", "", "oldest age at which a late time may still run, such as 24h (default none)")
	flags.IntVar(&f.most, "max", 0, "most late times that run; the latest are kept (default no cap)")
	flags.StringVar(&f.tolerance, "tolerance", "", "lateness that is still on time, such as 60s (default 0)")
	flags.BoolVar(&f.jsonl, "jsonl", false, "answer questions from stdin, one a line")
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.jsonl {
			if err := a.byLine(c, args, f.scheduleFlags); err != nil {
				return err
			}
			return schedule.ServePlans(c.Context(), a.in, a.out)
		}
		return a.planOutage(c, f, args)
	}
	return c
}

// plannedOutage is the JSON document of one plan.
type plannedOutage struct {
	Description string `json:"description"`
	Zone        string `json:"zone"`
	Cursor      string `json:"cursor"`
	schedule.PlanAnswer
}

func (a *app) planOutage(c *cobra.Command, f planFlags, args []string) error {
	asked, err := f.schedule(c, args)
	if err != nil {
		return err
	}
	var read values
	outage := schedule.Outage{Cursor: read.time("cursor", f.cursor), DownFrom: read.time("down-from", f.downFrom), UpAt: read.time("up-at", f.upAt)}
	for _, text := range f.dispatched {
		outage.Dispatched = append(outage.Dispatched, read.time("dispatched", text))
	}
	if read.err != nil {
		return read.err
	}
	if outage.Misfire, err = f.policy(c); err != nil {
		return err
	}
	if outage.UpAt.IsZero() {
		outage.UpAt = a.now().Truncate(time.Second)
	}
	if outage.DownFrom.IsZero() && outage.Cursor.IsZero() {
		return usage(c, "say since when the scheduler is down with --down-from, or what it handled last with --cursor")
	}
	anchor := outage.DownFrom
	if anchor.IsZero() {
		anchor = outage.Cursor
	}
	plan, err := schedule.Compile(asked, anchor.Truncate(time.Second))
	if err != nil {
		return err
	}
	if plan, err = a.under(c, plan, f.calendarFlags); err != nil {
		return err
	}
	if outage.Cursor.IsZero() {
		outage.Cursor = lastUpTo(plan, outage.DownFrom)
	}
	after, err := schedule.WhatIf(plan, outage)
	if err != nil {
		return err
	}
	answer := plannedOutage{Description: plan.Describe(), Zone: plan.Location().String(), Cursor: outage.Cursor.UTC().Format(time.RFC3339), PlanAnswer: after.JSON()}
	return a.print(answer, func() { a.showPlan(plan, outage, after) })
}

// lastUpTo is the last time of a plan that is not after the given instant, or
// else that instant.
func lastUpTo(plan *schedule.Plan, at time.Time) time.Time {
	if last, ok := plan.Prev(at.Add(time.Nanosecond)); ok {
		return last
	}
	return at
}

// policy reads the flags of the misfire policy. A bound of 0 lets nothing run.
func (f planFlags) policy(c *cobra.Command) (job.Misfire, error) {
	var read values
	m := job.Misfire{Policy: job.MisfirePolicy(f.misfire), Max: f.most, Window: read.duration("window", f.window), Tolerance: read.duration("tolerance", f.tolerance)}
	switch m.Policy {
	case job.MisfireSkip, job.MisfireFireOnce, job.MisfireFireAll, job.MisfireCoalesce:
	default:
		return m, usage(c, "--misfire %q is no policy: choose SKIP, FIRE_ONCE, FIRE_ALL or COALESCE", f.misfire)
	}
	if f.most < 0 {
		return m, usage(c, "--max %d is out of bounds: choose 0 or more", f.most)
	}
	if read.err != nil {
		return m, read.err
	}
	if f.window != "" && m.Window == 0 || c.Flags().Changed("max") && f.most == 0 {
		m = job.Misfire{Policy: job.MisfireSkip, Tolerance: m.Tolerance}
	}
	return m, nil
}

// values reads the values of flags and keeps the first refusal.
type values struct{ err error }

// duration reads a length of time; absent is none.
func (r *values) duration(flag, text string) job.Duration {
	if text == "" || r.err != nil {
		return 0
	}
	d, err := job.ParseDuration(text)
	var refusal *job.Error
	if errors.As(err, &refusal) {
		refusal.Field = flag
	}
	r.err = err
	return d
}

// time reads an instant; absent is the zero time.
func (r *values) time(flag, text string) time.Time {
	if text == "" || r.err != nil {
		return time.Time{}
	}
	at, err := schedule.ParseTime(flag, text)
	r.err = err
	return at
}

// mostShown is how many times of one list are shown to people.
const mostShown = 10

func (a *app) showPlan(plan *schedule.Plan, o schedule.Outage, after schedule.Aftermath) {
	zone := plan.Location()
	shown := func(t time.Time) string { return stamp(t, zone) }
	fmt.Fprintf(a.out, "%s\n", safe(plan.Describe()))
	missed := "none"
	if n := after.Missed.Count; n > 0 {
		missed = fmt.Sprintf("%d, from %s to %s", n, shown(after.Missed.First), shown(after.Missed.Last))
	}
	next := "none"
	if after.HasNext {
		next = shown(after.Next)
	}
	covers := ""
	if after.Coalesces {
		covers = fmt.Sprintf("%d missed times, of the data from %s to %s", after.Covers.Count, shown(after.Covers.First), shown(after.Covers.Last))
	}
	facts(a.out, "handled up to", shown(o.Cursor), "up again at", shown(o.UpAt), "late", missed,
		"caught up", a.listed(after.CatchUp, shown), "standing for", covers, "on time", a.listed(after.OnTime, shown), "next", next)
}

// listed counts times and names the first and the last of many.
func (a *app) listed(list []time.Time, shown func(time.Time) string) string {
	if len(list) == 0 {
		return "none"
	}
	text := fmt.Sprintf("%d: ", len(list))
	for i, at := range list {
		if len(list) > mostShown && i == mostShown-1 {
			return text + ", …, " + shown(list[len(list)-1])
		}
		if i > 0 {
			text += ", "
		}
		text += shown(at)
	}
	return text
}
