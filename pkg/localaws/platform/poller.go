package platform

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// SQS is what a Poller calls; *sqs.Client satisfies it.
type SQS interface {
	// GetQueueAttributes is asked once for the queue's ARN and visibility.
	GetQueueAttributes(context.Context, *sqs.GetQueueAttributesInput, ...func(*sqs.Options)) (*sqs.GetQueueAttributesOutput, error)
	// ReceiveMessage is called as a long poll.
	ReceiveMessage(context.Context, *sqs.ReceiveMessageInput, ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput, error)
	// DeleteMessageBatch takes away what the function has dealt with.
	DeleteMessageBatch(context.Context, *sqs.DeleteMessageBatchInput, ...func(*sqs.Options)) (*sqs.DeleteMessageBatchOutput, error)
}

// Poller invokes a function with the messages of a queue, as Lambda's event
// source mapping does.
type Poller struct {
	Runtime
	Function func(context.Context, events.SQSEvent) (events.SQSEventResponse, error)
	Client   SQS
	Queue    string // URL

	BatchSize      int           // messages an invocation, 1 to 10 000; 0 = 10; more than 10 needs a window
	BatchWindow    time.Duration // how long a batch that is not full waits for more, up to 5 min; 0 = it does not
	MaxConcurrency int           // invocations at once; 0 = 1 000

	// PartialFailures is ReportBatchItemFailures: what the function lists
	// stays in the queue, the rest is deleted. Without it the function's
	// answer is not read.
	PartialFailures bool

	// Ramp has concurrency begin at 5 and grow by 300 a minute while there is
	// a backlog, as the mapping does. Without it all of MaxConcurrency is
	// there at once, as with provisioned pollers.
	Ramp bool

	Receivers int         // calls of ReceiveMessage at once; 0 = 1
	OnError   func(error) // told of failed calls and failed invocations; nil = nobody
}

// Run polls until ctx ends, then waits for what is in hand. It returns an
// error only when the mapping itself is wrong: a setting is out of bounds, the
// queue is not there, or its visibility is shorter than the function's
// timeout.
func (p *Poller) Run(ctx context.Context) error {
	mapping, err := p.open(ctx)
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	defer mapping.runner.wait()
	var receivers sync.WaitGroup
	for range max(p.Receivers, 1) {
		receivers.Go(func() { mapping.poll(ctx) })
	}
	receivers.Wait()
	return nil
}

// deletePatience bounds how long a driver that is to stop waits for a queue
// that does not answer.
const deletePatience = 30 * time.Second

// mapping is a Poller at work.
type mapping struct {
	*Poller
	runner *runner
	slots  *slots
	arn    string
	region string
	size   int
}

func (p *Poller) open(ctx context.Context) (*mapping, error) {
	size, limit := p.BatchSize, p.MaxConcurrency
	if size == 0 {
		size = 10
	}
	if limit == 0 {
		limit = 1000
	}
	switch {
	case size < 1 || size > 10_000:
		return nil, fmt.Errorf("batch size %d is not from 1 to 10000", size)
	case p.BatchWindow < 0 || p.BatchWindow > 5*time.Minute:
		return nil, fmt.Errorf("batch window %v is not from 0 to 5m", p.BatchWindow)
	case size > 10 && p.BatchWindow < time.Second:
		return nil, fmt.Errorf("batch size %d is above 10 and needs a batch window of at least 1s", size)
	case limit < 1:
		return nil, fmt.Errorf("concurrency %d is below 1", limit)
	}
	m := &mapping{Poller: p, runner: newRunner(ctx, p.Runtime), slots: newSlots(limit, p.Ramp), size: size}
	out, err := p.Client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &p.Queue, AttributeNames: []types.QueueAttributeName{"QueueArn", "VisibilityTimeout"},
	})
	if err != nil {
		return nil, fmt.Errorf("look at queue %s: %w", p.Queue, err)
	}
	m.arn = out.Attributes["QueueArn"]
	if parts := strings.Split(m.arn, ":"); len(parts) > 3 {
		m.region = parts[3]
	}
	seconds, err := strconv.Atoi(out.Attributes["VisibilityTimeout"])
	if visibility := time.Duration(seconds) * time.Second; err != nil || visibility < m.runner.Timeout {
		return nil, fmt.Errorf("queue visibility timeout of %v is less than the function's timeout of %v", visibility, m.runner.Timeout)
	}
	return m, nil
}

// poll takes a slot, then a batch for it, again and again. A batch is never
// taken before there is a slot to run it in.
func (m *mapping) poll(ctx context.Context) {
	for m.slots.take(ctx) {
		batch := m.gather(ctx)
		if len(batch) == 0 {
			m.slots.free()
			if ctx.Err() != nil {
				return
			}
			continue
		}
		m.runner.inHand.Go(func() {
			defer m.slots.free()
			m.run(ctx, batch)
		})
	}
}

// run invokes the function and deletes what it has dealt with. What failed
// stays hidden for its visibility, as in Lambda.
func (m *mapping) run(ctx context.Context, batch []types.Message) {
	response, err := invoke(ctx, m.runner, m.event(batch), m.Function)
	if err != nil {
		m.report(fmt.Errorf("invoke %s: %w", m.runner.Name, err))
		return
	}
	if m.PartialFailures {
		batch = m.succeeded(batch, response)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deletePatience)
	defer cancel()
	m.delete(ctx, batch)
}

// succeeded leaves out what the function reports as failed. A report that is
// empty or names a message of another batch means that all have failed.
func (m *mapping) succeeded(batch []types.Message, response events.SQSEventResponse) []types.Message {
	failed := make(map[string]bool, len(response.BatchItemFailures))
	for _, failure := range response.BatchItemFailures {
		failed[failure.ItemIdentifier] = true
	}
	var rest []types.Message
	for _, message := range batch {
		if !failed[*message.MessageId] {
			rest = append(rest, message)
		}
	}
	// Two deliveries of one message may share a batch and an id.
	ids := make(map[string]bool, len(batch))
	for _, message := range batch {
		ids[*message.MessageId] = true
	}
	for id := range failed {
		if !ids[id] {
			m.report(fmt.Errorf("%s reported %q as failed, which is not in its batch: the whole batch has failed", m.runner.Name, id))
			return nil
		}
	}
	return rest
}

func (m *mapping) delete(ctx context.Context, batch []types.Message) {
	for len(batch) > 0 {
		n := min(len(batch), 10)
		entries := make([]types.DeleteMessageBatchRequestEntry, n)
		for i, message := range batch[:n] {
			id := strconv.Itoa(i)
			entries[i] = types.DeleteMessageBatchRequestEntry{Id: &id, ReceiptHandle: message.ReceiptHandle}
		}
		out, err := m.Client.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &m.Queue, Entries: entries})
		if err != nil {
			m.report(fmt.Errorf("delete %d messages: %w", n, err))
		} else if len(out.Failed) > 0 {
			m.report(fmt.Errorf("delete %d messages: %d failed, the first with %s", n, len(out.Failed), *out.Failed[0].Code))
		}
		batch = batch[n:]
	}
}

func (m *mapping) report(err error) {
	if m.OnError != nil {
		m.OnError(err)
	}
}
