package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

func sqsBatchCases() []Case {
	return []Case{
		onSQS("a batch sends, hides and deletes ten messages", wholeBatch),
		onSQS("one bad entry of a batch fails alone", func(q queues) {
			url := q.create("one-bad", nil)
			entries := batchOf(3)
			entries[1].DelaySeconds = 901
			out, err := q.client.SendMessageBatch(q.ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: entries})
			out = must(q, out, err)
			if len(out.Successful) != 2 || len(out.Failed) != 1 {
				q.Fatalf("%d succeeded and %d failed, want 2 and 1", len(out.Successful), len(out.Failed))
			}
			if f := out.Failed[0]; *f.Id != "e1" || *f.Code != "InvalidParameterValue" || !f.SenderFault {
				q.Errorf("failed entry is %s %s %v", *f.Id, *f.Code, f.SenderFault)
			}
			q.wantAttributes(url, map[string]string{"ApproximateNumberOfMessages": "2"})
		}),
		onSQS("a handle that is none fails its entry of a batch alone", func(q queues) {
			url := q.create("bad-handle", nil)
			q.send(&sqs.SendMessageInput{QueueUrl: &url, MessageBody: aws.String("x")})
			m := q.one(url)
			out, err := q.client.DeleteMessageBatch(q.ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &url, Entries: []types.DeleteMessageBatchRequestEntry{
				{Id: aws.String("good"), ReceiptHandle: m.ReceiptHandle}, {Id: aws.String("bad"), ReceiptHandle: aws.String("no-handle")},
			}})
			out = must(q, out, err)
			if len(out.Successful) != 1 || len(out.Failed) != 1 || *out.Failed[0].Id != "bad" || *out.Failed[0].Code != "ReceiptHandleIsInvalid" {
				q.Errorf("succeeded %v, failed %v", out.Successful, out.Failed)
			}
		}),
		onSQS("a batch as a whole is refused for its ids, its number or its size", badBatches),
	}
}

func batchOf(n int) []types.SendMessageBatchRequestEntry {
	entries := make([]types.SendMessageBatchRequestEntry, n)
	for i := range entries {
		entries[i].Id = aws.String(fmt.Sprintf("e%d", i))
		entries[i].MessageBody = aws.String(fmt.Sprintf("body %d", i))
	}
	return entries
}

func wholeBatch(q queues) {
	url := q.create("batch", nil)
	sent, err := q.client.SendMessageBatch(q.ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: batchOf(10)})
	if got := len(must(q, sent, err).Successful); got != 10 {
		q.Fatalf("%d were sent", got)
	}
	var messages []types.Message
	for len(messages) < 10 {
		more := q.receive(url, 5)
		if len(more) == 0 {
			q.Fatalf("only %d of 10 messages arrived", len(messages))
		}
		messages = append(messages, more...)
	}
	var hide []types.ChangeMessageVisibilityBatchRequestEntry
	var remove []types.DeleteMessageBatchRequestEntry
	var bodies []string
	for i, m := range messages {
		id := aws.String(fmt.Sprintf("e%d", i))
		hide = append(hide, types.ChangeMessageVisibilityBatchRequestEntry{Id: id, ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: 60})
		remove = append(remove, types.DeleteMessageBatchRequestEntry{Id: id, ReceiptHandle: m.ReceiptHandle})
		bodies = append(bodies, *m.Body)
	}
	if slices.Sort(bodies); len(slices.Compact(bodies)) != 10 {
		q.Errorf("bodies %v are not ten different ones", bodies)
	}
	hidden, err := q.client.ChangeMessageVisibilityBatch(q.ctx, &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &url, Entries: hide})
	if got := len(must(q, hidden, err).Successful); got != 10 {
		q.Errorf("%d were hidden", got)
	}
	removed, err := q.client.DeleteMessageBatch(q.ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &url, Entries: remove})
	if got := len(must(q, removed, err).Successful); got != 10 {
		q.Errorf("%d were deleted", got)
	}
	q.wantAttributes(url, map[string]string{"ApproximateNumberOfMessages": "0", "ApproximateNumberOfMessagesNotVisible": "0"})
}

func badBatches(q queues) {
	url := q.create("bad-batches", nil)
	twice := batchOf(2)
	twice[1].Id = twice[0].Id
	strange := batchOf(1)
	strange[0].Id = aws.String("a b")
	long := batchOf(1)
	long[0].Id = aws.String(strings.Repeat("a", 81))
	heavy := batchOf(2)
	heavy[0].MessageBody = aws.String(strings.Repeat("a", 600<<10))
	heavy[1].MessageBody = heavy[0].MessageBody
	for code, entries := range map[string][][]types.SendMessageBatchRequestEntry{
		"EmptyBatchRequest":            {{}},
		"TooManyEntriesInBatchRequest": {batchOf(11)},
		"BatchEntryIdsNotDistinct":     {twice},
		"InvalidBatchEntryId":          {strange, long},
		"BatchRequestTooLong":          {heavy},
	} {
		for _, batch := range entries {
			_, err := q.client.SendMessageBatch(q.ctx, &sqs.SendMessageBatchInput{QueueUrl: &url, Entries: batch})
			q.refused(err, "AWS.SimpleQueueService."+code)
		}
	}
	q.none(url)
}
