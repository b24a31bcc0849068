package stacks

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"

	"github.com/belfry-scheduler/belfry/infra/parts"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// Watch holds the alarms about the installation as a whole, from metrics that
// AWS itself gives. Those about one queue or function are made with it.
type Watch struct {
	Stack awscdk.Stack
}

func newWatch(app constructs.Construct, i parts.Installation) *Watch {
	w := &Watch{Stack: stack(app, i, "watch", "Belfry: alarms")}
	if i.Settings.TickEnabled {
		parts.NewAlarm(w.Stack, "TickMissing", i, parts.AlarmShape{Name: "tick-missing", Says: "No tick ran for three minutes: nothing new becomes due.",
			Metric: parts.Measure{Namespace: "AWS/Lambda", Name: "Invocations", Statistic: "Sum", Of: map[string]string{"FunctionName": i.FunctionName("tick", "")}}.Metric(),
			Below:  1, For: 3})
	}
	parts.NewAlarm(w.Stack, "ScheduleDropped", i, parts.AlarmShape{Name: "schedule-dropped", Says: "EventBridge could not invoke the tick.",
		Metric:  parts.Measure{Namespace: "AWS/Scheduler", Name: "TargetErrorCount", Statistic: "Sum", Of: map[string]string{"ScheduleGroup": i.Name("schedules")}}.Metric(),
		AtLeast: 1, For: 2, Of: 5})
	parts.NewAlarm(w.Stack, "StreamBehind", i, parts.AlarmShape{Name: "record-behind", Says: "The lists that people read are more than five minutes behind.",
		Metric:  parts.Measure{Namespace: "AWS/Lambda", Name: "IteratorAge", Statistic: "Maximum", Of: map[string]string{"FunctionName": i.FunctionName("record", "")}}.Metric(),
		AtLeast: 300_000, For: 3})
	w.throttling(i)
	return w
}

// throttling watches tables and indexes. An index that throttles rejects the
// write to its table, so each has an alarm of its own.
func (w *Watch) throttling(i parts.Installation) {
	names := i.Tables()
	for _, t := range []struct{ word, table, index string }{
		{"jobs", names.Jobs, ""}, {"jobs-due", names.Jobs, store.IndexDue}, {"jobs-bytenant", names.Jobs, store.IndexTenant},
		{"executions", names.Executions, ""}, {"executions-wake", names.Executions, store.IndexWake}, {"control", names.Control, ""},
	} {
		of := map[string]string{"TableName": t.table}
		says := "The table " + t.table + " throttles writes: warm it, or look for a hot key."
		if t.index != "" {
			of["GlobalSecondaryIndexName"] = t.index
			says = "The index " + t.index + " of " + t.table + " throttles, and so rejects the table's writes: more shards, or more warm throughput."
		}
		parts.NewAlarm(w.Stack, "Throttled-"+t.word, i, parts.AlarmShape{Name: "throttled-" + t.word, Says: says,
			Metric: parts.Measure{Namespace: "AWS/DynamoDB", Name: "WriteThrottleEvents", Statistic: "Sum", Of: of}.Metric(), AtLeast: 1, For: 2, Of: 5})
	}
}
