package stacks

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/infra/parts"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
)

// Stacks are the stacks of one installation. Workers is nil when no pool is of
// kind ecs, and when the settings say that they run elsewhere.
type Stacks struct {
	Data    *Data
	Core    *Core
	API     *API
	Workers *Workers
	Watch   *Watch
}

// Build makes the stacks of the installation in app.
func Build(app constructs.Construct, i parts.Installation) Stacks {
	var s Stacks
	s.Data = newData(app, i)
	i.Key = s.Data.Key
	if pools := i.Pools.Of(dispatch.KindECS); len(pools) > 0 && i.Settings.Workers.Deployed {
		s.Workers = newWorkers(app, i, s.Data, pools)
	}
	s.Core = newCore(app, i, s.Data)
	s.API = newAPI(app, i, s.Data)
	inOrder(s)
	s.Watch = newWatch(app, i, s.Data)
	return s
}

// inOrder lets an upgrade go from those who read to those who write: workers,
// then scan, then the API. A message that is newer than its reader would be hidden
// and come again late.
func inOrder(s Stacks) {
	if s.Workers != nil {
		s.Core.Stack.AddStackDependency(s.Workers.Stack, nil)
	}
	s.API.Stack.AddStackDependency(s.Core.Stack, nil)
}

// stack is one of the installation's stacks. Account and region are those of
// whoever deploys.
func stack(app constructs.Construct, i parts.Installation, word, says string) awscdk.Stack {
	name := i.Name(word)
	s := awscdk.NewStack(app, &name, &awscdk.StackProps{StackName: &name, Description: jsii.String(says),
		TerminationProtection: jsii.Bool(word == "data" && i.Settings.Tables.DeletionProtection)})
	awscdk.Tags_Of(s).Add(jsii.String("belfry:installation"), &i.Settings.Prefix, &awscdk.TagProps{
		ExcludeResourceTypes: jsii.Strings("AWS::ApplicationAutoScaling::ScalableTarget", "AWS::CloudWatch::Dashboard")}) // CloudFormation cannot tag these
	return s
}

// functionNames are the names of every function of the installation.
func functionNames(i parts.Installation) []string {
	names := []string{i.FunctionName("api", ""), i.FunctionName("tick", ""), i.FunctionName("scan", "")}
	for _, pool := range i.Pools.Of(dispatch.KindLambda) {
		names = append(names, i.FunctionName("work", pool.Name))
	}
	names = append(names, i.FunctionName("deadletter", ""), i.FunctionName("record", ""))
	if i.Settings.Archive.Enabled {
		names = append(names, i.FunctionName("archive", ""))
	}
	return names
}
