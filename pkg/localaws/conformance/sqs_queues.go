package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func sqsQueueCases() []Case {
	return []Case{
		onSQS("creating a queue again with the same attributes returns the same queue", func(q queues) {
			attributes := map[string]string{"VisibilityTimeout": "45", "DelaySeconds": "3"}
			if first, second := q.create("same", attributes), q.create("same", attributes); first != second {
				q.Errorf("URLs differ: %s, %s", first, second)
			}
		}),
		onSQS("creating a queue again with another attribute value is refused", func(q queues) {
			q.create("other", map[string]string{"VisibilityTimeout": "45"})
			_, err := q.client.CreateQueue(q.ctx, &sqs.CreateQueueInput{
				QueueName: aws.String(q.prefix + "other"), Attributes: map[string]string{"VisibilityTimeout": "46"},
			})
			q.refused(err, "QueueAlreadyExists")
		}),
		onSQS("a queue's URL is found by its name", func(q queues) {
			url := q.create("found", nil)
			out, err := q.client.GetQueueUrl(q.ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(q.prefix + "found")})
			if got := *must(q, out, err).QueueUrl; got != url {
				q.Errorf("URL is %s, want %s", got, url)
			}
		}),
		onSQS("a new queue has the documented defaults", func(q queues) {
			url := q.create("defaults", nil)
			q.wantAttributes(url, map[string]string{
				"DelaySeconds": "0", "MessageRetentionPeriod": "345600", "VisibilityTimeout": "30",
				"ReceiveMessageWaitTimeSeconds": "0", "ApproximateNumberOfMessages": "0",
				"ApproximateNumberOfMessagesNotVisible": "0", "ApproximateNumberOfMessagesDelayed": "0",
			})
			if arn := q.attributes(url)["QueueArn"]; !strings.HasSuffix(arn, ":"+q.prefix+"defaults") {
				q.Errorf("QueueArn is %q", arn)
			}
		}),
	}
}

func sqsQueueChangeCases() []Case {
	return []Case{
		onSQS("attributes that are set are shown, and others stay", func(q queues) {
			url := q.create("set", map[string]string{"DelaySeconds": "3"})
			_, err := q.client.SetQueueAttributes(q.ctx, &sqs.SetQueueAttributesInput{
				QueueUrl: &url, Attributes: map[string]string{"VisibilityTimeout": "77", "MessageRetentionPeriod": "1209600"},
			})
			if err != nil {
				q.Fatal(err)
			}
			q.wantAttributes(url, map[string]string{"DelaySeconds": "3", "VisibilityTimeout": "77", "MessageRetentionPeriod": "1209600"})
		}),
		onSQS("queues are listed by prefix, in pages", listInPages),
		onSQS("a queue that is not there is refused by every operation", unknownQueue),
		onSQS("a deleted queue is gone", func(q queues) {
			url := q.create("deleted", nil)
			if _, err := q.client.DeleteQueue(q.ctx, &sqs.DeleteQueueInput{QueueUrl: &url}); err != nil {
				q.Fatal(err)
			}
			_, err := q.client.GetQueueUrl(q.ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(q.prefix + "deleted")})
			q.refused(err, "AWS.SimpleQueueService.NonExistentQueue")
		}),
		onSQS("tags are added, shown and removed", tags),
		onSQS("a dead-letter queue knows its sources", func(q queues) {
			dead := q.create("dead", nil)
			source := q.create("source", map[string]string{"RedrivePolicy": redriveTo(q.attributes(dead)["QueueArn"], 3)})
			out, err := q.client.ListDeadLetterSourceQueues(q.ctx, &sqs.ListDeadLetterSourceQueuesInput{QueueUrl: &dead})
			if got := must(q, out, err).QueueUrls; !slices.Equal(got, []string{source}) {
				q.Errorf("sources are %v, want %s", got, source)
			}
		}),
		onSQS("a purge leaves nothing, visible or not", func(q queues) {
			url := q.create("purged", nil)
			for range 3 {
				q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
			}
			q.receive(url, 0)
			q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
			if _, err := q.client.PurgeQueue(q.ctx, &sqs.PurgeQueueInput{QueueUrl: &url}); err != nil {
				q.Fatal(err)
			}
			q.none(url)
			q.wantAttributes(url, map[string]string{"ApproximateNumberOfMessages": "0"})
		}),
	}
}

func redriveTo(arn string, receives int) string {
	return fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":%d}`, arn, receives)
}

func listInPages(q queues) {
	var want []string
	for i := range 5 {
		want = append(want, q.create(fmt.Sprintf("page-%d", i), nil))
	}
	q.create("elsewhere", nil)
	var got []string
	pages := sqs.NewListQueuesPaginator(q.client, &sqs.ListQueuesInput{
		QueueNamePrefix: aws.String(q.prefix + "page-"), MaxResults: aws.Int32(2),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(q.ctx)
		page = must(q, page, err)
		if len(page.QueueUrls) > 2 {
			q.Errorf("a page of 2 has %d queues", len(page.QueueUrls))
		}
		got = append(got, page.QueueUrls...)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		q.Errorf("listed %v, want %v", got, want)
	}
}

func unknownQueue(q queues) {
	url := strings.TrimSuffix(q.create("there", nil), "there") + "not-there"
	_, err := q.client.SendMessage(q.ctx, &sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
	q.refused(err, "AWS.SimpleQueueService.NonExistentQueue")
	_, err = q.client.ReceiveMessage(q.ctx, &sqs.ReceiveMessageInput{QueueUrl: &url})
	q.refused(err, "AWS.SimpleQueueService.NonExistentQueue")
	_, err = q.client.GetQueueAttributes(q.ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url})
	q.refused(err, "AWS.SimpleQueueService.NonExistentQueue")
	_, err = q.client.PurgeQueue(q.ctx, &sqs.PurgeQueueInput{QueueUrl: &url})
	q.refused(err, "AWS.SimpleQueueService.NonExistentQueue")
	_, err = q.client.SendMessageBatch(q.ctx, &sqs.SendMessageBatchInput{
		QueueUrl: &url, Entries: []types.SendMessageBatchRequestEntry{{Id: aws.String("a"), MessageBody: aws.String("x")}},
	})
	q.refused(err, "AWS.SimpleQueueService.NonExistentQueue")
}

func tags(q queues) {
	url := q.create("tagged", nil)
	_, err := q.client.TagQueue(q.ctx, &sqs.TagQueueInput{QueueUrl: &url, Tags: map[string]string{"team": "a", "cost": "b"}})
	if err != nil {
		q.Fatal(err)
	}
	if _, err := q.client.UntagQueue(q.ctx, &sqs.UntagQueueInput{QueueUrl: &url, TagKeys: []string{"team"}}); err != nil {
		q.Fatal(err)
	}
	out, err := q.client.ListQueueTags(q.ctx, &sqs.ListQueueTagsInput{QueueUrl: &url})
	if got := must(q, out, err).Tags; len(got) != 1 || got["cost"] != "b" {
		q.Errorf("tags are %v, want cost=b", got)
	}
}
