package conformance

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

func sqsReceiveCases() []Case {
	return []Case{
		onSQS("an empty queue answers an empty list at once", func(q queues) {
			url := q.create("empty", nil)
			start := time.Now()
			q.none(url)
			if took := time.Since(start); took > time.Second {
				q.Errorf("a poll without waiting took %v", took)
			}
		}),
		onSQS("a long poll on an empty queue waits as long as it was told", func(q queues) {
			url := q.create("wait", nil)
			start := time.Now()
			if messages := q.receive(url, 2); len(messages) != 0 {
				q.Errorf("received %d messages", len(messages))
			}
			if took := time.Since(start); took < 1900*time.Millisecond || took > 4*time.Second {
				q.Errorf("a poll of 2 s took %v", took)
			}
		}),
		onSQS("a long poll is woken by a send", func(q queues) {
			url := q.create("woken", nil)
			start := time.Now()
			sent := make(chan error, 1)
			time.AfterFunc(time.Second, func() {
				_, err := q.client.SendMessage(q.ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
				sent <- err
			})
			messages := q.receive(url, 10)
			if err := <-sent; err != nil || len(messages) != 1 {
				q.Fatalf("received %d messages; the send returned %v", len(messages), err)
			}
			if took := time.Since(start); took > 3*time.Second {
				q.Errorf("a message sent after 1 s was received after %v", took)
			}
		}),
		onSQS("a receive returns at most what was asked for", func(q queues) {
			url := q.create("at-most", nil)
			for range 5 {
				q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
			}
			out, err := q.client.ReceiveMessage(q.ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: 3})
			if got := len(must(q, out, err).Messages); got < 1 || got > 3 {
				q.Errorf("received %d messages, want 1 to 3", got)
			}
		}),
		onSQS("a deleted message never comes back", func(q queues) {
			url := q.create("delete", nil)
			q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
			m := q.one(url)
			q.delete(url, m)
			q.delete(url, m) // again answers success
			q.wantAttributes(url, map[string]string{"ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "0"})
		}),
		onSQS("a message received too often moves to the dead-letter queue with its history", deadLetter),
	}
}

func deadLetter(q queues) {
	dead := q.create("dlq", nil)
	url := q.create("failing", map[string]string{"RedrivePolicy": redriveTo(q.attributes(dead)["QueueArn"], 2)})
	sent := q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("poison")})
	var sentAt string
	for range 2 {
		m := q.one(url)
		sentAt = m.Attributes["SentTimestamp"]
		q.change(url, m, 0)
	}
	q.none(url)
	m := q.one(dead)
	if *m.MessageId != *sent.MessageId || *m.Body != "poison" {
		q.Errorf("the dead letter is %s %q", *m.MessageId, *m.Body)
	}
	if got := m.Attributes["SentTimestamp"]; got != sentAt {
		q.Errorf("SentTimestamp is %s, want that of the first send, %s", got, sentAt)
	}
	if got := m.Attributes["ApproximateReceiveCount"]; got != "3" {
		q.Errorf("receive count is %s, want 3: it counts across queues", got)
	}
	if got := m.Attributes["DeadLetterQueueSourceArn"]; got != q.attributes(url)["QueueArn"] {
		q.Errorf("DeadLetterQueueSourceArn is %q", got)
	}
}
