package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
)

func (a *app) executionsChildren() *cobra.Command {
	var all bool
	var cursor string
	c := &cobra.Command{Use: "children ID", Short: "List the children of an execution that fanned out",
		Long:    "List the children of an execution that fanned out, in their order, up to 250 at a time. Whatever follows them runs\nonce all have ended; executions get ID names it.",
		Example: "  belfry executions children 'nightly~20260712T013000Z~v3'\n  belfry executions children 'nightly~20260712T013000Z~v3' --all --json", Args: exactly("ID")}
	c.Flags().BoolVar(&all, "all", false, "print everything, however much it is")
	c.Flags().StringVar(&cursor, "cursor", "", "go on where an earlier list ended (its next_cursor)")
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.call(c, func(ctx context.Context, api *client.Client) error {
			page, err := api.Children(ctx, args[0], cursor)
			for err == nil && all && page.NextCursor != "" {
				var more client.Page[client.Execution]
				more, err = api.Children(ctx, args[0], string(page.NextCursor))
				page.Items, page.NextCursor = append(page.Items, more.Items...), more.NextCursor
			}
			if err != nil {
				return err
			}
			return a.print(page, func() {
				if len(page.Items) == 0 {
					fmt.Fprintln(a.err, "the execution has no children")
					return
				}
				a.showExecutions(page)
			})
		})
	}
	return c
}

// childrenText says in a line how the children of an execution stand.
func childrenText(f *client.FanOut) string {
	if f == nil {
		return ""
	}
	says := []string{fmt.Sprintf("%d %s run %s", f.Children, plural(f.Children, "child", "children"), f.Handler)}
	switch {
	case f.CanceledBy != "":
		says = append(says, "canceled by "+safe(string(f.CanceledBy)))
	case !f.Made:
		says = append(says, "not all of them are made yet")
	case f.Ended:
		says = append(says, "all have ended")
	}
	if f.Failed > 0 {
		says = append(says, fmt.Sprintf("%d failed (%d may)", f.Failed, f.MayFail))
	}
	return strings.Join(says, ", ")
}

// followedText names what runs once all children have ended.
func followedText(f *client.FanOut) string {
	if f == nil || f.Reduce == "" {
		return ""
	}
	return string(f.ReduceID) + " (" + string(f.Reduce) + ")"
}
