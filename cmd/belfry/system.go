package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// version is set at link time; a build without it tells its module's version.
var version string

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Tell the version of this program", Example: "  belfry version --json", Args: upTo(0),
		RunE: func(*cobra.Command, []string) error {
			document := map[string]string{"version": versionText(), "go": runtime.Version(), "tzdb": schedule.TZDBVersion(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
			return a.print(document, func() {
				fmt.Fprintf(a.out, "belfry %s (%s, %s, time zones %s)\n", document["version"], document["go"], document["platform"], document["tzdb"])
			})
		}}
}

func (a *app) healthCommand() *cobra.Command {
	return &cobra.Command{Use: "health", Short: "Ask whether the service can serve", Example: "  belfry health\n  belfry health --url https://belfry.example.com", Args: upTo(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.call(c, func(ctx context.Context, api *client.Client) error {
				h, err := api.Health(ctx)
				if err != nil {
					return err
				}
				return a.print(h, func() {
					fmt.Fprintf(a.out, "%s: %s, version %s, time zones %s\n", api.URL(), h.Status, safe(h.Version), safe(h.TZDB))
				})
			})
		}}
}
