package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func (a *app) jobsCommand() *cobra.Command {
	c := &cobra.Command{Use: "jobs", Aliases: []string{"job"}, Short: "List, read, pause, resume, run and delete jobs",
		Example: "  belfry jobs list\n  belfry jobs pause nightly", Args: noSuchCommand, RunE: showHelp}
	c.AddCommand(a.jobsList(), a.jobsGet(), a.jobsPut(), a.jobsPatch(), a.jobsNext(), a.jobsDelete(), a.jobsRun(),
		a.jobsState("pause", "Stop new executions; running ones go on", "Withdraws what has not begun. Pausing a paused job is no error.", (*client.Client).PauseJob),
		a.jobsResume())
	return c
}

func (a *app) jobsList() *cobra.Command {
	var p paging
	c := &cobra.Command{Use: "list", Short: "List jobs", Example: "  belfry jobs list\n  belfry jobs list --all --json", Args: upTo(0)}
	p.flags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := p.check(c); err != nil {
			return err
		}
		return a.call(c, func(ctx context.Context, api *client.Client) error {
			page, err := collect(p, func(cursor string, limit int) (client.Page[client.Job], error) { return api.Jobs(ctx, cursor, limit) })
			if err != nil {
				return err
			}
			return a.print(page, func() { a.showJobs(page) })
		})
	}
	return c
}

func (a *app) showJobs(page client.Page[client.Job]) {
	if len(page.Items) == 0 {
		fmt.Fprintln(a.err, "there are no jobs; make some with: belfry apply -f FILE")
		return
	}
	slices.SortFunc(page.Items, func(x, y client.Job) int { return strings.Compare(x.Job, y.Job) })
	t := table{paint: a.states(1)}
	t.row("JOB", "STATE", "NEXT", "SCHEDULE", "POOL", "REVISION")
	for _, j := range page.Items {
		t.row(j.Job, string(j.State), a.when(j.NextFireAt, zoneOf(j.Schedule)), safe(scheduleText(j.Schedule)), j.Pool, strconv.Itoa(j.Revision))
	}
	t.write(a.out)
	a.more(page.NextCursor)
}

func (a *app) jobsGet() *cobra.Command {
	return &cobra.Command{Use: "get JOB", Short: "Show a job", Example: "  belfry jobs get nightly\n  belfry jobs get nightly --json", Args: exactly("JOB"), ValidArgsFunction: a.completeJobs,
		RunE: func(c *cobra.Command, args []string) error {
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				j, err := api.Job(ctx, args[0])
				if err != nil {
					return err
				}
				return a.print(j, func() { a.showJob(j) })
			})
		}}
}

func (a *app) showJob(j client.Job) {
	zone := zoneOf(j.Schedule)
	state := string(j.State)
	if j.ReasonText != "" {
		state += ": " + safe(string(j.ReasonText))
	}
	next := a.when(j.NextFireAt, zone)
	if !j.NextFireAt.IsZero() && zone != time.UTC {
		next += ", " + stamp(j.NextFireAt.Time, time.UTC)
	}
	pairs := []string{"job", j.Job, "state", state, "schedule", safe(describe(j.Schedule)), "next", next}
	if !j.SwitchAt.IsZero() {
		what := ": this revision takes over from the one before"
		if j.Waiting != nil {
			what = ": a definition that waits takes over, " + safe(describe(j.Waiting.Schedule))
		}
		pairs = append(pairs, "changes", a.when(j.SwitchAt, zone)+what)
	}
	if d := j.Definition; d != nil {
		pairs = append(pairs, "description", safe(d.Description), "target", safe(targetText(d.Target)), "timeout", d.Timeout.String(),
			"retry", fmt.Sprintf("%d %s, %s to %s apart, for %s", d.Retry.MaxAttempts, plural(d.Retry.MaxAttempts, "attempt", "attempts"), d.Retry.Base, d.Retry.Max, d.Retry.MaxAge),
			"late times", safe(lateText(d)), "suspended", suspendText(d), "labels", safe(labelsText(d.Labels)))
	}
	facts(a.out, append(pairs, "pool", j.Pool, "revision", strconv.Itoa(j.Revision),
		"created", a.when(j.CreatedAt, a.local), "changed", a.when(j.UpdatedAt, a.local)+by(j.ChangedBy))...)
}

func by(who client.Text) string {
	if who == "" {
		return ""
	}
	return " by " + safe(string(who))
}

func (a *app) jobsNext() *cobra.Command {
	var after string
	var count int
	c := &cobra.Command{Use: "next JOB", Short: "Show a job's coming times", Example: "  belfry jobs next nightly --count 10", Args: exactly("JOB"), ValidArgsFunction: a.completeJobs}
	c.Flags().IntVar(&count, "count", 5, "how many times (1 to 1000)")
	c.Flags().StringVar(&after, "after", "", "strictly after this RFC 3339 time (default now)")
	c.RunE = func(c *cobra.Command, args []string) error {
		from, err := a.afterFlag(c, after, count)
		if err != nil {
			return err
		}
		return a.call(c, func(ctx context.Context, api *client.Client) error {
			fires, err := api.NextFires(ctx, args[0], from, count)
			if err != nil {
				return err
			}
			return a.print(fires, func() { a.showFires(fires) })
		})
	}
	return c
}

func (a *app) jobsDelete() *cobra.Command {
	var revision int
	c := &cobra.Command{Use: "delete JOB", Short: "Delete a job", Long: "Delete a job. What has not begun is withdrawn, running executions go on, the history stays.\nDeleting a deleted job is no error.",
		Example: "  belfry jobs delete nightly\n  belfry jobs delete nightly --if-revision 3", Args: exactly("JOB"), ValidArgsFunction: a.completeJobs}
	c.Flags().IntVar(&revision, "if-revision", 0, "only if this revision is current")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := checkRevision(c, revision); err != nil {
			return err
		}
		return a.call(c, func(ctx context.Context, api *client.Client) error {
			if err := api.DeleteJob(ctx, args[0], revision); err != nil {
				return err
			}
			return a.print(map[string]string{"job": args[0], "action": "deleted"}, func() { fmt.Fprintf(a.out, "deleted %s\n", args[0]) })
		})
	}
	return c
}

func (a *app) jobsState(verb, short, long string, change func(*client.Client, context.Context, string) (client.Job, error)) *cobra.Command {
	return &cobra.Command{Use: verb + " JOB", Short: short, Long: short + ".\n" + long, Example: "  belfry jobs " + verb + " nightly", Args: exactly("JOB"), ValidArgsFunction: a.completeJobs,
		RunE: func(c *cobra.Command, args []string) error {
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				j, err := change(api, ctx, args[0])
				if err != nil {
					return err
				}
				return a.print(j, func() {
					fmt.Fprintf(a.out, "%s is %s", j.Job, j.State)
					if !j.NextFireAt.IsZero() {
						fmt.Fprintf(a.out, ", next %s", a.when(j.NextFireAt, zoneOf(j.Schedule)))
					}
					fmt.Fprintln(a.out)
					if at := j.CursorAt; j.State == job.Enabled && !at.IsZero() && at.Before(j.UpdatedAt.Time) {
						fmt.Fprintf(a.out, "its times from %s on are late, and left to the misfire policy\n", stamp(at.Time, zoneOf(j.Schedule)))
					}
				})
			})
		}}
}

func (a *app) jobsResume() *cobra.Command {
	var catchUp, fromNow bool
	c := a.jobsState("resume", "Let a job run again", `Times that fell into the pause are passed over, or caught up as the misfire policy says: the definition's on_resume decides,
unless --from-now or --catch-up does. Resuming an enabled job is no error.`,
		func(api *client.Client, ctx context.Context, name string) (client.Job, error) {
			switch {
			case catchUp:
				return api.ResumeJob(ctx, name, job.ResumeCatchUp)
			case fromNow:
				return api.ResumeJob(ctx, name, job.ResumeFromNow)
			}
			return api.ResumeJob(ctx, name, "")
		})
	c.Example += "\n  belfry jobs resume nightly --catch-up"
	c.Flags().BoolVar(&catchUp, "catch-up", false, "leave the times of the pause to the misfire policy")
	c.Flags().BoolVar(&fromNow, "from-now", false, "pass over the times of the pause")
	c.MarkFlagsMutuallyExclusive("catch-up", "from-now")
	return c
}

func (a *app) jobsRun() *cobra.Command {
	var o client.RunOptions
	c := &cobra.Command{Use: "run JOB", Aliases: []string{"run-now"}, Short: "Run a job now", Long: "Make one execution of a job at once, whatever its schedule and whether or not it is paused.",
		Example: "  belfry jobs run nightly\n  belfry jobs run nightly --idempotency-key release-42\n  belfry jobs run nightly --payload-ref s3://acme-input/2026-07-12.json", Args: exactly("JOB"), ValidArgsFunction: a.completeJobs,
		RunE: func(c *cobra.Command, args []string) error {
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				e, err := api.RunJobWith(ctx, args[0], o)
				if err != nil {
					return err
				}
				return a.print(e, func() { fmt.Fprintf(a.out, "made %s\nwatch it with: belfry executions timeline '%s'\n", e.ID, e.ID) })
			})
		}}
	c.Flags().StringVar(&o.PayloadRef, "payload-ref", "", "where this execution's payload lies, s3://bucket/key, in place of the job's own")
	c.Flags().StringVar(&o.IdempotencyKey, "idempotency-key", "", "the same key within a day means the same execution, so the command may be repeated")
	return c
}

// completeJobs offers the names of jobs to the shell.
func (a *app) completeJobs(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	api, err := a.api(c.Context())
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(c.Context(), 2*time.Second)
	defer cancel()
	page, err := api.Jobs(ctx, "", largestPage)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := make([]string, len(page.Items))
	for i, j := range page.Items {
		names[i] = j.Job
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
