package job

// Target says what an execution does. Exactly one member is set.
type Target struct {
	Webhook       *Webhook             `json:"webhook,omitempty"`
	Log           *LogTarget           `json:"log,omitempty"`
	Handler       *HandlerTarget       `json:"handler,omitempty"`
	Lambda        *LambdaTarget        `json:"lambda,omitempty"`
	SQS           *SQSTarget           `json:"sqs,omitempty"`
	SNS           *SNSTarget           `json:"sns,omitempty"`
	EventBridge   *EventBridgeTarget   `json:"eventbridge,omitempty"`
	StepFunctions *StepFunctionsTarget `json:"stepfunctions,omitempty"`
	ECS           *ECSTarget           `json:"ecs,omitempty"`
}

// Webhook is an HTTP POST of the payload to URL.
type Webhook struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
	// ConfirmURL is asked, with a GET, whether an attempt that did not tell how it
	// ended took effect, before another one is made; empty = it is tried again unasked.
	ConfirmURL string `json:"confirm_url,omitempty"`
}

// LogTarget writes the payload's size and the execution's id to the worker's
// log: for demonstrations and for trying out schedules.
type LogTarget struct {
	Message string `json:"message,omitempty"`
}

// HandlerTarget runs a function that a worker registered under Name.
type HandlerTarget struct {
	Name string `json:"name"`
}

// Invocation says whether a Lambda function is waited for.
type Invocation string

// Sync waits for the function's answer, which decides about the attempt. Async is
// done once Lambda has taken the event. Empty is sync.
const (
	InvocationSync  Invocation = "sync"
	InvocationAsync Invocation = "async"
)

// LambdaTarget invokes a Lambda function with the payload as its event.
type LambdaTarget struct {
	Function   string     `json:"function"` // name or ARN
	Qualifier  string     `json:"qualifier,omitempty"`
	Invocation Invocation `json:"invocation,omitempty"`
}

// SQSTarget sends the payload to a queue.
type SQSTarget struct {
	QueueURL string `json:"queue_url"`
	// GroupID is the message group; empty = of a FIFO queue tenant/job, so that a
	// job's messages keep their order, and none of a standard queue.
	GroupID    string            `json:"group_id,omitempty"`
	Attributes map[string]string `json:"attributes,omitempty"`
}

// SNSTarget publishes the payload on a topic.
type SNSTarget struct {
	TopicARN   string            `json:"topic_arn"`
	Subject    string            `json:"subject,omitempty"`
	GroupID    string            `json:"group_id,omitempty"` // as of SQSTarget
	Attributes map[string]string `json:"attributes,omitempty"`
}

// EventBridgeTarget puts an event on a bus; its detail is the payload, an
// object, with the execution beside it under the key belfry.
type EventBridgeTarget struct {
	Bus        string   `json:"bus,omitempty"` // name or ARN; empty = default
	Source     string   `json:"source"`
	DetailType string   `json:"detail_type"`
	Resources  []string `json:"resources,omitempty"`
}

// StepFunctionsTarget starts an execution of a state machine; its input is the
// payload, an object, with the execution beside it under the key belfry.
type StepFunctionsTarget struct {
	StateMachineARN string `json:"state_machine_arn"`
}

// ECSTarget runs one task. It is done once ECS has taken the task; with Wait, once
// the task has stopped, and then the exit codes of Containers decide.
type ECSTarget struct {
	Wait           bool   `json:"wait,omitempty"`
	Cluster        string `json:"cluster"`
	TaskDefinition string `json:"task_definition"`
	// LaunchType and CapacityProviders exclude each other; without both the
	// cluster's own strategy counts.
	LaunchType        string              `json:"launch_type,omitempty"`
	CapacityProviders []CapacityProvider  `json:"capacity_providers,omitempty"`
	PlatformVersion   string              `json:"platform_version,omitempty"`
	Subnets           []string            `json:"subnets,omitempty"`
	SecurityGroups    []string            `json:"security_groups,omitempty"`
	PublicIP          bool                `json:"public_ip,omitempty"`
	Containers        []ContainerOverride `json:"containers"`
}

// CapacityProvider is one member of a capacity provider strategy.
type CapacityProvider struct {
	Name   string `json:"name"`
	Weight int    `json:"weight,omitempty"`
	Base   int    `json:"base,omitempty"`
}

// ContainerOverride is what a container of the task is told. Each container
// named gets the execution and the payload as variables BELFRY_….
type ContainerOverride struct {
	Name        string            `json:"name"`
	Command     []string          `json:"command,omitempty"` // empty = the task definition's
	Environment map[string]string `json:"environment,omitempty"`
}

// TargetKinds are the kinds of targets that there are.
var TargetKinds = []string{"webhook", "log", "handler", "lambda", "sqs", "sns", "eventbridge", "stepfunctions", "ecs"}

// kinds are the kinds of the members that are set.
func (t Target) kinds() []string {
	var set []string
	for i, is := range []bool{t.Webhook != nil, t.Log != nil, t.Handler != nil, t.Lambda != nil, t.SQS != nil, t.SNS != nil, t.EventBridge != nil,
		t.StepFunctions != nil, t.ECS != nil} {
		if is {
			set = append(set, TargetKinds[i])
		}
	}
	return set
}

// Kind names the target's kind, one of TargetKinds; empty when none is set.
func (t Target) Kind() string {
	if set := t.kinds(); len(set) > 0 {
		return set[0]
	}
	return ""
}

// HandlerName is the name under which a worker finds the code to run.
func (t Target) HandlerName() string {
	if t.Handler != nil {
		return t.Handler.Name
	}
	return "belfry." + t.Kind()
}
