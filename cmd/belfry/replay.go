package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

type replayFlags struct {
	deadFlags
	rate, run, key     string
	dryRun, all, again bool
	scratch            bool
}

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{Use: "replay [ID]", Short: "Repeat what failed for good",
		Long: `Repeat a dead letter, or all that the flags select, latest end first, at a rate.

A replay is a new execution under the job's current revision, with the scheduled time, data interval and business
idempotency key of what it repeats, and goes on from its checkpoint; each names the other. What has been replayed or closed is left out, unless
--again asks for it. A run that was cut short goes on with --run: it replays nothing twice.`,
		Example: `  belfry replay 'nightly~20260712T013000Z~v3'
  belfry replay --job nightly --code HTTP_503 --since 24h --dry-run
  belfry replay --job nightly --code HTTP_503 --since 24h --rate 2/s`, Args: upTo(1)}
	f.flags(c, a, "FAILED, DEAD")
	c.Flags().StringVar(&f.rate, "rate", "", "replays at most: 2/s, 30/min, 100/h (default 10/s)")
	c.Flags().StringVar(&f.run, "run", "", "go on with the run of this name")
	c.Flags().StringVar(&f.key, "idempotency-key", "", "with ID: the same key means the same replay, so the command may be repeated")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "only say which, and how many")
	c.Flags().BoolVar(&f.all, "all", false, "every dead letter of the tenant")
	c.Flags().BoolVar(&f.scratch, "from-scratch", false, "begin anew: do not go on from the checkpoint that was saved")
	c.Flags().BoolVar(&f.again, "again", false, "also what has been replayed or closed")
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			return a.replayOne(c, args[0], f.key, f.scratch)
		}
		if f.key != "" {
			return usage(c, "--idempotency-key needs an ID: a run of many has its name, --run")
		}
		return a.replayMany(c, &f)
	}
	return c
}

func (a *app) replayOne(c *cobra.Command, id, idempotencyKey string, scratch bool) error {
	for _, flag := range []string{"job", "type", "code", "status", "since", "until", "rate", "run", "dry-run", "all", "again"} {
		if c.Flags().Changed(flag) {
			return usage(c, "ID and --%s contradict each other: give one of them", flag)
		}
	}
	return a.call(c, func(ctx context.Context, api *client.Client) error {
		e, err := api.ReplayExecution(ctx, id, idempotencyKey, scratch)
		if err != nil {
			return err
		}
		return a.print(e, func() {
			fmt.Fprintf(a.out, "%s repeats %s; follow it with: belfry executions timeline '%s'\n", e.ID, e.ReplayOf, e.ID)
		})
	})
}

// replayed sums up a run.
type replayed struct {
	Run     string          `json:"run"`
	DryRun  bool            `json:"dry_run"`
	Count   int             `json:"count"`   // dead letters that the run is to replay
	Made    int             `json:"made"`    // by this command
	Before  int             `json:"before"`  // that the run had made before
	Refused []client.Replay `json:"refused"` // those that could not be replayed
	First   []string        `json:"first"`   // ids of the first few, latest end first
	pace    float64         // replays a second
	ask     client.ReplaysQuestion
}

// firstFew is how many ids a dry run shows.
const firstFew = 10

func (a *app) replayMany(c *cobra.Command, f *replayFlags) error {
	q, err := f.query(c, a.now())
	if err != nil {
		return err
	}
	if slices.Contains(q.Statuses, job.NeedsReview) {
		return usage(c, "--status NEEDS_REVIEW cannot be replayed: decide each with belfry executions resolve")
	}
	if !f.all && f.job == "" && f.kind == "" && len(f.codes)+len(f.statuses) == 0 && f.since == "" && f.until == "" {
		return usage(c, "nothing says what to replay: give ID, or --job, --type, --code, --status, --since, --until, or --all")
	}
	pace, err := parseRate(c, f.rate)
	if err != nil {
		return err
	}
	if pace == 0 {
		pace = 10
	}
	sum := &replayed{DryRun: f.dryRun, Refused: []client.Replay{}, First: []string{}, pace: pace, ask: client.ReplaysQuestion{Job: q.Job, Type: q.Type, Codes: q.Codes, Statuses: q.Statuses,
		Since: q.Since, Until: q.Until, All: f.all, Again: f.again, Scratch: f.scratch, Run: f.run}}
	api, err := a.api(c.Context())
	if err != nil {
		return err
	}
	if err := a.busy(c.Context(), func() string { return "counting dead letters at " + api.URL() }, func(ctx context.Context) error { return sum.count(ctx, api) }); err != nil {
		return err
	}
	if !f.dryRun {
		if err := a.replayAll(c.Context(), api, sum); err != nil {
			if !a.json {
				fmt.Fprintf(a.err, "the run is not through: repeat the command with --run %s\n", sum.Run)
			}
			return err
		}
	}
	err = a.print(sum, func() { a.showReplayed(sum) })
	if err == nil && len(sum.Refused) > 0 {
		return silent{exitFailed}
	}
	return err
}

// count names the run and counts what it is to replay.
func (r *replayed) count(ctx context.Context, api *client.Client) error {
	q := r.ask
	q.DryRun = true
	for {
		page, err := api.Replays(ctx, q)
		if err != nil {
			return err
		}
		q.Run, q.Cursor = page.Run, string(page.NextCursor)
		for _, one := range page.Items {
			if r.Count++; r.Count <= firstFew {
				r.First = append(r.First, one.Execution)
			}
		}
		if q.Cursor == "" {
			r.Run, r.ask.Run = page.Run, page.Run
			return nil
		}
	}
}

// replayAll asks for page after page, no faster than the rate, and tells how far it
// has come.
func (a *app) replayAll(ctx context.Context, api *client.Client, r *replayed) error {
	q := r.ask
	q.Limit = min(max(int(r.pace), 1), 100)
	told := a.now()
	for {
		page, err := api.Replays(ctx, q)
		if err != nil {
			return err
		}
		made := r.add(page)
		if q.Cursor = string(page.NextCursor); q.Cursor == "" {
			return nil
		}
		if now := a.now(); !a.json && now.Sub(told) >= signOfLife {
			told = now
			fmt.Fprintf(a.err, "%s: %d of %d replayed\n", r.Run, r.Made+r.Before, r.Count)
		}
		if err := wait(ctx, time.Duration(float64(made)/r.pace*float64(time.Second))); err != nil {
			return err
		}
	}
}

// add takes a page into account and tells how many replays it made.
func (r *replayed) add(page client.Replays) (made int) {
	for _, one := range page.Items {
		switch {
		case one.Refused != nil:
			r.Refused = append(r.Refused, one)
		case one.Made:
			made++
		default:
			r.Before++
		}
	}
	r.Made += made
	return made
}

func letters(n int) string {
	if n == 1 {
		return "1 dead letter"
	}
	return strconv.Itoa(n) + " dead letters"
}

func (a *app) showReplayed(r *replayed) {
	if r.DryRun {
		fmt.Fprintf(a.out, "would replay %s", letters(r.Count))
		if float64(r.Count) > r.pace {
			fmt.Fprintf(a.out, ", at %s in about %s", rateText(r.pace), drainTime(r.Count, r.pace))
		}
		fmt.Fprintln(a.out)
		for _, id := range r.First {
			fmt.Fprintln(a.out, "  "+id)
		}
		if left := r.Count - len(r.First); left > 0 {
			fmt.Fprintf(a.out, "  … and %d more\n", left)
		}
		if r.Count > 0 {
			fmt.Fprintf(a.out, "replay these with the same command, --run %s and without --dry-run\n", r.Run)
		}
		return
	}
	for _, one := range r.Refused {
		fmt.Fprintf(a.err, "%s is not replayed: %s\n", one.Execution, one.Refused.Detail)
	}
	fmt.Fprintf(a.out, "run %s: %d of %d replayed", r.Run, r.Made+r.Before, r.Count)
	if r.Before > 0 {
		fmt.Fprintf(a.out, ", %d of them before", r.Before)
	}
	if len(r.Refused) > 0 {
		fmt.Fprintf(a.out, ", %d refused", len(r.Refused))
	}
	fmt.Fprintln(a.out)
}
