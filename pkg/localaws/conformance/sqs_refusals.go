package conformance

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func sqsRefusalCases() []Case {
	text := func(value string) map[string]types.MessageAttributeValue {
		return map[string]types.MessageAttributeValue{"a": {DataType: aws.String("String"), StringValue: &value}}
	}
	return []Case{
		refusedSend("a delay of more than 15 minutes", "InvalidParameterValue", &sqs.SendMessageInput{DelaySeconds: 901}),
		refusedSend("an empty body", "MissingParameter", &sqs.SendMessageInput{MessageBody: aws.String("")}),
		refusedSend("a control character in the body", "InvalidMessageContents", &sqs.SendMessageInput{MessageBody: aws.String("a\x01b")}),
		refusedSend("a body over 1 MiB", "InvalidParameterValue", &sqs.SendMessageInput{MessageBody: aws.String(strings.Repeat("a", 1<<20+1))}),
		refusedSend("an attribute with an empty value", "InvalidParameterValue", &sqs.SendMessageInput{MessageAttributes: text("")}),
		refusedSend("an attribute of an unknown type", "InvalidParameterValue", &sqs.SendMessageInput{
			MessageAttributes: map[string]types.MessageAttributeValue{"a": {DataType: aws.String("Text"), StringValue: aws.String("x")}},
		}),
		refusedSend("a deduplication id on a standard queue", "InvalidParameterValue", &sqs.SendMessageInput{MessageDeduplicationId: aws.String("x")}),
		refusedReceive("more than ten messages", "InvalidParameterValue", &sqs.ReceiveMessageInput{MaxNumberOfMessages: 11}),
		refusedReceive("a wait of more than 20 seconds", "InvalidParameterValue", &sqs.ReceiveMessageInput{WaitTimeSeconds: 21}),
		refusedReceive("a visibility of more than 12 hours", "InvalidParameterValue", &sqs.ReceiveMessageInput{VisibilityTimeout: 43201}),
		refusedQueue("a name with a space", "InvalidParameterValue", "a b", nil),
		refusedQueue("a name of 81 characters", "InvalidParameterValue", strings.Repeat("a", 81), nil),
		refusedQueue("an attribute out of range", "InvalidAttributeValue", "range", map[string]string{"DelaySeconds": "901"}),
		refusedQueue("an unknown attribute", "InvalidAttributeName", "unknown", map[string]string{"Colour": "blue"}),
		refusedQueue("a redrive policy without a count", "InvalidParameterValue", "redrive", map[string]string{
			"RedrivePolicy": `{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:000000000000:x"}`,
		}),
		refusedQueue("a dead-letter queue that is not there", "InvalidParameterValue", "no-dlq", map[string]string{
			"RedrivePolicy": redriveTo("arn:aws:sqs:us-east-1:000000000000:not-there", 3),
		}),
		onSQS("a receipt handle that is none is refused", func(q queues) {
			url := q.create("no-handle", nil)
			_, err := q.client.DeleteMessage(q.ctx, &sqs.DeleteMessageInput{QueueUrl: &url, ReceiptHandle: aws.String("no-handle")})
			q.refused(err, "ReceiptHandleIsInvalid")
			_, err = q.client.ChangeMessageVisibility(q.ctx, &sqs.ChangeMessageVisibilityInput{
				QueueUrl: &url, ReceiptHandle: aws.String("no-handle"), VisibilityTimeout: 10,
			})
			q.refused(err, "ReceiptHandleIsInvalid")
		}),
	}
}

func refusedSend(what, code string, in *sqs.SendMessageInput) Case {
	return onSQS("a send is refused for "+what, func(q queues) {
		in := *in
		in.QueueUrl = aws.String(q.create("send", nil))
		if in.MessageBody == nil {
			in.MessageBody = aws.String("x")
		}
		_, err := q.client.SendMessage(q.ctx, &in)
		q.refused(err, code)
		q.none(*in.QueueUrl)
	})
}

func refusedReceive(what, code string, in *sqs.ReceiveMessageInput) Case {
	return onSQS("a receive is refused for "+what, func(q queues) {
		in := *in
		in.QueueUrl = aws.String(q.create("receive", nil))
		_, err := q.client.ReceiveMessage(q.ctx, &in)
		q.refused(err, code)
	})
}

func refusedQueue(what, code, name string, attributes map[string]string) Case {
	return onSQS("a queue is refused for "+what, func(q queues) {
		_, err := q.client.CreateQueue(q.ctx, &sqs.CreateQueueInput{QueueName: aws.String(q.prefix + name), Attributes: attributes})
		q.refused(err, code)
	})
}
