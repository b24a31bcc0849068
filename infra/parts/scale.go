package parts

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsapplicationautoscaling"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsecs"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"

	"github.com/belfry-scheduler/belfry/pkg/dispatch"
)

// oldWait is the age in seconds of a message from which on the pool grows
// although its slots seem to do: executions handed off hold a slot and have no
// message, and a worker may hang.
const oldWait = 120

// scale lets a pool grow with its backlog for each worker and with the age of
// its oldest message, and sends all its workers home once there has been no
// message for a while. Messages that wait for their second count from the moment
// they are sent, up to five minutes ahead, so a worker is there in time.
func scale(scope constructs.Construct, i Installation, pool dispatch.Pool, cluster awsecs.Cluster, service awsecs.FargateService) {
	target := awsapplicationautoscaling.NewScalableTarget(scope, jsii.String("Scale"), &awsapplicationautoscaling.ScalableTargetProps{
		ServiceNamespace: awsapplicationautoscaling.ServiceNamespace_ECS, ScalableDimension: jsii.String("ecs:service:DesiredCount"),
		ResourceId:  jsii.String(fmt.Sprintf("service/%s/%s", *cluster.ClusterName(), *service.ServiceName())),
		MinCapacity: jsii.Number(0), MaxCapacity: jsii.Number(pool.MaxConcurrency)})
	target.Node().AddDependency(service)
	word := i.workerWord(pool)
	queues := []string{i.Queues().Work(pool.Name), i.Queues().Isolation(pool.Name)}

	grow := step(scope, "Grow", target, awsapplicationautoscaling.AdjustmentType_CHANGE_IN_CAPACITY)
	grow.AddAdjustment(&awsapplicationautoscaling.AdjustmentTier{LowerBound: jsii.Number(0), UpperBound: jsii.Number(pool.Slots), Adjustment: jsii.Number(1)})
	grow.AddAdjustment(&awsapplicationautoscaling.AdjustmentTier{LowerBound: jsii.Number(pool.Slots), Adjustment: jsii.Number(few(pool))})
	scaleOn(scope, "Backlog", grow, &awscloudwatch.AlarmProps{AlarmName: jsii.String(i.Name(word + "-backlog")), Metric: backlog(queues, pool, cluster, service),
		AlarmDescription: jsii.String("Not an alarm: the pool has more messages than slots, and grows."), Threshold: jsii.Number(1), EvaluationPeriods: jsii.Number(1),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD})

	hurry := step(scope, "Hurry", target, awsapplicationautoscaling.AdjustmentType_CHANGE_IN_CAPACITY)
	hurry.AddAdjustment(&awsapplicationautoscaling.AdjustmentTier{LowerBound: jsii.Number(0), Adjustment: jsii.Number(1)})
	scaleOn(scope, "Age", hurry, &awscloudwatch.AlarmProps{AlarmName: jsii.String(i.Name(word + "-age")), Metric: waiting(queues),
		AlarmDescription: jsii.String("Not an alarm: messages wait although there are slots, and the pool grows."), Threshold: jsii.Number(oldWait),
		EvaluationPeriods: jsii.Number(1), ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD})

	home := step(scope, "Home", target, awsapplicationautoscaling.AdjustmentType_EXACT_CAPACITY)
	home.AddAdjustment(&awsapplicationautoscaling.AdjustmentTier{UpperBound: jsii.Number(0), Adjustment: jsii.Number(0)})
	scaleOn(scope, "Idle", home, &awscloudwatch.AlarmProps{AlarmName: jsii.String(i.Name(word + "-idle")), Metric: messages(queues),
		AlarmDescription: jsii.String("Not an alarm: the pool has nothing to do, and goes to zero."), Threshold: jsii.Number(0),
		EvaluationPeriods: jsii.Number(i.Settings.Workers.IdleMinutes), ComparisonOperator: awscloudwatch.ComparisonOperator_LESS_THAN_OR_EQUAL_TO_THRESHOLD})
}

// few is how many workers a pool far behind gets at a time.
func few(pool dispatch.Pool) int { return max(2, pool.MaxConcurrency/4) }

func step(scope constructs.Construct, id string, target awsapplicationautoscaling.ScalableTarget, by awsapplicationautoscaling.AdjustmentType) awsapplicationautoscaling.StepScalingAction {
	return awsapplicationautoscaling.NewStepScalingAction(scope, &id, &awsapplicationautoscaling.StepScalingActionProps{ScalingTarget: target, AdjustmentType: by,
		Cooldown: seconds(60), MetricAggregationType: awsapplicationautoscaling.MetricAggregationType_MAXIMUM})
}

func scaleOn(scope constructs.Construct, id string, action awsapplicationautoscaling.StepScalingAction, props *awscloudwatch.AlarmProps) {
	props.TreatMissingData = awscloudwatch.TreatMissingData_IGNORE
	awscloudwatch.NewAlarm(scope, jsii.String(id), props).AddAlarmAction(awscloudwatchactions.NewApplicationScalingAction(action))
}

// backlog is how many messages there are for each slot: waiting, delayed and in
// hand. With no worker it is the number of messages.
func backlog(queues []string, pool dispatch.Pool, cluster awsecs.Cluster, service awsecs.FargateService) awscloudwatch.MathExpression {
	sum, using := summed(queues)
	using["workers"] = awscloudwatch.NewMetric(&awscloudwatch.MetricProps{Namespace: jsii.String("ECS/ContainerInsights"), MetricName: jsii.String("RunningTaskCount"),
		Statistic: jsii.String("Average"), Period: minutes(1), DimensionsMap: &map[string]*string{"ClusterName": cluster.ClusterName(), "ServiceName": service.ServiceName()}})
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{Label: jsii.String("messages a slot"), Period: minutes(1), UsingMetrics: &using,
		Expression: jsii.String(fmt.Sprintf("IF(FILL(workers, 0) < 1, %s, (%s) / (FILL(workers, 1) * %d))", sum, sum, pool.Slots))})
}

// messages is how many messages there are.
func messages(queues []string) awscloudwatch.MathExpression {
	sum, using := summed(queues)
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{Label: jsii.String("messages"), Period: minutes(1), UsingMetrics: &using, Expression: &sum})
}

func summed(queues []string) (sum string, using map[string]awscloudwatch.IMetric) {
	using = map[string]awscloudwatch.IMetric{}
	for n, queue := range queues {
		for m, name := range []string{"ApproximateNumberOfMessagesVisible", "ApproximateNumberOfMessagesDelayed", "ApproximateNumberOfMessagesNotVisible"} {
			id := fmt.Sprintf("q%d%c", n, 'a'+m)
			using[id] = queueMeasure(queue, name)
			if sum != "" {
				sum += " + "
			}
			sum += id
		}
	}
	return sum, using
}

// waiting is the age in seconds of the oldest message while any waits that a
// worker could take.
func waiting(queues []string) awscloudwatch.MathExpression {
	using := map[string]awscloudwatch.IMetric{}
	var ages string
	for n, queue := range queues {
		age, visible := fmt.Sprintf("age%d", n), fmt.Sprintf("visible%d", n)
		using[age], using[visible] = queueMeasure(queue, "ApproximateAgeOfOldestMessage"), queueMeasure(queue, "ApproximateNumberOfMessagesVisible")
		if ages != "" {
			ages += " + "
		}
		ages += fmt.Sprintf("IF(%s > 0, %s, 0)", visible, age)
	}
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{Label: jsii.String("oldest waiting"), Period: minutes(1), UsingMetrics: &using, Expression: &ages})
}
