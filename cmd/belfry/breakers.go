package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
)

func (a *app) breakersCommand() *cobra.Command {
	c := &cobra.Command{Use: "breakers", Short: "List and close the circuit breakers that hold attempts back",
		Long: `List and close the circuit breakers that hold attempts back.

What attempts call (the host of a webhook, something in AWS, what a handler names) has a circuit breaker: after many
failures in a row it opens, and attempts wait, none used up, until a few that probe are answered. It closes by itself.`,
		Example: "  belfry breakers\n  belfry breakers close https://api.example.com:443 --note 'they say it is mended'", Args: noSuchCommand,
		RunE: func(c *cobra.Command, _ []string) error { return a.listBreakers(c, paging{limit: 100}) }}
	c.AddCommand(a.breakersList(), a.breakersClose())
	return c
}

func (a *app) breakersList() *cobra.Command {
	var p paging
	c := &cobra.Command{Use: "list", Short: "List the open circuit breakers", Long: "List the circuit breakers that are open, or half open: a few attempts probe.",
		Example: "  belfry breakers list\n  belfry breakers list --json", Args: upTo(0)}
	p.flags(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := p.check(c); err != nil {
			return err
		}
		return a.listBreakers(c, p)
	}
	return c
}

func (a *app) listBreakers(c *cobra.Command, p paging) error {
	return a.call(c, func(ctx context.Context, api *client.Client) error {
		page, err := collect(p, func(cursor string, limit int) (client.Page[client.Breaker], error) {
			return api.Breakers(ctx, cursor, limit)
		})
		if err != nil {
			return err
		}
		return a.print(page, func() { a.showBreakers(page) })
	})
}

func (a *app) showBreakers(page client.Page[client.Breaker]) {
	if len(page.Items) == 0 {
		fmt.Fprintln(a.err, "no circuit breaker is open")
		return
	}
	var t table
	t.row("RESOURCE", "STATE", "SINCE", "UNTIL", "FAILURES", "LAST ERROR", "HOLDS BACK")
	for _, b := range page.Items {
		t.row(safe(b.Resource), b.State, a.when(b.Since, a.local), a.when(b.Until, a.local), strconv.Itoa(b.Failures), orDash(safe(string(b.ErrorCode))), holdsText(b))
	}
	t.write(a.out)
	a.more(page.NextCursor)
}

// holdsText says whose attempts a breaker holds back.
func holdsText(b client.Breaker) string {
	if b.EveryJob {
		return "every job"
	}
	return orDash(safe(strings.Join(b.Jobs, ", ")))
}

func (a *app) breakersClose() *cobra.Command {
	var note string
	c := &cobra.Command{Use: "close RESOURCE", Short: "Close a circuit breaker by hand",
		Long: "Close a circuit breaker by hand, as the list names it. What it held back begins within two minutes or so; the next failures\n" +
			"in a row open it again. Who closed it, when and why is audited.",
		Example: "  belfry breakers close https://api.example.com:443\n  belfry breakers close payments-db --note 'failed over, see OPS-17'", Args: exactly("RESOURCE")}
	c.Flags().StringVar(&note, "note", "", "why, up to 1000 bytes")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.call(c, func(ctx context.Context, api *client.Client) error {
			b, err := api.CloseBreaker(ctx, client.BreakerQuestion{Resource: args[0], Note: note})
			if err != nil {
				return err
			}
			return a.print(b, func() { fmt.Fprintf(a.out, "the breaker of %s is %s\n", safe(b.Resource), b.State) })
		})
	}
	return c
}
