package stacks

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsschedulertargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/infra/parts"
	"github.com/belfry-scheduler/belfry/infra/settings"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

// A signal is hidden for six times what its function has; of a scan that is its
// lease on the shards.
const (
	signalTimeout    = 20 * time.Second
	signalVisibility = int(queue.DefaultVisibility / time.Second)
	tickConcurrency  = 2
	oldestTick       = 100 // seconds: it is sent a minute ahead
	oldestScan       = 60
)

// Core turns due times into executions and runs them.
type Core struct {
	Stack                  awscdk.Stack
	ticks, scans, failures awssqs.Queue
}

func newCore(app constructs.Construct, i parts.Installation, d *Data) *Core {
	c := &Core{Stack: stack(app, i, "core", "Belfry: the functions that find what is due and run it")}
	d = d.seenFrom(c.Stack, i)
	i.Alarms = d.Alarms
	c.ticks = parts.NewSignalQueue(c.Stack, "TickQueue", i, i.Queues().Tick(), oldestTick, signalVisibility)
	c.scans = parts.NewSignalQueue(c.Stack, "ScanQueue", i, i.Queues().Scan(), oldestScan, signalVisibility)
	c.failures = parts.NewFailureQueue(c.Stack, i)
	c.tick(i, d)
	scan := c.scan(i, d)
	for _, pool := range i.Pools.Of(dispatch.KindLambda) {
		scan.Node().AddDependency(c.work(i, d, pool).Function)
	}
	scan.Node().AddDependency(c.deadLetter(i, d).Function)
	c.record(i, d)
	c.archive(i, d)
	return c
}

// tick is started by the schedule, and from then on by itself. To stop it takes
// both: the schedule alone would leave the chain that is under way.
func (c *Core) tick(i parts.Installation, d *Data) {
	f := parts.NewFunction(c.Stack, "Tick", i, parts.FunctionShape{Folder: "tick", Says: "Fans a minute out to the scans.", MemoryMB: 256, Timeout: signalTimeout,
		Reserved: tickConcurrency, Chains: true}, c.failures)
	f.FeedFrom(c.ticks, parts.Feed{Batch: 1, Most: tickConcurrency, Off: !i.Settings.TickEnabled})
	grantTick(i, f.Role, d, c)
	group := awsscheduler.NewScheduleGroup(c.Stack, jsii.String("Schedules"), &awsscheduler.ScheduleGroupProps{ScheduleGroupName: jsii.String(i.Name("schedules")),
		RemovalPolicy: awscdk.RemovalPolicy_DESTROY}) // left behind, its name would be in the way of the next deploy
	role := c.minutelyRole(i, group)
	awsscheduler.NewSchedule(c.Stack, jsii.String("Minutely"), &awsscheduler.ScheduleProps{
		ScheduleName: jsii.String(i.Name("tick")), ScheduleGroup: group, Enabled: &i.Settings.TickEnabled,
		Description: jsii.String("Starts the tick, and starts it again if it ever stops."),
		Schedule:    awsscheduler.ScheduleExpression_Rate(awscdk.Duration_Minutes(jsii.Number(1))),
		Target: awsschedulertargets.NewLambdaInvoke(f.Function, &awsschedulertargets.ScheduleTargetBaseProps{Role: role, RetryAttempts: jsii.Number(0),
			MaxEventAge: awscdk.Duration_Seconds(jsii.Number(60)), DeadLetterQueue: c.failures}),
	})
	parts.Accept(role, "AwsSolutions-IAM5", "The schedule may invoke the tick in any of its versions.")
}

// minutelyRole is what the schedule may: invoke the tick, and tell failures.
func (c *Core) minutelyRole(i parts.Installation, group awsscheduler.ScheduleGroup) awsiam.Role {
	role := awsiam.NewRole(c.Stack, jsii.String("MinutelyRole"), &awsiam.RoleProps{
		Description: jsii.String("What the schedule of the tick may."),
		AssumedBy: awsiam.NewServicePrincipal(jsii.String("scheduler.amazonaws.com"), &awsiam.ServicePrincipalOpts{Conditions: &map[string]any{
			"StringEquals": map[string]any{"aws:SourceAccount": c.Stack.Account(), "aws:SourceArn": group.ScheduleGroupArn()}}})})
	i.GrantKey(role)
	return role
}

func (c *Core) scan(i parts.Installation, d *Data) parts.Function {
	most := i.Settings.Functions.ScanConcurrency
	f := parts.NewFunction(c.Stack, "Scan", i, parts.FunctionShape{Folder: "scan", Says: "Turns due times into executions.", MemoryMB: 512, Timeout: signalTimeout,
		Reserved: most, Chains: true}, nil)
	f.FeedFrom(c.scans, parts.Feed{Batch: 1, Most: most})
	grantScan(i, f.Role, d)
	return f
}

func (c *Core) work(i parts.Installation, d *Data, pool dispatch.Pool) parts.Function {
	f := parts.NewFunction(c.Stack, "Work-"+pool.Name, i, parts.FunctionShape{Folder: "work", Pool: pool.Name, Says: "Runs the executions of the pool " + pool.Name + ".",
		MemoryMB: pool.MemoryMB, Timeout: parts.WorkTimeout(pool), Chains: true, Secrets: true, Objects: true}, nil)
	queues := d.Work[pool.Name]
	f.FeedFrom(queues.Main, parts.Feed{Batch: pool.Batch, Most: pool.MaxConcurrency, Pollers: pollers(i.Settings.Functions.Pollers, pool)})
	f.FeedFrom(queues.Isolation, parts.Feed{Batch: 1, Most: pool.Isolation})
	grantWork(i, f.Role, d, pool.Name)
	return f
}

func pollers(all settings.Pollers, pool dispatch.Pool) *parts.Pollers {
	for _, p := range all {
		if p.Pool == pool.Name {
			return &parts.Pollers{Least: p.Least, Most: settings.MostPollers(pool)}
		}
	}
	return nil
}

func (c *Core) deadLetter(i parts.Installation, d *Data) parts.Function {
	f := parts.NewFunction(c.Stack, "DeadLetter", i, parts.FunctionShape{Folder: "deadletter", Says: "Takes up what was received too often.", MemoryMB: 256,
		Timeout: parts.DeadLetterTimeout, Chains: true}, nil)
	for _, pool := range i.Pools {
		f.FeedFrom(d.Work[pool.Name].DeadLetter, parts.Feed{Batch: 10, Most: 2})
	}
	grantDeadLetter(i, f.Role, d)
	return f
}

func (c *Core) record(i parts.Installation, d *Data) {
	f := parts.NewFunction(c.Stack, "Record", i, parts.FunctionShape{Folder: "record", Says: "Keeps the lists that people read.", MemoryMB: 256, Timeout: time.Minute}, nil)
	f.FeedFromStream(d.Executions, c.failures)
	grantRecord(i, f.Role, d)
	parts.Accept(f.Role, "AwsSolutions-IAM5", "Listing streams has no resource that a right could be narrowed to.", "Resource::*")
}
