package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
)

func (a *app) reconcileCommand() *cobra.Command {
	var restored bool
	c := &cobra.Command{Use: "reconcile", Short: "Send again what is due and has no message",
		Long: `Look through all executions and send again what is due and has no message. Harmless to repeat.

With --dr repair what a restore from backups leaves behind, once restore_epoch was raised: every execution that had not
ended gets back what keeps it, every job is lifted above all that was given out before. Until it is done nothing becomes due.
It may be interrupted and repeated.`,
		Example: "  belfry reconcile\n  belfry reconcile --dr", Args: upTo(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				if restored {
					return a.repairRestore(ctx, api)
				}
				return a.reconcile(ctx, api)
			})
		}}
	c.Flags().BoolVar(&restored, "dr", false, "repair the tables after a restore from backups")
	return c
}

func (a *app) reconcile(ctx context.Context, api *client.Client) error {
	var sum client.Reconciled
	for {
		r, err := api.Reconcile(ctx, string(sum.NextCursor))
		if err != nil {
			return err
		}
		sum = client.Reconciled{Scanned: sum.Scanned + r.Scanned, Sent: sum.Sent + r.Sent, NextCursor: r.NextCursor}
		if sum.NextCursor == "" {
			return a.print(sum, func() { fmt.Fprintf(a.out, "looked at %d executions, sent %d again\n", sum.Scanned, sum.Sent) })
		}
		fmt.Fprintf(a.err, "looked at %d executions, sent %d again …\n", sum.Scanned, sum.Sent)
	}
}

func (a *app) repairRestore(ctx context.Context, api *client.Client) error {
	for {
		r, err := api.Restore(ctx)
		if err != nil {
			return err
		}
		if r.Phase != "done" {
			fmt.Fprintf(a.err, "looked at %d executions and %d jobs …\n", r.Executions, r.Jobs)
			continue
		}
		return a.print(r, func() {
			fmt.Fprintf(a.out, "restored: of %d executions %d run on, %d were withdrawn, %d given up; %d of %d jobs lifted, %d set back\n",
				r.Executions, r.Rearmed, r.Withdrawn, r.GivenUp, r.Lifted, r.Jobs, r.SetBack)
		})
	}
}
