package cloud

import (
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// A job names queues, topics and functions; the address that is called is the
// service's own, made of nothing but a region.
func TestNoTargetInAWSIsCalledAnywhereButAtItsService(t *testing.T) {
	for sentence, row := range map[string]struct {
		service string
		target  job.Target
		host    string
	}{
		"a queue in its region":                {"SQS", job.Target{SQS: &job.SQSTarget{QueueURL: "https://sqs.eu-north-1.amazonaws.com/111122223333/q"}}, "sqs.eu-north-1.amazonaws.com"},
		"a queue's URL that leads to metadata": {"SQS", job.Target{SQS: &job.SQSTarget{QueueURL: "http://169.254.170.2/111122223333/q"}}, "sqs.eu-west-1.amazonaws.com"},
		"a queue's URL that leads elsewhere":   {"SQS", job.Target{SQS: &job.SQSTarget{QueueURL: "https://sqs.evil.amazonaws.com.evil.com/111122223333/q"}}, "sqs.eu-west-1.amazonaws.com"},
		"a topic in its region":                {"SNS", job.Target{SNS: &job.SNSTarget{TopicARN: "arn:aws:sns:eu-north-1:111122223333:t"}}, "sns.eu-north-1.amazonaws.com"},
		"a function by name":                   {"LAMBDA", job.Target{Lambda: &job.LambdaTarget{Function: "report"}}, "lambda.eu-west-1.amazonaws.com"},
		"a function in its region":             {"LAMBDA", job.Target{Lambda: &job.LambdaTarget{Function: "arn:aws:lambda:eu-north-1:111122223333:function:report"}}, "lambda.eu-north-1.amazonaws.com"},
		"a bus in its region":                  {"EVENTBRIDGE", job.Target{EventBridge: &job.EventBridgeTarget{Bus: "arn:aws:events:eu-north-1:111122223333:event-bus/b", Source: "s", DetailType: "d"}}, "events.eu-north-1.amazonaws.com"},
		"a machine in its region":              {"STEPFUNCTIONS", job.Target{StepFunctions: &job.StepFunctionsTarget{StateMachineARN: "arn:aws:states:eu-north-1:111122223333:stateMachine:m"}}, "states.eu-north-1.amazonaws.com"},
		"a cluster by name":                    {"ECS", targets()["ECS"], "ecs.eu-west-1.amazonaws.com"},
	} {
		t.Run(sentence, func(t *testing.T) {
			called := ""
			config := aws.Config{Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("id", "key", ""), HTTPClient: hosts(func(r *http.Request) { called = r.URL.Host })}
			_ = New(Options{AWS: &config, Clock: clock.System{}}).handlers()[row.service](t.Context(), workertest.Attempt(facts(row.target, ""))) // nothing answers
			if called != row.host {
				t.Errorf("%s was called, want %s", called, row.host)
			}
		})
	}
}

// hosts is a network in which every call is noted and none arrives.
type hosts func(*http.Request)

func (h hosts) Do(r *http.Request) (*http.Response, error) {
	h(r)
	return nil, errors.New("nothing is here")
}
