package main

import (
	"reflect"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestEveryTargetIsToldInALine(t *testing.T) {
	t.Parallel()
	told := map[string]bool{}
	for _, row := range []struct {
		target job.Target
		want   string
	}{
		{job.Target{Webhook: &job.Webhook{URL: "https://example.com/hook"}}, "webhook https://example.com/hook"},
		{job.Target{Handler: &job.HandlerTarget{Name: "report"}}, "handler report"},
		{job.Target{Log: &job.LogTarget{}}, "log"},
		{job.Target{Lambda: &job.LambdaTarget{Function: "report", Qualifier: "live", Invocation: job.InvocationAsync}}, "lambda report:live (async)"},
		{job.Target{SQS: &job.SQSTarget{QueueURL: "https://sqs.eu-west-1.amazonaws.com/111122223333/orders"}}, "sqs https://sqs.eu-west-1.amazonaws.com/111122223333/orders"},
		{job.Target{SNS: &job.SNSTarget{TopicARN: "arn:aws:sns:eu-west-1:111122223333:orders"}}, "sns arn:aws:sns:eu-west-1:111122223333:orders"},
		{job.Target{EventBridge: &job.EventBridgeTarget{Source: "com.example", DetailType: "Due"}}, "eventbridge default, com.example: Due"},
		{job.Target{StepFunctions: &job.StepFunctionsTarget{StateMachineARN: "arn:aws:states:eu-west-1:111122223333:stateMachine:m"}}, "stepfunctions arn:aws:states:eu-west-1:111122223333:stateMachine:m"},
		{job.Target{ECS: &job.ECSTarget{Cluster: "batch", TaskDefinition: "report:7"}}, "ecs report:7 in batch"},
	} {
		if got := targetText(row.target); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
		told[row.target.Kind()] = true
	}
	if len(told) != reflect.TypeFor[job.Target]().NumField() {
		t.Errorf("%d kinds of targets are told of %d", len(told), reflect.TypeFor[job.Target]().NumField())
	}
}
