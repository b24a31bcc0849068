package conformance

import (
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func sqsSendCases() []Case {
	return []Case{
		onSQS("a message arrives with body, attributes and digests as sent", roundTrip),
		onSQS("a message group and a trace header come back on a standard queue", func(q queues) {
			url := q.create("group", nil)
			q.send(&sqs.SendMessageInput{
				QueueUrl: &url, MessageBody: aws.String("x"), MessageGroupId: aws.String("tenant-1"),
				MessageSystemAttributes: map[string]types.MessageSystemAttributeValue{
					"AWSTraceHeader": {DataType: aws.String("String"), StringValue: aws.String("Root=1-5759e988-bd862e3fe1be46a994272793")},
				},
			})
			got := q.one(url).Attributes
			if got["MessageGroupId"] != "tenant-1" || got["AWSTraceHeader"] != "Root=1-5759e988-bd862e3fe1be46a994272793" {
				q.Errorf("attributes are %v", got)
			}
		}),
		onSQS("only the message attributes asked for are returned", chosenAttributes),
		onSQS("a delayed message is counted as delayed, and arrives when the delay is over", func(q queues) {
			url := q.create("delay", nil)
			start := time.Now()
			q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x"), DelaySeconds: 2})
			q.none(url)
			q.wantAttributes(url, map[string]string{"ApproximateNumberOfMessagesDelayed": "1", "ApproximateNumberOfMessages": "0"})
			q.one(url)
			if took := time.Since(start); took < 1900*time.Millisecond || took > 4*time.Second {
				q.Errorf("a delay of 2 s ended after %v", took)
			}
		}),
		onSQS("a queue's own delay holds for messages that name none", func(q queues) {
			url := q.create("queue-delay", map[string]string{"DelaySeconds": "2"})
			q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
			q.none(url)
			q.one(url)
		}),
		onSQS("a message may weigh 1 MiB", func(q queues) {
			url := q.create("large", nil)
			body := make([]byte, 1<<20)
			for i := range body {
				body[i] = 'a' + byte(i%26)
			}
			q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String(string(body))})
			if got := *q.one(url).Body; got != string(body) {
				q.Errorf("%d bytes came back, not the %d sent", len(got), len(body))
			}
		}),
	}
}

func roundTrip(q queues) {
	url := q.create("round-trip", nil)
	before := time.Now().Add(-time.Second)
	sent := q.send(&sqs.SendMessageInput{
		QueueUrl: &url, MessageBody: aws.String("grüße <&> 世界\n"),
		MessageAttributes: map[string]types.MessageAttributeValue{
			"text":   {DataType: aws.String("String"), StringValue: aws.String("ä")},
			"count":  {DataType: aws.String("Number.int"), StringValue: aws.String("42")},
			"binary": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1, 0xff}},
		},
	})
	got := q.one(url)
	if *got.Body != "grüße <&> 世界\n" || *got.MessageId != *sent.MessageId {
		q.Errorf("received %q with id %s, want id %s", *got.Body, *got.MessageId, *sent.MessageId)
	}
	if *got.MD5OfBody != *sent.MD5OfMessageBody || *got.MD5OfMessageAttributes != *sent.MD5OfMessageAttributes {
		q.Error("digests of what was received differ from those of what was sent")
	}
	if *sent.MD5OfMessageAttributes != "1951bc913fea3a421bb74dd2964f3ccd" {
		q.Errorf("digest of the attributes is %s", *sent.MD5OfMessageAttributes)
	}
	if string(got.MessageAttributes["binary"].BinaryValue) != "\x00\x01\xff" || *got.MessageAttributes["count"].StringValue != "42" {
		q.Errorf("attributes are %v", got.MessageAttributes)
	}
	if got.Attributes["ApproximateReceiveCount"] != "1" {
		q.Errorf("receive count is %s, want 1", got.Attributes["ApproximateReceiveCount"])
	}
	for _, name := range []string{"SentTimestamp", "ApproximateFirstReceiveTimestamp"} {
		ms, err := strconv.ParseInt(got.Attributes[name], 10, 64)
		at := time.UnixMilli(ms)
		if err != nil || at.Before(before) || at.After(time.Now().Add(time.Second)) {
			q.Errorf("%s is %q, not milliseconds around now", name, got.Attributes[name])
		}
	}
}

func chosenAttributes(q queues) {
	text := func(s string) types.MessageAttributeValue {
		return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &s}
	}
	for name, row := range map[string]struct {
		ask  []string
		want int
	}{
		"none":        {nil, 0},
		"by name":     {[]string{"one"}, 1},
		"by prefix":   {[]string{"belfry.*"}, 2},
		"all of them": {[]string{"All"}, 3},
	} {
		url := q.create("chosen-"+strconv.Itoa(row.want), nil)
		q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x"), MessageAttributes: map[string]types.MessageAttributeValue{
			"one": text("1"), "belfry.a": text("2"), "belfry.b": text("3"),
		}})
		out, err := q.client.ReceiveMessage(q.ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, MessageAttributeNames: row.ask, WaitTimeSeconds: 5})
		messages := must(q, out, err).Messages
		if len(messages) != 1 || len(messages[0].MessageAttributes) != row.want {
			q.Errorf("asked for %s: got %v, want %d attributes", name, messages, row.want)
		}
	}
}
