//go:build conformance

package cloud

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	ebtypes "github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// peer is the endpoint that BELFRY_CONFORMANCE_ENDPOINT names, in which each
// test has names of its own.
type peer struct {
	*testing.T
	config aws.Config
	suffix string
	there  *Account
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	endpoint := os.Getenv("BELFRY_CONFORMANCE_ENDPOINT")
	if endpoint == "" {
		t.Fatal("BELFRY_CONFORMANCE_ENDPOINT must name the peer; `make conformance` starts one")
	}
	config := aws.Config{Region: "us-east-1", BaseEndpoint: &endpoint, Credentials: credentials.NewStaticCredentialsProvider("local", "local", "")}
	return &peer{T: t, config: config, suffix: fmt.Sprintf("-%x", time.Now().UnixNano()),
		there: New(Options{AWS: &config, Clock: clock.System{}, Installation: "belfry"})}
}

// queue makes a queue and gives its URL and ARN.
func (p *peer) queue(name string, fifo bool) (address, arn string) {
	p.Helper()
	attributes := map[string]string{}
	if name += p.suffix; fifo {
		name, attributes["FifoQueue"] = name+".fifo", "true"
	}
	client := sqs.NewFromConfig(p.config)
	made, err := client.CreateQueue(p.Context(), &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		p.Fatal(err)
	}
	told, err := client.GetQueueAttributes(p.Context(), &sqs.GetQueueAttributesInput{QueueUrl: made.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{"QueueArn"}})
	if err != nil {
		p.Fatal(err)
	}
	return *made.QueueUrl, told.Attributes["QueueArn"]
}

// arrived takes what lies in a queue.
func (p *peer) arrived(address string) []sqstypes.Message {
	p.Helper()
	out, err := sqs.NewFromConfig(p.config).ReceiveMessage(p.Context(), &sqs.ReceiveMessageInput{QueueUrl: &address, MaxNumberOfMessages: 10, WaitTimeSeconds: 1,
		MessageAttributeNames: []string{"All"}, MessageSystemAttributeNames: []sqstypes.MessageSystemAttributeName{"All"}})
	if err != nil {
		p.Fatal(err)
	}
	return out.Messages
}

// envelope holds the contract that arrived against the attempt's.
func (p *peer) envelope(text string) {
	p.Helper()
	var got contract
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		p.Fatalf("%v in %q", err, text)
	}
	if got.Traceparent == "" || got.ExecutionID != "nightly~20260712T013000Z~v3" || got.IdempotencyKey != "acme/nightly~20260712T013000Z" || got.Tenant != "acme" || got.Job != "nightly" || got.Revision != 3 ||
		got.ScheduledTime != "2026-07-12T01:30:00.000Z" || got.IntervalEnd != got.ScheduledTime || got.Attempt != 2 || got.FencingToken != 9 || !strings.HasPrefix(got.Fence, "20260712T013000Z-0000000000-") || !strings.HasSuffix(got.Fence, "-0000000009") || got.Deadline != "2026-07-12T01:31:00.000Z" {
		p.Errorf("the contract arrived as %s", text)
	}
}

func attributesOf(m sqstypes.Message) map[string]string {
	all := map[string]string{}
	for name, value := range m.MessageAttributes {
		all[name] = aws.ToString(value.StringValue)
	}
	return all
}

func TestAMessageArrivesInAQueueOfAPeer(t *testing.T) {
	p := newPeer(t)
	address, _ := p.queue("orders", false)
	target := job.Target{SQS: &job.SQSTarget{QueueURL: address, Attributes: map[string]string{"team": "billing"}}}
	if err := p.there.send(t.Context(), workertest.Attempt(facts(target, `{"a":1}`))); err != nil {
		t.Fatal(err)
	}
	got := p.arrived(address)
	if len(got) != 1 || *got[0].Body != `{"a":1}` {
		t.Fatalf("%d messages arrived: %+v", len(got), got)
	}
	attributes := attributesOf(got[0])
	p.envelope(attributes["belfry"])
	if attributes["team"] != "billing" || attributes["belfry_job"] != "nightly" || attributes["belfry_tenant"] != "acme" || attributes["idempotency_key"] != "acme/nightly~20260712T013000Z" || attributes["traceparent"] == "" || len(attributes) != 6 {
		t.Errorf("the attributes arrived as %v", attributes)
	}
}

func TestARepeatedAttemptPutsOneMessageIntoAFIFOQueueOfAPeer(t *testing.T) {
	p := newPeer(t)
	address, _ := p.queue("orders", true)
	target := job.Target{SQS: &job.SQSTarget{QueueURL: address}}
	for n := range 3 {
		f := facts(target, `{"a":1}`)
		f.Number, f.FencingToken = n+1, int64(n+1)
		if err := p.there.send(t.Context(), workertest.Attempt(f)); err != nil {
			t.Fatal(err)
		}
	}
	got := p.arrived(address)
	if len(got) != 1 || got[0].Attributes["MessageGroupId"] != "acme/nightly" || got[0].Attributes["MessageDeduplicationId"] != "acme/nightly~20260712T013000Z" {
		t.Errorf("%d messages arrived of three attempts: %+v", len(got), got)
	}
}

func TestAQueueThatIsNotThereFailsForGoodOnAPeer(t *testing.T) {
	p := newPeer(t)
	target := job.Target{SQS: &job.SQSTarget{QueueURL: "http://localhost/123456789012/none" + p.suffix}}
	err := p.there.send(t.Context(), workertest.Attempt(facts(target, "")))
	if f := worker.FailureOf(err); f == nil || f.Class != "permanent" || !strings.HasPrefix(f.Code, "SQS_") || !strings.Contains(f.Code, "QUEUE") {
		t.Errorf("%+v", f)
	}
}

func (p *peer) topic(name string, attributes map[string]string) string {
	p.Helper()
	made, err := sns.NewFromConfig(p.config).CreateTopic(p.Context(), &sns.CreateTopicInput{Name: &name, Attributes: attributes})
	if err != nil {
		p.Fatal(err)
	}
	return *made.TopicArn
}

func (p *peer) subscribe(topic, queue string) {
	p.Helper()
	_, err := sns.NewFromConfig(p.config).Subscribe(p.Context(), &sns.SubscribeInput{TopicArn: &topic, Protocol: aws.String("sqs"), Endpoint: &queue,
		Attributes: map[string]string{"RawMessageDelivery": "true", "FilterPolicy": `{"belfry_job":["nightly"]}`}})
	if err != nil {
		p.Fatal(err)
	}
}

func TestAPublishedMessageReachesASubscriberOnAPeer(t *testing.T) {
	p := newPeer(t)
	address, arn := p.queue("subscriber", false)
	topic := p.topic("orders"+p.suffix, nil)
	p.subscribe(topic, arn) // which takes what this job publishes, by an attribute
	target := job.Target{SNS: &job.SNSTarget{TopicARN: topic, Subject: "due", Attributes: map[string]string{"team": "billing"}}}
	other := facts(target, `{"b":2}`)
	other.Job = "another"
	for _, f := range []workertest.Facts{facts(target, `{"a":1}`), other} {
		if err := p.there.publish(t.Context(), workertest.Attempt(f)); err != nil {
			t.Fatal(err)
		}
	}
	got := p.arrived(address)
	if len(got) != 1 || *got[0].Body != `{"a":1}` {
		t.Fatalf("%d messages arrived: %+v", len(got), got)
	}
	attributes := attributesOf(got[0])
	p.envelope(attributes["belfry"])
	if attributes["team"] != "billing" || len(attributes) != 6 {
		t.Errorf("the attributes arrived as %v", attributes)
	}
}

func TestARepeatedAttemptIsPublishedOnceOnAFIFOTopicOfAPeer(t *testing.T) {
	p := newPeer(t)
	address, arn := p.queue("subscriber", true)
	topic := p.topic("orders"+p.suffix+".fifo", map[string]string{"FifoTopic": "true"})
	p.subscribe(topic, arn)
	target := job.Target{SNS: &job.SNSTarget{TopicARN: topic, GroupID: "billing"}}
	for range 2 {
		if err := p.there.publish(t.Context(), workertest.Attempt(facts(target, ""))); err != nil {
			t.Fatal(err)
		}
	}
	got := p.arrived(address)
	if len(got) != 1 || *got[0].Body != `{}` || got[0].Attributes["MessageGroupId"] != "billing" {
		t.Errorf("%d messages arrived of two attempts: %+v", len(got), got)
	}
}

func TestAnEventReachesTheTargetOfARuleOnAPeer(t *testing.T) {
	p := newPeer(t)
	address, arn := p.queue("rule", false)
	client, bus, rule := eventbridge.NewFromConfig(p.config), "billing"+p.suffix, "due"+p.suffix
	if _, err := client.CreateEventBus(t.Context(), &eventbridge.CreateEventBusInput{Name: &bus}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.PutRule(t.Context(), &eventbridge.PutRuleInput{Name: &rule, EventBusName: &bus, EventPattern: aws.String(`{"source":["com.example"],"detail":{"belfry":{"job":["nightly"]}}}`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.PutTargets(t.Context(), &eventbridge.PutTargetsInput{Rule: &rule, EventBusName: &bus, Targets: []ebtypes.Target{{Id: aws.String("q"), Arn: &arn}}}); err != nil {
		t.Fatal(err)
	}
	target := job.Target{EventBridge: &job.EventBridgeTarget{Bus: bus, Source: "com.example", DetailType: "Report due", Resources: []string{"arn:aws:s3:::reports"}}}
	if err := p.there.put(t.Context(), workertest.Attempt(facts(target, `{"a":1}`))); err != nil {
		t.Fatal(err)
	}
	got := p.arrived(address)
	if len(got) != 1 {
		t.Fatalf("%d events arrived", len(got))
	}
	var event struct {
		Source, Time string
		DetailType   string `json:"detail-type"`
		Resources    []string
		Detail       struct {
			A      int
			Belfry json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(*got[0].Body), &event); err != nil {
		t.Fatal(err)
	}
	p.envelope(string(event.Detail.Belfry))
	if event.Source != "com.example" || event.DetailType != "Report due" || event.Detail.A != 1 || len(event.Resources) != 1 || !strings.HasPrefix(event.Time, "2026-07-12T01:30:00") {
		t.Errorf("the event arrived as %s", *got[0].Body)
	}
}

func TestAStateMachineIsStartedOnceForAllAttemptsOnAPeer(t *testing.T) {
	p := newPeer(t)
	client, name := sfn.NewFromConfig(p.config), "nightly"+p.suffix
	made, err := client.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{Name: &name, RoleArn: aws.String("arn:aws:iam::123456789012:role/machine"),
		Definition: aws.String(`{"StartAt":"Only","States":{"Only":{"Type":"Pass","End":true}}}`)})
	if err != nil {
		t.Fatal(err)
	}
	target := job.Target{StepFunctions: &job.StepFunctionsTarget{StateMachineARN: *made.StateMachineArn}}
	for n := range 3 {
		f := facts(target, `{"a":1}`)
		f.Number = 2 + n // so that what is sent differs
		if err := p.there.start(t.Context(), workertest.Attempt(f)); err != nil {
			t.Fatalf("attempt %d: %v", f.Number, err)
		}
	}
	all, err := client.ListExecutions(t.Context(), &sfn.ListExecutionsInput{StateMachineArn: made.StateMachineArn})
	if err != nil || len(all.Executions) != 1 {
		t.Fatalf("%d executions, %v; want one of three attempts", len(all.Executions), err)
	}
	told, err := client.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: all.Executions[0].ExecutionArn})
	if err != nil {
		t.Fatal(err)
	}
	var input struct {
		A      int
		Belfry json.RawMessage
	}
	if err := json.Unmarshal([]byte(*told.Input), &input); err != nil || input.A != 1 {
		t.Errorf("%v: the input arrived as %s", err, *told.Input)
	}
	p.envelope(string(input.Belfry))
	if want := executionARN(*made.StateMachineArn, *told.Name); *told.ExecutionArn != want || !strings.HasPrefix(*told.Name, "nightly_20260712T013000Z_v3_") {
		t.Errorf("it is called %s, want %s", *told.ExecutionArn, want)
	}
}

func TestWhatIsNotThereFailsForGoodOnAPeer(t *testing.T) {
	p := newPeer(t)
	cluster := "batch" + p.suffix
	if _, err := ecs.NewFromConfig(p.config).CreateCluster(t.Context(), &ecs.CreateClusterInput{ClusterName: &cluster}); err != nil {
		t.Fatal(err)
	}
	task := func(cluster string) job.Target {
		return job.Target{ECS: &job.ECSTarget{Cluster: cluster, TaskDefinition: "none", LaunchType: "FARGATE", Subnets: []string{"subnet-0a1b2c3d"}, Containers: []job.ContainerOverride{{Name: "main"}}}}
	}
	for sentence, row := range map[string]struct {
		perform func(context.Context, *worker.Attempt) error
		target  job.Target
		service string
	}{
		"a topic":           {p.there.publish, job.Target{SNS: &job.SNSTarget{TopicARN: "arn:aws:sns:us-east-1:123456789012:none" + p.suffix}}, "SNS_"},
		"a state machine":   {p.there.start, job.Target{StepFunctions: &job.StepFunctionsTarget{StateMachineARN: "arn:aws:states:us-east-1:123456789012:stateMachine:none"}}, "STEPFUNCTIONS_"},
		"a task definition": {p.there.run, task(cluster), "ECS_"},
		"a cluster":         {p.there.run, task("none" + p.suffix), "ECS_"},
	} {
		t.Run(sentence, func(t *testing.T) {
			f := worker.FailureOf(row.perform(t.Context(), workertest.Attempt(facts(row.target, ""))))
			if f == nil || f.Class != "permanent" || !strings.HasPrefix(f.Code, row.service) {
				t.Errorf("%+v", f)
			} else {
				t.Logf("%s: %s", f.Code, f.Text)
			}
		})
	}
}
