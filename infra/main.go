// Command infra is the CDK app: it reads the settings and makes the stacks of one
// installation.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"

	"github.com/belfry-scheduler/belfry/infra/parts"
	"github.com/belfry-scheduler/belfry/infra/settings"
	"github.com/belfry-scheduler/belfry/infra/stacks"
)

// What the context may say beside the settings' own keys.
const (
	contextFile  = settings.ContextPrefix + "settings" // the settings file; infra/belfry.yaml
	contextBuilt = settings.ContextPrefix + "built"    // where the functions were built; build
)

func main() {
	defer jsii.Close()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "infra:", err)
		jsii.Close()
		os.Exit(1) //nolint:forbidigo // this is the main
	}
}

// names are those of all that the context says.
func names(app awscdk.App) []string {
	all, _ := app.Node().GetAllContext(nil).(map[string]any)
	return slices.Collect(maps.Keys(all))
}

// run synthesizes the app whose context the CDK's command line gives.
func run() error {
	app := awscdk.NewApp(&awscdk.AppProps{AnalyticsReporting: jsii.Bool(false)})
	context := func(key string) (string, bool) {
		value := app.Node().TryGetContext(&key)
		if value == nil {
			return "", false
		}
		return fmt.Sprint(value), true
	}
	file, built := "infra/belfry.yaml", "build"
	if said, found := context(contextFile); found {
		file = said
	}
	if said, found := context(contextBuilt); found {
		built = said
	}
	if err := settings.CheckContext(names(app), contextFile, contextBuilt); err != nil {
		return err
	}
	s, pools, err := settings.Read(os.DirFS(filepath.Dir(file)), filepath.Base(file), context)
	if err != nil {
		return err
	}
	if err := checkMachine(built, s.Architecture, programs...); err != nil {
		return err
	}
	stacks.Build(app, parts.Installation{Settings: s, Pools: pools, Built: built})
	awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{Verbose: jsii.Bool(true), Reports: jsii.Bool(false)}), nil)
	return missing(*app.Synth(nil).Directory())
}
