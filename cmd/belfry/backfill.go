package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

type backfillFlags struct {
	from, to, rate string
	rerun, force   bool
	dryRun, wait   bool
}

func (a *app) backfillCommand() *cobra.Command {
	var f backfillFlags
	c := &cobra.Command{Use: "backfill JOB", Short: "Make the executions of times that have passed",
		Long: `Make the executions of scheduled times that have passed, under the job's current revision, at a rate.

Times that have an execution are passed over; --rerun runs them again once they have ended, under the same
idempotency key. It goes on by itself: through crashes, edits, and after a pause. --wait shows how far it has come.`,
		Example: `  belfry backfill nightly --from 2026-06-01T00:00:00Z --to 2026-06-30T23:59:59Z --dry-run
  belfry backfill nightly --from 2026-06-01T00:00:00Z --rate 30/min --wait
  belfry backfill list nightly
  belfry backfill cancel nightly 01JZXW7GB0…`,
		Args: exactly("JOB"), ValidArgsFunction: a.completeJobs,
		RunE: func(c *cobra.Command, args []string) error { return a.backfill(c, args[0], f) }}
	c.Flags().StringVar(&f.from, "from", "", "scheduled times at and after this RFC 3339 time (needed)")
	c.Flags().StringVar(&f.to, "to", "", "scheduled times up to this RFC 3339 time (default now)")
	c.Flags().StringVar(&f.rate, "rate", "", "executions at most: 2/s, 30/min, 100/h (default 1/s)")
	c.Flags().BoolVar(&f.rerun, "rerun", false, "also times that have an execution which has ended")
	c.Flags().BoolVar(&f.force, "force", false, "also times whose history is no longer kept: they may have run")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "only say what would happen")
	c.Flags().BoolVar(&f.wait, "wait", false, "wait until every execution has begun; progress goes to stderr")
	c.MarkFlagsMutuallyExclusive("dry-run", "wait")
	c.AddCommand(a.backfillList(), a.backfillCancel())
	return c
}

func (a *app) backfill(c *cobra.Command, name string, f backfillFlags) error {
	if f.from == "" {
		return usage(c, "--from is missing: the RFC 3339 time that the backfill begins at")
	}
	for flag, text := range map[string]string{"from": f.from, "to": f.to} {
		if text == "" {
			continue
		}
		if _, err := schedule.ParseTime(flag, text); err != nil {
			return err
		}
	}
	rate, err := parseRate(c, f.rate)
	if err != nil {
		return err
	}
	question := client.BackfillQuestion{From: f.from, To: f.to, Rate: rate, Rerun: f.rerun, Force: f.force, DryRun: f.dryRun}
	var api *client.Client
	var answer client.BackfillAnswer
	err = a.call(c, func(ctx context.Context, found *client.Client) (err error) {
		api = found
		answer, err = api.Backfill(ctx, name, question)
		return err
	})
	switch {
	case err != nil:
		return err
	case f.wait:
		return a.awaitBackfill(c.Context(), api, answer)
	}
	return a.print(answer, func() { a.showBackfillAnswer(answer) })
}

// parseRate reads 2/s, 30/min or 100/h; a number alone is per second, as in job
// files. Empty: the service's default.
func parseRate(c *cobra.Command, text string) (float64, error) {
	if text == "" {
		return 0, nil
	}
	number, unit, _ := strings.Cut(text, "/")
	seconds, known := map[string]float64{"": 1, "s": 1, "min": 60, "h": 3600}[unit]
	rate, err := strconv.ParseFloat(number, 64)
	if err != nil || !known || !(rate > 0) || math.IsInf(rate, 0) || strings.HasSuffix(text, "/") {
		return 0, usage(c, "--rate %q is no rate: write such as 2/s, 30/min or 100/h", job.Shorten(text))
	}
	return rate / seconds, nil
}

func (a *app) showBackfillAnswer(b client.BackfillAnswer) {
	span := fmt.Sprintf("%d %s of %s, %s to %s", b.Count, plural(b.Count, "time", "times"), b.Job, stamp(b.From.Time, time.UTC), stamp(b.To.Time, time.UTC))
	if b.DryRun {
		there := 0
		if b.There != nil {
			there = *b.There
		}
		fmt.Fprintf(a.out, "would make %d of %s\n", b.Count-there, span)
		if there > 0 {
			fmt.Fprintf(a.out, "%d of them have an execution and are passed over\n", there)
		}
		if b.Count > there {
			fmt.Fprintf(a.out, "at %s it takes about %s\n", rateText(b.Rate), drainTime(b.Count-there, b.Rate))
		}
	} else {
		fmt.Fprintf(a.out, "backfill %s: %s, at %s\nwatch it with: belfry backfill list %s\n", b.ID, span, rateText(b.Rate), b.Job)
	}
	if b.JobState != job.Enabled && b.JobState != job.Completed {
		fmt.Fprintf(a.err, "the job is %s: it waits until the job goes on\n", b.JobState)
	}
}

// drainTime is how long so many executions take at a rate.
func drainTime(count int, rate float64) string {
	return span(time.Duration(float64(count) / rate * float64(time.Second)).Round(time.Second))
}

// rateText is a rate in the unit that reads best.
func rateText(rate float64) string {
	text := func(n float64, unit string) string { return strconv.FormatFloat(n, 'g', 4, 64) + "/" + unit }
	switch {
	case rate >= 1:
		return text(rate, "s")
	case rate*60 >= 1:
		return text(rate*60, "min")
	}
	return text(rate*3600, "h")
}

// awaitEvery is how often a waiting command asks.
const awaitEvery = 2 * time.Second

// awaitBackfill asks until the backfill has ended. A canceled one is a failure.
func (a *app) awaitBackfill(ctx context.Context, api *client.Client, answer client.BackfillAnswer) error {
	b, told := answer.Backfill, ""
	for b.State == job.BackfillRunning {
		if progress := fmt.Sprintf("%d of %d made, %d passed over", b.Made, b.Count, b.Skipped); progress != told {
			told = progress
			fmt.Fprintf(a.err, "%s: %s\n", b.ID, progress)
		}
		if err := wait(ctx, awaitEvery); err != nil {
			return err
		}
		var err error
		if b, err = api.BackfillOf(ctx, b.Job, string(b.ID)); err != nil {
			return err
		}
	}
	err := a.print(b, func() {
		fmt.Fprintf(a.out, "backfill %s is %s: %d of %d made, %d passed over\n", b.ID, b.State, b.Made, b.Count, b.Skipped)
	})
	if err == nil && b.State != job.BackfillDone {
		return silent{exitFailed}
	}
	return err
}

func (a *app) backfillList() *cobra.Command {
	var p paging
	c := &cobra.Command{Use: "list JOB", Short: "List a job's backfills, newest first", Example: "  belfry backfill list nightly", Args: exactly("JOB"), ValidArgsFunction: a.completeJobs}
	p.flags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := p.check(c); err != nil {
			return err
		}
		return a.call(c, func(ctx context.Context, api *client.Client) error {
			page, err := collect(p, func(cursor string, limit int) (client.Page[client.Backfill], error) {
				return api.Backfills(ctx, args[0], cursor, limit)
			})
			if err != nil {
				return err
			}
			return a.print(page, func() { a.showBackfills(page) })
		})
	}
	return c
}

func (a *app) showBackfills(page client.Page[client.Backfill]) {
	if len(page.Items) == 0 {
		fmt.Fprintln(a.err, "there are no backfills")
		return
	}
	t := table{paint: a.states(1)}
	t.row("BACKFILL", "STATE", "FROM", "TO", "TIMES", "MADE", "PASSED OVER", "RATE", "ASKED BY")
	for _, b := range page.Items {
		by := orDash(b.Actor)
		if b.Actor == "" {
			by = "misfire policy"
		}
		t.row(string(b.ID), string(b.State), stamp(b.From.Time, time.UTC), stamp(b.To.Time, time.UTC), strconv.Itoa(b.Count), strconv.Itoa(b.Made), strconv.Itoa(b.Skipped), rateText(b.Rate), by)
	}
	t.write(a.out)
	a.more(page.NextCursor)
}

func (a *app) backfillCancel() *cobra.Command {
	return &cobra.Command{Use: "cancel JOB ID", Short: "Cancel a backfill",
		Long:    "Cancel a backfill. It makes no more, and what it made that has not begun is canceled; what runs goes on.",
		Example: "  belfry backfill cancel nightly 01JZXW7GB0…", Args: exactly("JOB", "ID"), ValidArgsFunction: a.completeJobs,
		RunE: func(c *cobra.Command, args []string) error {
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				b, err := api.CancelBackfill(ctx, args[0], args[1])
				if err != nil {
					return err
				}
				return a.print(b, func() {
					fmt.Fprintf(a.out, "canceled %s: %d of %d were made; of these, what had not begun is canceled\n", b.ID, b.Made, b.Count)
				})
			})
		}}
}
