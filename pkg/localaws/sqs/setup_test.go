package sqs_test

import (
	"errors"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

// bench is a backend with an SDK client and one queue.
type bench struct {
	*testing.T
	*sdk.Client
	backend *localaws.Backend
	queue   string
	handle  string // of the message that a row speaks of
}

func setup(t *testing.T, options localaws.Options, attributes map[string]string) *bench {
	t.Helper()
	backend, err := localaws.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	b := &bench{T: t, Client: sdk.NewFromConfig(backend.Config()), backend: backend}
	b.queue = b.create("work", attributes)
	return b
}

func (b *bench) create(name string, attributes map[string]string) string {
	b.Helper()
	out, err := b.CreateQueue(b.Context(), &sdk.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		b.Fatal(err)
	}
	return *out.QueueUrl
}

func (b *bench) send(body string, delay int32) string {
	b.Helper()
	out, err := b.SendMessage(b.Context(), &sdk.SendMessageInput{QueueUrl: &b.queue, MessageBody: &body, DelaySeconds: delay})
	if err != nil {
		b.Fatal(err)
	}
	return *out.MessageId
}

func (b *bench) change(handle string, seconds int32) {
	b.Helper()
	_, err := b.ChangeMessageVisibility(b.Context(), &sdk.ChangeMessageVisibilityInput{
		QueueUrl: &b.queue, ReceiptHandle: &handle, VisibilityTimeout: seconds,
	})
	if err != nil {
		b.Error(err)
	}
}

func (b *bench) set(attributes map[string]string) {
	b.Helper()
	_, err := b.SetQueueAttributes(b.Context(), &sdk.SetQueueAttributesInput{QueueUrl: &b.queue, Attributes: attributes})
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) remove(handle string) {
	b.Helper()
	if _, err := b.DeleteMessage(b.Context(), &sdk.DeleteMessageInput{QueueUrl: &b.queue, ReceiptHandle: &handle}); err != nil {
		b.Fatal(err)
	}
}

// receive waits up to 20 s for up to 10 messages.
func (b *bench) receive(queue string) []types.Message {
	b.Helper()
	return b.receiveFor(queue, 20)
}

func (b *bench) receiveFor(queue string, wait int32) []types.Message {
	b.Helper()
	out, err := b.ReceiveMessage(b.Context(), &sdk.ReceiveMessageInput{
		QueueUrl: &queue, MaxNumberOfMessages: 10, WaitTimeSeconds: wait,
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{"All"}, MessageAttributeNames: []string{"All"},
	})
	if err != nil {
		b.Fatal(err)
	}
	return out.Messages
}

// one receives exactly one message.
func (b *bench) one(queue string) types.Message {
	b.Helper()
	messages := b.receive(queue)
	if len(messages) != 1 {
		b.Fatalf("received %d messages, want 1", len(messages))
	}
	return messages[0]
}

func (b *bench) counts(queue string) (visible, hidden, delayed string) {
	b.Helper()
	out, err := b.GetQueueAttributes(b.Context(), &sdk.GetQueueAttributesInput{
		QueueUrl: &queue, AttributeNames: []types.QueueAttributeName{"All"},
	})
	if err != nil {
		b.Fatal(err)
	}
	return out.Attributes["ApproximateNumberOfMessages"],
		out.Attributes["ApproximateNumberOfMessagesNotVisible"],
		out.Attributes["ApproximateNumberOfMessagesDelayed"]
}

func (b *bench) wantCounts(queue, visible, hidden, delayed string) {
	b.Helper()
	v, h, d := b.counts(queue)
	if v != visible || h != hidden || d != delayed {
		b.Fatalf("visible, in flight, delayed = %s, %s, %s; want %s, %s, %s", v, h, d, visible, hidden, delayed)
	}
}

func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code {
		t.Fatalf("error %v, want code %s", err, code)
	}
}
