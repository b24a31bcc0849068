package queue

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// LongestVisibility is the longest that SQS keeps a message hidden, counted
// from its receipt.
const LongestVisibility = 12 * time.Hour

// Received is one message as SQS handed it out.
type Received struct {
	ID       string
	Handle   string // for Delete and Hide
	Body     string
	Group    string
	Receives int // how often it was handed out, this time included; at least 1
}

// Queue is one queue to receive from.
type Queue struct {
	client  *Client
	name    string
	deletes *gather[string]
	hides   *gather[hiding]
}

// hiding is one message to be hidden for so many seconds from now on.
type hiding struct {
	handle  string
	seconds int32
}

// settleWindow is how long a delete or a change of visibility waits for others
// to share its request. A crash inside it only brings the message back.
const settleWindow = 20 * time.Millisecond

func newQueue(c *Client, name string) *Queue {
	q := &Queue{client: c, name: name}
	q.deletes = &gather[string]{clock: c.Clock, window: settleWindow, flush: q.deleteBatch}
	q.hides = &gather[hiding]{clock: c.Clock, window: settleWindow, flush: q.hideBatch}
	return q
}

// Name is the queue's name.
func (q *Queue) Name() string { return q.name }

var receiveAttributes = []types.MessageSystemAttributeName{
	types.MessageSystemAttributeNameApproximateReceiveCount, types.MessageSystemAttributeNameMessageGroupId}

// Receive takes up to most (1 to 10) messages, waiting up to wait (whole
// seconds, at most 20) for the first, and hides them for visibility.
func (q *Queue) Receive(ctx context.Context, most int, wait, visibility time.Duration) ([]Received, error) {
	url, err := q.client.url(ctx, q.name)
	if err != nil {
		return nil, err
	}
	out, err := q.client.SQS.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: &url, MaxNumberOfMessages: int32(min(max(most, 1), batchSize)),
		WaitTimeSeconds: int32(wait / time.Second), VisibilityTimeout: Seconds(visibility), MessageSystemAttributeNames: receiveAttributes})
	if err != nil {
		return nil, refused("receive from", q.name, err)
	}
	received := make([]Received, len(out.Messages))
	for i, m := range out.Messages {
		receives, _ := strconv.Atoi(m.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
		received[i] = Received{ID: aws.ToString(m.MessageId), Handle: aws.ToString(m.ReceiptHandle), Body: aws.ToString(m.Body),
			Group: m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)], Receives: max(receives, 1)}
	}
	return received, nil
}

// Seconds is a duration as SQS counts visibility: whole seconds, rounded up so
// that a message is never back before its time, at most LongestVisibility.
func Seconds(d time.Duration) int32 {
	d = min(max(d, 0), LongestVisibility)
	return int32((d + time.Second - 1) / time.Second)
}

// Delete deletes a received message. It shares its request with others that
// come within a few milliseconds, and returns when that has been answered.
func (q *Queue) Delete(ctx context.Context, handle string) error { return q.deletes.add(ctx, handle) }

// Hide makes a received message visible again after d, counted from now and
// rounded up to whole seconds; zero = at once. It shares its request as Delete
// does.
func (q *Queue) Hide(ctx context.Context, handle string, d time.Duration) error {
	return q.hides.add(ctx, hiding{handle: handle, seconds: Seconds(d)})
}

// HideAll hides messages for d in as few requests as there can be.
func (q *Queue) HideAll(ctx context.Context, handles []string, d time.Duration) []error {
	all := make([]hiding, len(handles))
	for i, h := range handles {
		all[i] = hiding{handle: h, seconds: Seconds(d)}
	}
	var errs []error
	for len(all) > 0 {
		batch := all[:min(batchSize, len(all))]
		all = all[len(batch):]
		errs = append(errs, q.hideBatch(ctx, batch)...)
	}
	return errs
}

// Renew sends a copy of the message that becomes visible after d (at most
// MaxDelay) and deletes the one received, so that its count of receives starts
// anew and it is never dead-lettered.
func (q *Queue) Renew(ctx context.Context, m Received, d time.Duration) error {
	errs := make([]error, 1)
	copied := letter{body: m.Body, group: m.Group, delay: int32(min(max(d, 0), MaxDelay) / time.Second)}
	q.client.post(ctx, []string{q.name}, map[string][]letter{q.name: {copied}}, errs)
	if errs[0] != nil {
		return errs[0]
	}
	return q.Delete(ctx, m.Handle)
}

func (q *Queue) deleteBatch(ctx context.Context, handles []string) []error {
	url, err := q.client.url(ctx, q.name)
	if err != nil {
		return repeat(err, len(handles))
	}
	in := &sqs.DeleteMessageBatchInput{QueueUrl: &url}
	for i := range handles {
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: &handles[i]})
	}
	out, err := q.client.SQS.DeleteMessageBatch(ctx, in)
	if err != nil {
		return repeat(refused("delete from", q.name, err), len(handles))
	}
	return q.entryErrors("delete from", len(handles), out.Failed)
}

func (q *Queue) hideBatch(ctx context.Context, hidings []hiding) []error {
	url, err := q.client.url(ctx, q.name)
	if err != nil {
		return repeat(err, len(hidings))
	}
	in := &sqs.ChangeMessageVisibilityBatchInput{QueueUrl: &url}
	for i, h := range hidings {
		in.Entries = append(in.Entries, types.ChangeMessageVisibilityBatchRequestEntry{Id: aws.String(strconv.Itoa(i)),
			ReceiptHandle: &hidings[i].handle, VisibilityTimeout: h.seconds})
	}
	out, err := q.client.SQS.ChangeMessageVisibilityBatch(ctx, in)
	if err != nil {
		return repeat(refused("hide a message of", q.name, err), len(hidings))
	}
	return q.entryErrors("hide a message of", len(hidings), out.Failed)
}

func (q *Queue) entryErrors(doing string, n int, bad []types.BatchResultErrorEntry) []error {
	errs := make([]error, n)
	for _, b := range bad {
		if i, known := entry(b.Id, n); known {
			errs[i] = refused(doing, q.name, entryError(b))
		}
	}
	return errs
}

func repeat(err error, n int) []error {
	errs := make([]error, n)
	for i := range errs {
		errs[i] = err
	}
	return errs
}
