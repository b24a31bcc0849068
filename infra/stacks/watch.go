package stacks

import (
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/infra/parts"
	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// Watch holds the dashboard and the alarms about the installation as a whole, as
// pkg/observe lists them, and those from figures of AWS's own about what is not
// made in one place. An alarm about one queue or function is made with it.
type Watch struct {
	Stack awscdk.Stack
}

func newWatch(app constructs.Construct, i parts.Installation, d *Data) *Watch {
	w := &Watch{Stack: stack(app, i, "watch", "Belfry: dashboard and alarms")}
	i.Alarms = d.seenFrom(w.Stack, i).Alarms
	site := w.site(i)
	switch {
	case i.Settings.Metrics:
		w.listed(i, site)
		awscloudwatch.NewCfnDashboard(w.Stack, jsii.String("Dashboard"), &awscloudwatch.CfnDashboardProps{DashboardName: &i.Settings.Prefix,
			DashboardBody: jsii.String(observe.Body(site))})
	case i.Settings.TickEnabled:
		w.tickUntold(i)
	}
	parts.NewAlarm(w.Stack, "ScheduleDropped", i, parts.AlarmShape{Name: "schedule-dropped", Runbook: "tick-missing", Says: "EventBridge could not invoke the tick.",
		Metric:  parts.Measure{Namespace: "AWS/Scheduler", Name: "TargetErrorCount", Statistic: "Sum", Of: map[string]string{"ScheduleGroup": i.Name("schedules")}}.Metric(),
		AtLeast: 1, For: 2, Of: 5})
	parts.NewAlarm(w.Stack, "StreamBehind", i, parts.AlarmShape{Name: "record-behind", Runbook: "record-behind",
		Says:    "The lists that people read, and the figures of executions, are more than five minutes behind.",
		Metric:  parts.Measure{Namespace: "AWS/Lambda", Name: "IteratorAge", Statistic: "Maximum", Of: map[string]string{"FunctionName": site.Record}}.Metric(),
		AtLeast: 300_000, For: 3})
	w.throttling(i)
	return w
}

// tickUntold watches the tick where it tells no figures.
func (w *Watch) tickUntold(i parts.Installation) {
	parts.NewAlarm(w.Stack, "TickMissing", i, parts.AlarmShape{Name: "tick-missing", Runbook: "tick-missing", Says: "No tick ran for three minutes: nothing new becomes due.",
		Metric: parts.Measure{Namespace: "AWS/Lambda", Name: "Invocations", Statistic: "Sum", Of: map[string]string{"FunctionName": i.FunctionName("tick", "")}}.Metric(),
		Below:  1, For: 3})
}

// tables are the tables and indexes that can throttle, by the word of the alarm.
func tables(i parts.Installation) (words []string, of []observe.SiteTable) {
	names := i.Tables()
	return []string{"jobs", "jobs-due", "jobs-bytenant", "executions", "executions-wake", "control"}, []observe.SiteTable{
		{Table: names.Jobs}, {Table: names.Jobs, Index: store.IndexDue}, {Table: names.Jobs, Index: store.IndexTenant},
		{Table: names.Executions}, {Table: names.Executions, Index: store.IndexWake}, {Table: names.Control}}
}

// site names what the dashboard and the alarms are about.
func (w *Watch) site(i parts.Installation) observe.Site {
	_, of := tables(i)
	alarms := w.Stack.FormatArn(&awscdk.ArnComponents{Service: jsii.String("cloudwatch"), Resource: jsii.String("alarm"), ResourceName: jsii.String(""),
		ArnFormat: awscdk.ArnFormat_COLON_RESOURCE_NAME})
	site := observe.Site{Prefix: i.Settings.Prefix, Region: *w.Stack.Region(), Tables: of, Record: i.FunctionName("record", ""), AlarmARN: *alarms,
		TickOff: !i.Settings.TickEnabled, Functions: functionNames(i)}
	for _, p := range i.Pools {
		q := i.Queues()
		site.Pools = append(site.Pools, observe.SitePool{Name: p.Name, Queue: q.Work(p.Name), Isolation: q.Isolation(p.Name), DeadLetter: q.DeadLetter(p.Name)})
	}
	return site
}

// listed makes the alarms of the list, the parts before what is made of them.
func (w *Watch) listed(i parts.Installation, site observe.Site) {
	rules := map[string]awscloudwatch.IAlarmRule{}
	for _, a := range observe.Alarms(site) {
		shape := parts.AlarmShape{Name: a.Name, Says: a.Says, Runbook: a.Runbook, Quiet: a.Part, AtLeast: a.AtLeast, Below: a.Below, For: a.For, Of: a.Of}
		if len(a.All) > 0 {
			var all []awscloudwatch.IAlarmRule
			for _, name := range a.All {
				all = append(all, rules[name])
			}
			parts.NewJointAlarm(w.Stack, "Listed-"+a.Name, i, shape, all...)
			continue
		}
		shape.Metric = measured(site, a)
		rules[a.Name] = awscloudwatch.AlarmRule_FromAlarm(parts.NewAlarm(w.Stack, "Listed-"+a.Name, i, shape), awscloudwatch.AlarmState_ALARM)
	}
}

// measured is the last series of an alarm, over those before it.
func measured(site observe.Site, a observe.Alarm) awscloudwatch.IMetric {
	last := a.Series[len(a.Series)-1]
	period := awscdk.Duration_Seconds(jsii.Number(int(a.Period / time.Second)))
	if last.Expression == "" {
		return metric(site, last, period)
	}
	using := map[string]awscloudwatch.IMetric{}
	for _, s := range a.Series[:len(a.Series)-1] {
		using[s.ID] = metric(site, s, period)
	}
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{Expression: &last.Expression, Label: &last.Label, Period: period, UsingMetrics: &using})
}

func metric(site observe.Site, s observe.Series, period awscdk.Duration) awscloudwatch.IMetric {
	namespace, name, of := s.Source(site)
	dimensions := map[string]*string{}
	for _, d := range of {
		dimensions[d.Name] = jsii.String(d.Value)
	}
	props := &awscloudwatch.MetricProps{Namespace: &namespace, MetricName: &name, Statistic: jsii.String(s.Stat), Period: period}
	if len(of) > 0 {
		props.DimensionsMap = &dimensions
	}
	return awscloudwatch.NewMetric(props)
}

// throttling watches tables and indexes. An index that throttles rejects the
// write to its table, so each has an alarm of its own.
func (w *Watch) throttling(i parts.Installation) {
	words, all := tables(i)
	for n, t := range all {
		of := map[string]string{"TableName": t.Table}
		says := "The table " + t.Table + " throttles writes: warm it, or look for a hot key."
		if t.Index != "" {
			of["GlobalSecondaryIndexName"] = t.Index
			says = "The index " + t.Index + " of " + t.Table + " throttles, and so rejects the table's writes: more shards, or more warm throughput."
		}
		parts.NewAlarm(w.Stack, "Throttled-"+words[n], i, parts.AlarmShape{Name: "throttled-" + words[n], Runbook: "throttled", Says: says,
			Metric: parts.Measure{Namespace: "AWS/DynamoDB", Name: "WriteThrottleEvents", Statistic: "Sum", Of: of}.Metric(), AtLeast: 1, For: 2, Of: 5})
	}
}
