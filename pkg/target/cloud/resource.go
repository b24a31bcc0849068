package cloud

import "github.com/belfry-scheduler/belfry/pkg/job"

// resource names what a target calls, as its circuit breaker knows it; empty where
// there is nothing that could be spared. No template can stand in any of it.
func resource(d job.Definition) string {
	t := d.Target
	switch {
	case t.Lambda != nil:
		return inAWS("lambda", t.Lambda.Function)
	case t.SQS != nil:
		return inAWS("sqs", t.SQS.QueueURL)
	case t.SNS != nil:
		return inAWS("sns", t.SNS.TopicARN)
	case t.EventBridge != nil && t.EventBridge.Bus == "":
		return inAWS("eventbridge", "default")
	case t.EventBridge != nil:
		return inAWS("eventbridge", t.EventBridge.Bus)
	case t.StepFunctions != nil:
		return inAWS("stepfunctions", t.StepFunctions.StateMachineARN)
	case t.ECS != nil:
		return inAWS("ecs", t.ECS.Cluster)
	}
	return ""
}

func inAWS(service, name string) string {
	if name == "" {
		return ""
	}
	return "aws:" + service + ":" + name
}
