package job_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

const (
	queueURL = "https://sqs.eu-west-1.amazonaws.com/111122223333/orders"
	topicARN = "arn:aws:sns:eu-west-1:111122223333:orders"
	machine  = "arn:aws:states:eu-west-1:111122223333:stateMachine:nightly"
)

// aws are valid targets of each kind, for tests to break.
func aws() job.Target {
	return job.Target{
		Lambda: &job.LambdaTarget{Function: "report"}, SQS: &job.SQSTarget{QueueURL: queueURL}, SNS: &job.SNSTarget{TopicARN: topicARN},
		EventBridge: &job.EventBridgeTarget{Source: "com.example.billing", DetailType: "Report due"}, StepFunctions: &job.StepFunctionsTarget{StateMachineARN: machine},
		ECS: &job.ECSTarget{Cluster: "batch", TaskDefinition: "report:7", LaunchType: "FARGATE", Subnets: []string{"subnet-0a1b2c3d"}, Containers: []job.ContainerOverride{{Name: "main"}}},
	}
}

func toLambda(change func(*job.LambdaTarget)) func(*job.Definition) {
	return func(d *job.Definition) { l := aws().Lambda; change(l); d.Target = job.Target{Lambda: l} }
}

func toSQS(change func(*job.SQSTarget)) func(*job.Definition) {
	return func(d *job.Definition) { q := aws().SQS; change(q); d.Target = job.Target{SQS: q} }
}

func toSNS(change func(*job.SNSTarget)) func(*job.Definition) {
	return func(d *job.Definition) { s := aws().SNS; change(s); d.Target = job.Target{SNS: s} }
}

func toBus(change func(*job.EventBridgeTarget)) func(*job.Definition) {
	return func(d *job.Definition) { e := aws().EventBridge; change(e); d.Target = job.Target{EventBridge: e} }
}

func toECS(change func(*job.ECSTarget)) func(*job.Definition) {
	return func(d *job.Definition) { e := aws().ECS; change(e); d.Target = job.Target{ECS: e} }
}

func toMachine(arn, payload string) func(*job.Definition) {
	return func(d *job.Definition) {
		d.Target, d.Payload = job.Target{StepFunctions: &job.StepFunctionsTarget{StateMachineARN: arn}}, json.RawMessage(payload)
	}
}

func TestAWSTargetsWithinTheRulesAreAccepted(t *testing.T) {
	for name, change := range map[string]func(*job.Definition){
		"a function by name":        toLambda(func(*job.LambdaTarget) {}),
		"a function by ARN":         toLambda(func(l *job.LambdaTarget) { l.Function = "arn:aws-cn:lambda:cn-north-1:111122223333:function:report" }),
		"a function's alias in ARN": toLambda(func(l *job.LambdaTarget) { l.Function = "arn:aws:lambda:eu-west-1:111122223333:function:report:live" }),
		"a qualifier":               toLambda(func(l *job.LambdaTarget) { l.Qualifier, l.Invocation = "$LATEST", job.InvocationAsync }),
		"a queue":                   toSQS(func(*job.SQSTarget) {}),
		"a queue of an emulator":    toSQS(func(q *job.SQSTarget) { q.QueueURL = "http://localhost:4566/queue/us-east-1/000000000000/orders" }),
		"a FIFO queue with a group": toSQS(func(q *job.SQSTarget) { q.QueueURL, q.GroupID = queueURL+".fifo", "acme/orders" }),
		"attributes":                toSQS(func(q *job.SQSTarget) { q.Attributes = map[string]string{"team": "billing", "a.b-c_d": "x\ty"} }),
		"a topic":                   toSNS(func(s *job.SNSTarget) { s.Subject = "The report is due" }),
		"a FIFO topic":              toSNS(func(s *job.SNSTarget) { s.TopicARN += ".fifo" }),
		"the default bus":           toBus(func(*job.EventBridgeTarget) {}),
		"a bus by name":             toBus(func(e *job.EventBridgeTarget) { e.Bus = "billing" }),
		"a bus by ARN":              toBus(func(e *job.EventBridgeTarget) { e.Bus = "arn:aws:events:eu-west-1:111122223333:event-bus/billing" }),
		"a state machine":           toMachine(machine, `{"a":1}`),
		"a state machine's alias":   toMachine(machine+":live", ""),
		"a task on Fargate":         toECS(func(*job.ECSTarget) {}),
		"a task by ARNs": toECS(func(e *job.ECSTarget) {
			e.Cluster, e.TaskDefinition = "arn:aws:ecs:eu-west-1:111122223333:cluster/batch", "arn:aws:ecs:eu-west-1:111122223333:task-definition/report:7"
		}),
		"a task by the cluster's strategy": toECS(func(e *job.ECSTarget) { e.LaunchType, e.Subnets = "", nil }),
		"a task on spare capacity": toECS(func(e *job.ECSTarget) {
			e.LaunchType, e.CapacityProviders = "", []job.CapacityProvider{{Name: "FARGATE_SPOT", Weight: 4}, {Name: "FARGATE", Base: 1}}
			e.SecurityGroups, e.PublicIP, e.PlatformVersion = []string{"sg-0a1b2c3d"}, true, "1.4.0"
		}),
	} {
		t.Run(name, func(t *testing.T) {
			d := valid()
			change(&d)
			if err := d.Validate(); err != nil {
				t.Errorf("refused: %v", err)
			}
		})
	}
}

func TestLambdaTargetsAreChecked(t *testing.T) {
	const field, bound = "target.lambda.function", "a function's name, or arn:aws:lambda:REGION:ACCOUNT:function:NAME"
	named := func(name string) rule {
		return rule{toLambda(func(l *job.LambdaTarget) { l.Function = name }), job.CodeInvalid, field, name, bound}
	}
	refuses(t, map[string]rule{
		"no function":               named(""),
		"a name with a space":       named("my function"),
		"a name too long":           named(strings.Repeat("f", 65)),
		"an ARN of another kind":    named("arn:aws:sqs:eu-west-1:111122223333:report"),
		"an ARN of a layer":         named("arn:aws:lambda:eu-west-1:111122223333:layer:report"),
		"an ARN without an account": named("arn:aws:lambda:eu-west-1::function:report"),
		"an ARN with half an alias": named("arn:aws:lambda:eu-west-1:111122223333:function:report:"),
		"a name and a version":      named("report:7"),
		"a qualifier that is none":  {toLambda(func(l *job.LambdaTarget) { l.Qualifier = "a b" }), job.CodeInvalid, "target.lambda.qualifier", "a b", "a version, an alias or $LATEST"},
		"a qualifier said twice": {toLambda(func(l *job.LambdaTarget) {
			l.Function, l.Qualifier = "arn:aws:lambda:eu-west-1:111122223333:function:report:live", "live"
		}), job.CodeInvalid, "target.lambda.qualifier", "live", "once, here or in the ARN"},
		"another invocation": {toLambda(func(l *job.LambdaTarget) { l.Invocation = "later" }), job.CodePolicyUnknown, "target.lambda.invocation", "later", "sync, async"},
	})
}

func TestMessageTargetsAreChecked(t *testing.T) {
	const bound, of = "https://sqs.REGION.amazonaws.com/ACCOUNT/NAME", "target.sqs.queue_url"
	queue := func(u string) rule {
		return rule{toSQS(func(q *job.SQSTarget) { q.QueueURL = u }), job.CodeInvalid, of, u, bound}
	}
	attribute := func(name, value, told, bound string) rule {
		return rule{toSQS(func(q *job.SQSTarget) { q.Attributes = map[string]string{name: value} }), job.CodeInvalid, "target.sqs.attributes." + name, told, bound}
	}
	const names, kept = "1 to 256 letters, digits, '_', '-', and single dots within", "not belfry…, idempotency_key, traceparent, AWS.… or Amazon.…"
	topic := func(arn string) rule {
		return rule{toSNS(func(s *job.SNSTarget) { s.TopicARN = arn }), job.CodeInvalid, "target.sns.topic_arn", arn, "arn:aws:sns:REGION:ACCOUNT:NAME"}
	}
	refuses(t, map[string]rule{
		"no queue":                     queue(""),
		"a queue's ARN":                queue("arn:aws:sqs:eu-west-1:111122223333:orders"),
		"a queue's name":               queue("orders"),
		"a URL without an account":     queue("https://sqs.eu-west-1.amazonaws.com/orders"),
		"a URL with a query":           queue(queueURL + "?Action=DeleteQueue"),
		"a URL with a user":            queue("https://me@sqs.eu-west-1.amazonaws.com/111122223333/orders"),
		"a queue's name too long":      queue("https://x.test/111122223333/" + strings.Repeat("q", 81)),
		"a group with a space":         {toSQS(func(q *job.SQSTarget) { q.GroupID = "a b" }), job.CodeInvalid, "target.sqs.group_id", "a b", "1 to 128 letters, digits and punctuation"},
		"six attributes":               {toSQS(func(q *job.SQSTarget) { q.Attributes = labels(6) }), job.CodeInvalid, "target.sqs.attributes", "6", "5 attributes"},
		"an attribute without a name":  attribute("", "x", "", names),
		"an attribute that ends so":    attribute("a.", "x", "a.", names),
		"an attribute with two dots":   attribute("a..b", "x", "a..b", names),
		"an attribute of ours":         attribute("Belfry_job", "x", "Belfry_job", kept),
		"our key":                      attribute("idempotency_key", "x", "idempotency_key", kept),
		"an attribute of AWS":          attribute("aws.x", "x", "aws.x", kept),
		"an attribute without a value": attribute("a", "", "", "1 to 1024 bytes of text"),
		"an attribute with a zero":     attribute("a", "\x00", "\uFFFD", "1 to 1024 bytes of text"),
		"no topic":                     topic(""),
		"a topic's name":               topic("orders"),
		"a queue's ARN for a topic":    topic("arn:aws:sqs:eu-west-1:111122223333:orders"),
		"a subscription":               topic(topicARN + ":6b0e71bd"),
		"a subject of two lines":       {toSNS(func(s *job.SNSTarget) { s.Subject = "a\nb" }), job.CodeInvalid, "target.sns.subject", "a\uFFFDb", "up to 100 printable ASCII characters, none of them a space at either end"},
		"a group of a topic":           {toSNS(func(s *job.SNSTarget) { s.GroupID = strings.Repeat("g", 129) }), job.CodeInvalid, "target.sns.group_id", strings.Repeat("g", 120) + "…", "1 to 128 letters, digits and punctuation"},
	})
}

func TestEventsAndStateMachinesAreChecked(t *testing.T) {
	const source, kind = "1 to 256 printable ASCII characters, not beginning with aws.", "1 to 128 printable ASCII characters"
	const bound = "arn:aws:states:REGION:ACCOUNT:stateMachine:NAME"
	payload := func(text string) func(*job.Definition) {
		return func(d *job.Definition) {
			d.Target, d.Payload = job.Target{EventBridge: aws().EventBridge}, json.RawMessage(text)
		}
	}
	refuses(t, map[string]rule{
		"a bus that is none":        {toBus(func(e *job.EventBridgeTarget) { e.Bus = "a bus" }), job.CodeInvalid, "target.eventbridge.bus", "a bus", "a bus's name, or arn:aws:events:REGION:ACCOUNT:event-bus/NAME"},
		"a rule's ARN":              {toBus(func(e *job.EventBridgeTarget) { e.Bus = "arn:aws:events:eu-west-1:111122223333:rule/x" }), job.CodeInvalid, "target.eventbridge.bus", "arn:aws:events:eu-west-1:111122223333:rule/x", "a bus's name, or arn:aws:events:REGION:ACCOUNT:event-bus/NAME"},
		"no source":                 {toBus(func(e *job.EventBridgeTarget) { e.Source = "" }), job.CodeInvalid, "target.eventbridge.source", "", source},
		"a source of AWS":           {toBus(func(e *job.EventBridgeTarget) { e.Source = "aws.ec2" }), job.CodeInvalid, "target.eventbridge.source", "aws.ec2", source},
		"no detail type":            {toBus(func(e *job.EventBridgeTarget) { e.DetailType = "" }), job.CodeInvalid, "target.eventbridge.detail_type", "", kind},
		"a resource without an ARN": {toBus(func(e *job.EventBridgeTarget) { e.Resources = []string{"orders"} }), job.CodeInvalid, "target.eventbridge.resources[0]", "orders", "an ARN of up to 2048 bytes"},
		"a detail that is a list":   {payload(`[1]`), job.CodeInvalid, "payload", "[1]", "an object"},
		"a detail that is null":     {payload(`null`), job.CodeInvalid, "payload", "null", "an object"},
		"a detail with our key":     {payload(`{"belfry":1}`), job.CodeInvalid, "payload.belfry", "belfry", "any key but belfry"},
		"a machine's name":          {toMachine("nightly", ""), job.CodeInvalid, "target.stepfunctions.state_machine_arn", "nightly", bound},
		"an execution of a machine": {toMachine("arn:aws:states:eu-west-1:111122223333:execution:nightly:x", ""), job.CodeInvalid, "target.stepfunctions.state_machine_arn", "arn:aws:states:eu-west-1:111122223333:execution:nightly:x", bound},
		"an input that is a number": {toMachine(machine, `7`), job.CodeInvalid, "payload", "7", "an object"},
	})
}

func TestTasksAreChecked(t *testing.T) {
	one := func(change func(*job.ContainerOverride)) func(*job.Definition) {
		return toECS(func(e *job.ECSTarget) { change(&e.Containers[0]) })
	}
	variable := func(name, value string) func(*job.Definition) {
		return one(func(c *job.ContainerOverride) { c.Environment = map[string]string{name: value} })
	}
	const in = "target.ecs.containers[0].environment."
	refuses(t, map[string]rule{
		"no cluster":              {toECS(func(e *job.ECSTarget) { e.Cluster = "" }), job.CodeInvalid, "target.ecs.cluster", "", "a cluster's name, or arn:aws:ecs:REGION:ACCOUNT:cluster/NAME"},
		"a service for a cluster": {toECS(func(e *job.ECSTarget) { e.Cluster = "arn:aws:ecs:eu-west-1:111122223333:service/batch" }), job.CodeInvalid, "target.ecs.cluster", "arn:aws:ecs:eu-west-1:111122223333:service/batch", "a cluster's name, or arn:aws:ecs:REGION:ACCOUNT:cluster/NAME"},
		"revision zero":           {toECS(func(e *job.ECSTarget) { e.TaskDefinition = "report:0" }), job.CodeInvalid, "target.ecs.task_definition", "report:0", "FAMILY, FAMILY:REVISION or the ARN of one"},
		"another launch type":     {toECS(func(e *job.ECSTarget) { e.LaunchType = "fargate" }), job.CodePolicyUnknown, "target.ecs.launch_type", "fargate", "FARGATE, EC2, EXTERNAL"},
		"type and providers":      {toECS(func(e *job.ECSTarget) { e.CapacityProviders = []job.CapacityProvider{{Name: "FARGATE"}} }), job.CodeInvalid, "target.ecs.capacity_providers", "1", "not with launch_type"},
		"a weight below zero": {toECS(func(e *job.ECSTarget) {
			e.LaunchType, e.CapacityProviders = "", []job.CapacityProvider{{Name: "FARGATE", Weight: -1}}
		}), job.CodeInvalid, "target.ecs.capacity_providers[0].weight", "-1", "0 to 1000"},
		"a platform that is none": {toECS(func(e *job.ECSTarget) { e.PlatformVersion = "new" }), job.CodeInvalid, "target.ecs.platform_version", "new", "LATEST, or a version such as 1.4.0"},
		"Fargate without subnets": {toECS(func(e *job.ECSTarget) { e.Subnets = nil }), job.CodeInvalid, "target.ecs.subnets", "0", "1 to 16 subnets"},
		"a subnet that is none":   {toECS(func(e *job.ECSTarget) { e.Subnets = []string{"subnet-x"} }), job.CodeInvalid, "target.ecs.subnets[0]", "subnet-x", "subnet-[0-9a-f]{8,17}"},
		"six security groups":     {toECS(func(e *job.ECSTarget) { e.SecurityGroups = make([]string, 6) }), job.CodeInvalid, "target.ecs.security_groups", "6", "5 security_groups"},
		"no container":            {toECS(func(e *job.ECSTarget) { e.Containers = nil }), job.CodeInvalid, "target.ecs.containers", "0", "1 to 10 containers"},
		"a container twice":       {toECS(func(e *job.ECSTarget) { e.Containers = append(e.Containers, e.Containers[0]) }), job.CodeInvalid, "target.ecs.containers[1].name", "main", "each container once"},
		"a container's name":      {one(func(c *job.ContainerOverride) { c.Name = "a b" }), job.CodeInvalid, "target.ecs.containers[0].name", "a b", "1 to 255 letters, digits, '_' or '-'"},
		"a variable of ours":      {variable("BELFRY_JOB", "x"), job.CodeInvalid, in + "BELFRY_JOB", "BELFRY_JOB", "not BELFRY_… or TRACEPARENT"},
		"a variable that is none": {variable("1X", "x"), job.CodeInvalid, in + "1X", "1X", "a letter or '_', then letters, digits, '_', '.' or '-'"},
		"a zero byte":             {variable("X", "a\x00"), job.CodeInvalid, in + "X", "a\uFFFD", "text without zero bytes"},
	})
	d := valid()
	toECS(func(*job.ECSTarget) {})(&d)
	for _, row := range []struct {
		bytes int
		code  job.Code
	}{{6000, ""}, {7000, job.CodeTooLarge}} {
		d.Payload = json.RawMessage(`"` + strings.Repeat("p", row.bytes) + `"`)
		if err := d.Validate(); job.CodeOf(err) != row.code {
			t.Errorf("a payload of %d bytes: %v, want %q", row.bytes, err, row.code)
		}
	}
}

func TestNoTextOfATargetPanicsOrEscapesItsBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := valid()
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`arn:aws:(sns|ecs|states|lambda|events):[a-z-]*1:[0-9]{12}:[a-z:/]*`))
		target := reflect.ValueOf(aws())
		member := target.Field(rapid.IntRange(3, target.NumField()-1).Draw(t, "member"))
		for i := range member.Elem().NumField() {
			if f := member.Elem().Field(i); f.Kind() == reflect.String && rapid.Bool().Draw(t, "change") {
				f.SetString(text.Draw(t, "text"))
			}
		}
		d.Target = job.Target{}
		into := reflect.ValueOf(&d.Target).Elem()
		for i := range into.NumField() {
			if into.Field(i).Type() == member.Type() {
				into.Field(i).Set(member)
			}
		}
		if err := d.Validate(); err != nil && (len(err.Error()) > 900 || strings.ContainsAny(err.Error(), "\n\r\x1b")) {
			t.Fatalf("%q", err)
		}
		again := job.Definition{}
		if written, err := json.Marshal(d); err != nil || json.Unmarshal(written, &again) != nil {
			t.Fatal(fmt.Errorf("it does not come back: %w", err))
		}
	})
}

func TestOnlyWholeARNsAreTakenApart(t *testing.T) {
	if a, is := job.ParseARN(topicARN + ".fifo"); !is || a != (job.ARN{Partition: "aws", Service: "sns", Region: "eu-west-1", Account: "111122223333", Resource: "orders.fifo"}) {
		t.Errorf("%+v, %v", a, is)
	}
	for _, text := range []string{"", "arn", "arn:aws:sns:eu-west-1:111122223333:", "arn:aws:s3:::bucket", "arn:azure:sns:eu-west-1:111122223333:x", "arn:aws::eu-west-1:111122223333:x", "arn:aws:sns:moon:111122223333:x"} {
		if a, is := job.ParseARN(text); is {
			t.Errorf("%q reads as %+v", text, a)
		}
	}
	if !job.IsFIFO(queueURL+".fifo") || job.IsFIFO(queueURL) {
		t.Error("FIFO is told by the end of the name")
	}
}
