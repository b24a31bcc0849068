package conformance

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"
)

// SQSCases returns the cases of the queue service.
func SQSCases() []Case {
	return slices.Concat(
		sqsQueueCases(), sqsQueueChangeCases(), sqsSendCases(), sqsReceiveCases(),
		sqsVisibilityCases(), sqsHandleCases(), sqsBatchCases(), sqsRefusalCases(),
	)
}

// queues is one case's view of the service.
type queues struct {
	*testing.T
	ctx    context.Context
	client *sqs.Client
	prefix string
}

func onSQS(name string, run func(queues)) Case {
	return Case{Name: name, Run: func(ctx context.Context, t *testing.T, env Env) {
		run(queues{T: t, ctx: ctx, client: env.SQS, prefix: env.Prefix})
	}}
}

// must stops the case unless the call succeeded.
func must[Out any](q queues, out Out, err error) Out {
	q.Helper()
	if err != nil {
		q.Fatal(err)
	}
	return out
}

// create makes a queue and returns its URL.
func (q queues) create(name string, attributes map[string]string) string {
	q.Helper()
	name = q.prefix + name
	out, err := q.client.CreateQueue(q.ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	return *must(q, out, err).QueueUrl
}

func (q queues) attributes(url string) map[string]string {
	q.Helper()
	out, err := q.client.GetQueueAttributes(q.ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	return must(q, out, err).Attributes
}

func (q queues) wantAttributes(url string, want map[string]string) {
	q.Helper()
	got := q.attributes(url)
	for name, value := range want {
		if got[name] != value {
			q.Errorf("%s is %q, want %q", name, got[name], value)
		}
	}
}

func (q queues) send(in *sqs.SendMessageInput) *sqs.SendMessageOutput {
	q.Helper()
	out, err := q.client.SendMessage(q.ctx, in)
	return must(q, out, err)
}

// receive waits up to the given seconds for up to ten messages, with all that
// a receiver can ask for.
func (q queues) receive(url string, wait int32) []types.Message {
	q.Helper()
	out, err := q.client.ReceiveMessage(q.ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &url, MaxNumberOfMessages: 10, WaitTimeSeconds: wait,
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	return must(q, out, err).Messages
}

// one waits for exactly one message.
func (q queues) one(url string) types.Message {
	q.Helper()
	messages := q.receive(url, 10)
	if len(messages) != 1 {
		q.Fatalf("received %d messages, want 1", len(messages))
	}
	return messages[0]
}

func (q queues) none(url string) {
	q.Helper()
	if messages := q.receive(url, 0); len(messages) != 0 {
		q.Fatalf("received %d messages, want none", len(messages))
	}
}

func (q queues) change(url string, m types.Message, seconds int32) {
	q.Helper()
	_, err := q.client.ChangeMessageVisibility(q.ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: &url, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: seconds,
	})
	if err != nil {
		q.Fatal(err)
	}
}

func (q queues) delete(url string, m types.Message) {
	q.Helper()
	if _, err := q.client.DeleteMessage(q.ctx, &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: m.ReceiptHandle}); err != nil {
		q.Fatal(err)
	}
}

// refused checks the code that an SDK's user sees.
func (q queues) refused(err error, code string) {
	q.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) {
		q.Errorf("error is %v, want code %s", err, code)
		return
	}
	if api.ErrorCode() != code {
		q.Errorf("code is %s (%s), want %s", api.ErrorCode(), api.ErrorMessage(), code)
	}
}
