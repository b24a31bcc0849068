package platform

import (
	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// event turns a batch into the event that Lambda passes.
func (m *mapping) event(batch []types.Message) events.SQSEvent {
	records := make([]events.SQSMessage, len(batch))
	for i, message := range batch {
		records[i] = events.SQSMessage{
			MessageId:              aws.ToString(message.MessageId),
			ReceiptHandle:          aws.ToString(message.ReceiptHandle),
			Body:                   aws.ToString(message.Body),
			Md5OfBody:              aws.ToString(message.MD5OfBody),
			Md5OfMessageAttributes: aws.ToString(message.MD5OfMessageAttributes),
			Attributes:             message.Attributes,
			MessageAttributes:      messageAttributes(message.MessageAttributes),
			EventSourceARN:         m.arn,
			EventSource:            "aws:sqs",
			AWSRegion:              m.region,
		}
	}
	return events.SQSEvent{Records: records}
}

// messageAttributes never returns nil, nor lists that are nil: Lambda sends
// them empty.
func messageAttributes(attributes map[string]types.MessageAttributeValue) map[string]events.SQSMessageAttribute {
	out := make(map[string]events.SQSMessageAttribute, len(attributes))
	for name, a := range attributes {
		out[name] = events.SQSMessageAttribute{
			StringValue:      a.StringValue,
			BinaryValue:      a.BinaryValue,
			StringListValues: []string{},
			BinaryListValues: [][]byte{},
			DataType:         aws.ToString(a.DataType),
		}
	}
	return out
}
