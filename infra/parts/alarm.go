package parts

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/pkg/observe"
)

// Measure is a metric of one of AWS's own namespaces, by the minute.
type Measure struct {
	Namespace, Name, Statistic string
	Of                         map[string]string // its dimensions
	Minutes                    int               // of one data point; zero = 1
}

// Metric is the measure for the CDK.
func (m Measure) Metric() awscloudwatch.Metric {
	of := map[string]*string{}
	for name, value := range m.Of {
		of[name] = &value
	}
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{Namespace: &m.Namespace, MetricName: &m.Name, Statistic: &m.Statistic, DimensionsMap: &of,
		Period: minutes(max(m.Minutes, 1))})
}

// AlarmShape says when somebody is to be told.
type AlarmShape struct {
	Name    string // of the alarm, after the installation's prefix
	Says    string // one sentence: what is wrong, and what it means
	Runbook string // page of docs/runbooks that says what to do, without its ending
	Quiet   bool   // it is a part of another alarm, and sent to nobody
	Metric  awscloudwatch.IMetric
	AtLeast float64 // the value that is wrong, or more
	Below   float64 // instead of AtLeast: less than this is wrong, and so is silence
	For     int     // how many data points must be wrong
	Of      int     // out of how many; zero = For
}

// NewAlarm makes an alarm that is sent when it begins and when it ends.
func NewAlarm(scope constructs.Construct, id string, i Installation, shape AlarmShape) awscloudwatch.Alarm {
	props := &awscloudwatch.AlarmProps{
		AlarmName: jsii.String(i.Name(shape.Name)), AlarmDescription: jsii.String(describe(shape.Says, shape.Runbook)), Metric: shape.Metric,
		Threshold: &shape.AtLeast, ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		TreatMissingData:  awscloudwatch.TreatMissingData_NOT_BREACHING,
		DatapointsToAlarm: jsii.Number(shape.For), EvaluationPeriods: jsii.Number(max(shape.Of, shape.For)),
	}
	if shape.Below > 0 {
		props.Threshold, props.ComparisonOperator = &shape.Below, awscloudwatch.ComparisonOperator_LESS_THAN_THRESHOLD
		props.TreatMissingData = awscloudwatch.TreatMissingData_BREACHING
	}
	alarm := awscloudwatch.NewAlarm(scope, &id, props)
	if !shape.Quiet {
		i.send(alarm)
	}
	return alarm
}

// NewJointAlarm makes an alarm that rings while all of others do.
func NewJointAlarm(scope constructs.Construct, id string, i Installation, shape AlarmShape, others ...awscloudwatch.IAlarmRule) {
	i.send(awscloudwatch.NewCompositeAlarm(scope, &id, &awscloudwatch.CompositeAlarmProps{CompositeAlarmName: jsii.String(i.Name(shape.Name)),
		AlarmDescription: jsii.String(describe(shape.Says, shape.Runbook)), AlarmRule: awscloudwatch.AlarmRule_AllOf(others...)}))
}

func (i Installation) send(alarm awscloudwatch.AlarmBase) {
	action := awscloudwatchactions.NewSnsAction(i.Alarms)
	alarm.AddAlarmAction(action)
	alarm.AddOkAction(action)
}

func describe(says, runbook string) string {
	return says + " What to do: " + observe.RunbookURL(runbook)
}

// queueMeasure is a metric of one queue, the highest of each minute.
func queueMeasure(queue, name string) awscloudwatch.Metric {
	return Measure{Namespace: "AWS/SQS", Name: name, Statistic: "Maximum", Of: map[string]string{"QueueName": queue}}.Metric()
}
