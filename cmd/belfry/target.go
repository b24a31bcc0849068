package main

import (
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// targetText is a target in a line: its kind and who is called.
func targetText(t job.Target) string {
	called := ""
	switch {
	case t.Webhook != nil:
		called = t.Webhook.URL
	case t.Handler != nil:
		called = t.Handler.Name
	case t.Log != nil:
		called = t.Log.Message
	case t.Lambda != nil:
		called = t.Lambda.Function
		if t.Lambda.Qualifier != "" {
			called += ":" + t.Lambda.Qualifier
		}
		if t.Lambda.Invocation == job.InvocationAsync {
			called += " (async)"
		}
	case t.SQS != nil:
		called = t.SQS.QueueURL
	case t.SNS != nil:
		called = t.SNS.TopicARN
	case t.EventBridge != nil:
		bus := t.EventBridge.Bus
		if bus == "" {
			bus = "default"
		}
		called = bus + ", " + t.EventBridge.Source + ": " + t.EventBridge.DetailType
	case t.StepFunctions != nil:
		called = t.StepFunctions.StateMachineARN
	case t.ECS != nil:
		called = t.ECS.TaskDefinition + " in " + t.ECS.Cluster
	}
	return strings.TrimSpace(t.Kind() + " " + called)
}
