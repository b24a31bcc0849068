package httpapi

import "github.com/belfry-scheduler/belfry/pkg/job"

// Target is job.Target: exactly one member is given.
type Target struct {
	_ struct{} `additionalProperties:"false"`

	Webhook       *Webhook             `json:"webhook,omitempty" doc:"An HTTP POST of the payload"`
	Log           *LogTarget           `json:"log,omitempty" doc:"A line in the worker's log"`
	Handler       *HandlerTarget       `json:"handler,omitempty" doc:"A function that a worker registered"`
	Lambda        *LambdaTarget        `json:"lambda,omitempty" doc:"A Lambda function that gets the payload as its event"`
	SQS           *SQSTarget           `json:"sqs,omitempty" doc:"A queue that the payload is sent to"`
	SNS           *SNSTarget           `json:"sns,omitempty" doc:"A topic that the payload is published on"`
	EventBridge   *EventBridgeTarget   `json:"eventbridge,omitempty" doc:"An event bus; the payload, an object, is the event's detail"`
	StepFunctions *StepFunctionsTarget `json:"stepfunctions,omitempty" doc:"A state machine; the payload, an object, is its input"`
	ECS           *ECSTarget           `json:"ecs,omitempty" doc:"A task that ECS runs"`
}

// Webhook is job.Webhook.
type Webhook struct {
	_ struct{} `additionalProperties:"false"`

	URL        string            `json:"url" doc:"Absolute http or https URL without credentials"`
	Headers    map[string]string `json:"headers,omitempty" doc:"Up to 32 headers of your own"`
	ConfirmURL string            `json:"confirm_url,omitempty" doc:"Asked by GET, before another attempt, whether one that did not tell how it ended took effect; it answers {\"state\": \"done\"}, \"not_done\" or \"unknown\""`
}

// LogTarget is job.LogTarget.
type LogTarget struct {
	_ struct{} `additionalProperties:"false"`

	Message string `json:"message,omitempty" doc:"Text of the line"`
}

// HandlerTarget is job.HandlerTarget.
type HandlerTarget struct {
	_ struct{} `additionalProperties:"false"`

	Name string `json:"name" doc:"Name under which a worker registered the function"`
}

// LambdaTarget is job.LambdaTarget.
type LambdaTarget struct {
	_ struct{} `additionalProperties:"false"`

	Function   string `json:"function" doc:"Name or ARN of the function" example:"nightly-report"`
	Qualifier  string `json:"qualifier,omitempty" doc:"Version or alias; default: the unpublished version"`
	Invocation string `json:"invocation,omitempty" doc:"sync waits for the answer, which decides about the attempt (the default); async is done once Lambda has taken the event"`
}

// SQSTarget is job.SQSTarget.
type SQSTarget struct {
	_ struct{} `additionalProperties:"false"`

	QueueURL   string            `json:"queue_url" doc:"URL of the queue" example:"https://sqs.eu-west-1.amazonaws.com/111122223333/orders"`
	GroupID    string            `json:"group_id,omitempty" doc:"Message group; default: of a FIFO queue tenant/job, of another none"`
	Attributes map[string]string `json:"attributes,omitempty" doc:"Up to 5 message attributes of your own"`
}

// SNSTarget is job.SNSTarget.
type SNSTarget struct {
	_ struct{} `additionalProperties:"false"`

	TopicARN   string            `json:"topic_arn" doc:"ARN of the topic" example:"arn:aws:sns:eu-west-1:111122223333:orders"`
	Subject    string            `json:"subject,omitempty" doc:"Up to 100 ASCII characters, for e-mail subscriptions"`
	GroupID    string            `json:"group_id,omitempty" doc:"Message group; default: of a FIFO topic tenant/job, of another none"`
	Attributes map[string]string `json:"attributes,omitempty" doc:"Up to 5 message attributes of your own"`
}

// EventBridgeTarget is job.EventBridgeTarget.
type EventBridgeTarget struct {
	_ struct{} `additionalProperties:"false"`

	Bus        string   `json:"bus,omitempty" doc:"Name or ARN of the bus; default: default"`
	Source     string   `json:"source" doc:"Who says so; not aws.…" example:"com.example.billing"`
	DetailType string   `json:"detail_type" doc:"What happens" example:"Nightly report due"`
	Resources  []string `json:"resources,omitempty" nullable:"false" doc:"Up to 10 ARNs that the event is about"`
}

// StepFunctionsTarget is job.StepFunctionsTarget.
type StepFunctionsTarget struct {
	_ struct{} `additionalProperties:"false"`

	StateMachineARN string `json:"state_machine_arn" doc:"ARN of the state machine, of a version or an alias" example:"arn:aws:states:eu-west-1:111122223333:stateMachine:nightly"`
}

// ECSTarget is job.ECSTarget.
type ECSTarget struct {
	_ struct{} `additionalProperties:"false"`

	Wait              bool                `json:"wait,omitempty" doc:"Waits until the task has stopped; then the exit codes of the containers decide"`
	Cluster           string              `json:"cluster" doc:"Name or ARN of the cluster"`
	TaskDefinition    string              `json:"task_definition" doc:"Family, family:revision or ARN" example:"report:7"`
	LaunchType        string              `json:"launch_type,omitempty" doc:"FARGATE, EC2 or EXTERNAL; default: the cluster's own strategy"`
	CapacityProviders []CapacityProvider  `json:"capacity_providers,omitempty" nullable:"false" doc:"A strategy in place of a launch type"`
	PlatformVersion   string              `json:"platform_version,omitempty" doc:"Of Fargate; default LATEST"`
	Subnets           []string            `json:"subnets,omitempty" nullable:"false" doc:"Subnets of a task with a network of its own; needed on Fargate"`
	SecurityGroups    []string            `json:"security_groups,omitempty" nullable:"false" doc:"Up to 5; default: that of the network"`
	PublicIP          bool                `json:"public_ip,omitempty" doc:"Whether the task gets a public address"`
	Containers        []ContainerOverride `json:"containers" nullable:"false" doc:"The containers that are told the execution, 1 to 10"`
}

// CapacityProvider is job.CapacityProvider.
type CapacityProvider struct {
	_ struct{} `additionalProperties:"false"`

	Name   string `json:"name" example:"FARGATE_SPOT"`
	Weight int    `json:"weight,omitempty" minimum:"0" maximum:"1000"`
	Base   int    `json:"base,omitempty" minimum:"0" maximum:"100000"`
}

// ContainerOverride is job.ContainerOverride.
type ContainerOverride struct {
	_ struct{} `additionalProperties:"false"`

	Name        string            `json:"name" doc:"Of the container in the task definition"`
	Command     []string          `json:"command,omitempty" nullable:"false" doc:"Default: the task definition's"`
	Environment map[string]string `json:"environment,omitempty" doc:"Variables of your own; Belfry adds BELFRY_…"`
}

func (t Target) target() job.Target {
	var out job.Target
	if t.Webhook != nil {
		out.Webhook = &job.Webhook{URL: t.Webhook.URL, Headers: t.Webhook.Headers, ConfirmURL: t.Webhook.ConfirmURL}
	}
	if t.Log != nil {
		out.Log = &job.LogTarget{Message: t.Log.Message}
	}
	if t.Handler != nil {
		out.Handler = &job.HandlerTarget{Name: t.Handler.Name}
	}
	if l := t.Lambda; l != nil {
		out.Lambda = &job.LambdaTarget{Function: l.Function, Qualifier: l.Qualifier, Invocation: job.Invocation(l.Invocation)}
	}
	if q := t.SQS; q != nil {
		out.SQS = &job.SQSTarget{QueueURL: q.QueueURL, GroupID: q.GroupID, Attributes: q.Attributes}
	}
	if s := t.SNS; s != nil {
		out.SNS = &job.SNSTarget{TopicARN: s.TopicARN, Subject: s.Subject, GroupID: s.GroupID, Attributes: s.Attributes}
	}
	if e := t.EventBridge; e != nil {
		out.EventBridge = &job.EventBridgeTarget{Bus: e.Bus, Source: e.Source, DetailType: e.DetailType, Resources: e.Resources}
	}
	if s := t.StepFunctions; s != nil {
		out.StepFunctions = &job.StepFunctionsTarget{StateMachineARN: s.StateMachineARN}
	}
	if t.ECS != nil {
		out.ECS = t.ECS.target()
	}
	return out
}

func (e *ECSTarget) target() *job.ECSTarget {
	out := &job.ECSTarget{Wait: e.Wait, Cluster: e.Cluster, TaskDefinition: e.TaskDefinition, LaunchType: e.LaunchType, PlatformVersion: e.PlatformVersion,
		Subnets: e.Subnets, SecurityGroups: e.SecurityGroups, PublicIP: e.PublicIP}
	for _, p := range e.CapacityProviders {
		out.CapacityProviders = append(out.CapacityProviders, job.CapacityProvider{Name: p.Name, Weight: p.Weight, Base: p.Base})
	}
	for _, c := range e.Containers {
		out.Containers = append(out.Containers, job.ContainerOverride{Name: c.Name, Command: c.Command, Environment: c.Environment})
	}
	return out
}
