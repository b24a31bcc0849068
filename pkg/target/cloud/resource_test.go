package cloud

import (
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestWhatATargetInAWSCallsHasOneName(t *testing.T) {
	const machine = "arn:aws:states:eu-west-1:111122223333:stateMachine:nightly"
	for says, row := range map[string]struct {
		target job.Target
		want   string
	}{
		"a function":                    {job.Target{Lambda: &job.LambdaTarget{Function: "bill", Qualifier: "live"}}, "aws:lambda:bill"},
		"a queue":                       {job.Target{SQS: &job.SQSTarget{QueueURL: "https://sqs.eu-west-1.amazonaws.com/111122223333/q"}}, "aws:sqs:https://sqs.eu-west-1.amazonaws.com/111122223333/q"},
		"a topic":                       {job.Target{SNS: &job.SNSTarget{TopicARN: "arn:aws:sns:eu-west-1:111122223333:t"}}, "aws:sns:arn:aws:sns:eu-west-1:111122223333:t"},
		"the default bus":               {job.Target{EventBridge: &job.EventBridgeTarget{Source: "x", DetailType: "y"}}, "aws:eventbridge:default"},
		"a bus":                         {job.Target{EventBridge: &job.EventBridgeTarget{Bus: "orders"}}, "aws:eventbridge:orders"},
		"a state machine":               {job.Target{StepFunctions: &job.StepFunctionsTarget{StateMachineARN: machine}}, "aws:stepfunctions:" + machine},
		"a cluster":                     {job.Target{ECS: &job.ECSTarget{Cluster: "batch"}}, "aws:ecs:batch"},
		"the log, which cannot be down": {job.Target{Log: &job.LogTarget{}}, ""},
	} {
		if got := resource(job.Definition{Target: row.target}); got != row.want {
			t.Errorf("%s is %q, want %q", says, got, row.want)
		}
	}
}
