package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// check is one thing that the doctor looked at.
type check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Says string `json:"says"`
	Fix  string `json:"fix,omitempty"` // what to do; empty when it is ok
}

func fine(name, format string, args ...any) check {
	return check{Name: name, OK: true, Says: fmt.Sprintf(format, args...)}
}

func finding(name, fix, format string, args ...any) check {
	return check{Name: name, Says: fmt.Sprintf(format, args...), Fix: fix}
}

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{Use: "doctor", Short: "Look an installation over, and say what to do about what is found", Args: upTo(0),
		Long: `Look an installation over: whether the service can serve, whether a restore waits for its repair, whether every job goes by
one time zone database, whether the daily purge runs, and which shards hold overdue jobs. Each finding comes with what to do.

Exit code 0: nothing was found, 1: something was. It reads the due index once for each shard, half a read unit each.`,
		Example: "  belfry doctor\n  belfry doctor --json",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				checks, err := a.examine(ctx, api)
				if err != nil {
					return err
				}
				return a.tell(checks)
			})
		}}
}

// examine asks all questions. Nobody who answers is an error and no finding.
func (a *app) examine(ctx context.Context, api *client.Client) ([]check, error) {
	health, err := api.Health(ctx)
	switch {
	case job.CodeOf(err) == job.CodeUnavailable:
		return []check{finding("service", "look for errors in the log of the function api, or of belfry dev", "%v", err)}, nil
	case err != nil:
		return nil, err
	}
	checks := []check{fine("service", "%s serves, version %s", api.URL(), safe(health.Version))}
	sweeps, err := api.Sweeps(ctx)
	if err != nil {
		return nil, err
	}
	now := health.Time.Time
	checks = append(checks, restoreCheck(sweeps), tzdbCheck(sweeps.TZDB, now), purgeCheck(sweeps.Purge, now))
	shards, err := api.Shards(ctx)
	if err != nil {
		return nil, err
	}
	return append(checks, shardsCheck(shards)), nil
}

func restoreCheck(s client.Sweeps) check {
	if s.RestorePending {
		return finding("restore", "belfry reconcile --dr", "the tables come from a backup and are not repaired: nothing becomes due")
	}
	return fine("restore", "none waits for its repair")
}

// slowSweep is how long a walk over all jobs may take: at 2 000 jobs a minute,
// nearly three million.
const slowSweep = 24 * time.Hour

func tzdbCheck(t client.TZDBSweep, now time.Time) check {
	const name = "tzdb"
	progress := fmt.Sprintf("walk %d has looked at %d jobs and moved the next times of %d in all", t.Walks, t.Jobs, t.Moved)
	switch {
	case t.State == "none":
		return finding(name, "see whether the tick runs: docs/runbooks/tick-missing.md", "no tick has noted its time zone database yet")
	case string(t.Version) > t.Service:
		return finding(name, "deploy one build everywhere: the newer one", "the service goes by %s, next times by %s", safe(t.Service), safe(string(t.Version)))
	case string(t.Version) < t.Service:
		return finding(name, "see that the function tick was deployed, too, and that it runs", "the service goes by %s, ticks still by %s", safe(t.Service), safe(string(t.Version)))
	case !t.OlderAt.IsZero() && now.Sub(t.OlderAt.Time) < slowSweep && now.Sub(t.NotedAt.Time) > time.Hour && t.State != "settled":
		return finding(name, "see which function tick still runs an older build", "a tick with an older database ran at %s", t.OlderAt.UTC().Format(time.RFC3339))
	case t.State != "settled" && now.Sub(t.NotedAt.Time) > slowSweep:
		return finding(name, "look for \"left to the next sweep\" in the log of the function tick", "%s since %s; %d are left", progress, t.NotedAt.UTC().Format(time.RFC3339), t.Left)
	case t.State != "settled":
		return fine(name, "jobs are about to follow %s: %s", safe(string(t.Version)), progress)
	}
	return fine(name, "every job goes by %s; the next times of %d moved with it", safe(string(t.Version)), t.Moved)
}

func purgeCheck(p client.PurgeSweep, now time.Time) check {
	const name = "purge"
	switch {
	case p.State == "none":
		return fine(name, "has not run yet")
	case now.Sub(p.BegunAt.Time) > 2*slowSweep:
		return finding(name, "see whether the tick runs, and look for \"sweep was cut short\" in its log", "the last one began at %s, and should each day", p.BegunAt.UTC().Format(time.RFC3339))
	}
	return fine(name, "last began at %s and has taken %d deleted jobs away, %d in all", p.BegunAt.UTC().Format(time.RFC3339), p.Purged, p.InAll)
}

func shardsCheck(s client.Shards) check {
	const name, patience = "shards", time.Minute
	behind, worst := 0, time.Duration(0)
	for _, i := range s.Items {
		late := time.Duration(i.BehindMS) * time.Millisecond
		if late >= patience {
			behind++
		}
		worst = max(worst, late)
	}
	if behind > 0 {
		return finding(name, "belfry shards, then docs/runbooks/oldest-overdue.md", "%d hold jobs that are overdue by a minute or more, at most %s", behind, worst.Round(time.Second))
	}
	return fine(name, "none holds a job that is overdue by a minute or more")
}

// tell prints the checks and ends with 1 when one of them is a finding.
func (a *app) tell(checks []check) error {
	well := true
	for _, c := range checks {
		well = well && c.OK
	}
	err := a.print(struct {
		OK     bool    `json:"ok"`
		Checks []check `json:"checks"`
	}{well, checks}, func() {
		for _, c := range checks {
			mark := "ok  "
			if !c.OK {
				mark = "LOOK"
			}
			fmt.Fprintf(a.out, "%s  %-8s %s\n", mark, c.Name, c.Says)
			if c.Fix != "" {
				fmt.Fprintf(a.out, "                do: %s\n", c.Fix)
			}
		}
	})
	if err == nil && !well {
		return silent{exitFailed}
	}
	return err
}
