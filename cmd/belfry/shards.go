package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
)

func (a *app) shardsCommand() *cobra.Command {
	return &cobra.Command{Use: "shards", Short: "Show which shards hold overdue jobs", Args: upTo(0),
		Long: `Show which shards hold jobs whose time has passed without an execution, the longest overdue first. An installation that
keeps up has none. It reads the due index once for each shard, half a read unit each.`,
		Example: "  belfry shards\n  belfry shards --json",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				s, err := api.Shards(ctx)
				if err != nil {
					return err
				}
				return a.print(s, func() { a.showShards(s) })
			})
		}}
}

func (a *app) showShards(s client.Shards) {
	total := 0
	for _, l := range s.Layouts {
		total += l.Shards
	}
	if len(s.Items) == 0 {
		fmt.Fprintf(a.out, "none of %d shards holds an overdue job\n", total)
		return
	}
	var t table
	t.row("SHARD", "OVERDUE", "BEHIND", "MOST OVERDUE JOB")
	for _, i := range s.Items {
		overdue := strconv.Itoa(i.Overdue)
		if i.More {
			overdue += " or more"
		}
		behind := (time.Duration(i.BehindMS) * time.Millisecond).Round(time.Second)
		t.row(fmt.Sprintf("%d.%04d", i.Generation, i.Number), overdue, behind.String(), safe(string(i.OldestJob)))
	}
	t.write(a.out)
	fmt.Fprintf(a.out, "%d of %d shards\n", len(s.Items), total)
}
