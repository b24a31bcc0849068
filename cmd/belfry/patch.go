package main

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
)

func (a *app) jobsPatch() *cobra.Command {
	var o editFlags
	c := &cobra.Command{Use: "patch JOB KEY=VALUE ...", Short: "Change some of a job's definition",
		Long: `Change some of a job's definition; what is not named stays.

A key is a path as in a job file, such as schedule.cron or retry.max_attempts. A value is JSON or a plain text, so a text that
reads as JSON stands in its quotes; null takes the key away, so that its default holds again. A schedule of another kind (cron,
every, at) replaces the one that was there.`,
		Example: "  belfry jobs patch nightly timeout=5m\n  belfry jobs patch nightly schedule.cron='30 3 * * *' misfire.policy=SKIP --dry-run\n" +
			"  belfry jobs patch nightly labels.team=data labels.build='\"7\"' description=null", Args: cobra.ArbitraryArgs, ValidArgsFunction: a.completeJobs}
	c.Flags().BoolVar(&o.DryRun, "dry-run", false, "only say what would happen")
	o.declare(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) < 2 {
			return usage(c, "say which job, and what to change as KEY=VALUE")
		}
		if err := o.read(c); err != nil {
			return err
		}
		patch, err := patchOf(c, args[1:])
		if err != nil {
			return err
		}
		return a.call(c, func(ctx context.Context, api *client.Client) error {
			result, err := api.PatchJob(ctx, args[0], patch, o.PutOptions)
			if err != nil {
				return err
			}
			answer := applyAnswer{DryRun: o.DryRun, Jobs: []applied{{PutResult: result, zone: time.UTC}}}
			if result.Action != "unchanged" {
				answer.Changes = 1
			}
			return a.print(result, func() { a.showApplied(answer) })
		})
	}
	return c
}

// patchOf makes a merge patch of dotted paths and their values.
func patchOf(c *cobra.Command, pairs []string) (json.RawMessage, error) {
	root := map[string]any{}
	for _, pair := range pairs {
		path, value, found := strings.Cut(pair, "=")
		keys := strings.Split(path, ".")
		if !found || path == "" {
			return nil, usage(c, "%q is not KEY=VALUE", pair)
		}
		at := root
		for _, key := range keys[:len(keys)-1] {
			inner, ok := at[key].(map[string]any)
			if _, taken := at[key]; taken && !ok {
				return nil, usage(c, "%q is set as a whole and in part", key)
			}
			if !ok {
				inner = map[string]any{}
				at[key] = inner
			}
			at = inner
		}
		last := keys[len(keys)-1]
		if _, taken := at[last]; taken {
			return nil, usage(c, "%q is given twice", path)
		}
		at[last] = value
		if json.Valid([]byte(value)) {
			at[last] = json.RawMessage(value)
		}
	}
	return json.Marshal(root)
}
