package conformance

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

func sqsVisibilityCases() []Case {
	return []Case{
		onSQS("a received message is hidden until its visibility ends, then counts one receipt more", func(q queues) {
			url := q.create("hidden", map[string]string{"VisibilityTimeout": "2"})
			q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
			first := q.one(url).Attributes
			q.none(url)
			q.wantAttributes(url, map[string]string{"ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "1"})
			second := q.one(url).Attributes
			if got := second["ApproximateReceiveCount"]; got != "2" {
				q.Errorf("receive count is %s, want 2", got)
			}
			const when = "ApproximateFirstReceiveTimestamp"
			if second[when] != first[when] {
				q.Errorf("the first receipt was at %s, then at %s", first[when], second[when])
			}
		}),
		onSQS("a visibility changed to zero gives the message back at once", func(q queues) {
			url := q.create("back", nil)
			q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
			q.change(url, q.one(url), 0)
			q.one(url)
		}),
		onSQS("a lengthened visibility keeps the message hidden", func(q queues) {
			url := q.create("longer", map[string]string{"VisibilityTimeout": "1"})
			q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
			m := q.one(url)
			q.change(url, m, 60)
			if messages := q.receive(url, 2); len(messages) != 0 {
				q.Errorf("received %d messages", len(messages))
			}
		}),
		onSQS("a receive may name a visibility of its own", func(q queues) {
			url := q.create("own", map[string]string{"VisibilityTimeout": "0"})
			q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
			out, err := q.client.ReceiveMessage(q.ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, VisibilityTimeout: 60, WaitTimeSeconds: 5})
			if got := len(must(q, out, err).Messages); got != 1 {
				q.Fatalf("received %d messages", got)
			}
			q.none(url)
		}),
	}
}

func sqsHandleCases() []Case {
	return []Case{
		onSQS("the latest handle deletes a message whose visibility has ended", func(q queues) {
			url := q.create("late-delete", nil)
			q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
			m := q.one(url)
			q.change(url, m, 0)
			q.delete(url, m)
			q.none(url)
		}),
		onSQS("an overtaken handle deletes nothing and does not fail", func(q queues) {
			url := q.create("old-handle", nil)
			q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
			old := q.one(url)
			q.change(url, old, 0)
			q.one(url)
			q.delete(url, old)
			q.wantAttributes(url, map[string]string{"ApproximateNumberOfMessagesNotVisible": "1"})
		}),
		onSQS("an overtaken handle does not change the visibility of the newer receipt", func(q queues) {
			url := q.create("old-visibility", nil)
			q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
			old := q.one(url)
			q.change(url, old, 0)
			q.one(url)
			_, err := q.client.ChangeMessageVisibility(q.ctx, &sqs.ChangeMessageVisibilityInput{
				QueueUrl: &url, ReceiptHandle: old.ReceiptHandle, VisibilityTimeout: 0,
			})
			q.refused(err, "InvalidParameterValue")
			q.wantAttributes(url, map[string]string{"ApproximateNumberOfMessagesNotVisible": "1"})
		}),
		onSQS("the visibility of a message that is not in flight cannot be changed", func(q queues) {
			url := q.create("not-in-flight", nil)
			q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
			m := q.one(url)
			q.change(url, m, 0)
			_, err := q.client.ChangeMessageVisibility(q.ctx, &sqs.ChangeMessageVisibilityInput{
				QueueUrl: &url, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 10,
			})
			q.refused(err, "AWS.SimpleQueueService.MessageNotInflight")
		}),
		onSQS("a message cannot be hidden for more than twelve hours from its receipt", func(q queues) {
			url := q.create("twelve-hours", nil)
			q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
			m := q.one(url)
			if messages := q.receive(url, 2); len(messages) != 0 {
				q.Fatalf("received %d messages", len(messages))
			}
			_, err := q.client.ChangeMessageVisibility(q.ctx, &sqs.ChangeMessageVisibilityInput{
				QueueUrl: &url, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: int32((12 * time.Hour).Seconds()),
			})
			q.refused(err, "InvalidParameterValue")
		}),
	}
}
