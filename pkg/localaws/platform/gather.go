package platform

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const (
	longestWait = 20 * time.Second // of one ReceiveMessage
	errorPause  = time.Second      // after a call that failed

	// A batch of this weight is not added to: with what comes around the
	// bodies, the next receive could exceed the 6 MB of an invocation.
	fullWeight = 4 << 20
)

// gather returns a batch, or nothing when none came, the call failed or ctx
// has ended. The first receive is a long poll; a batch window goes on
// receiving until the batch is full, heavy enough or old enough.
func (m *mapping) gather(ctx context.Context) []types.Message {
	batch, err := m.receive(ctx, m.size, longestWait)
	if err != nil {
		m.receiveFailed(ctx, err)
		return nil
	}
	m.slots.received(len(batch) > 0)
	if len(batch) == 0 {
		return nil
	}
	end := time.Now().Add(m.BatchWindow)
	for len(batch) < m.size && weight(batch) < fullWeight && ctx.Err() == nil {
		// SQS counts waits in whole seconds: the last part of a second is not
		// waited for.
		left := min(time.Until(end).Truncate(time.Second), longestWait)
		if left < time.Second {
			break
		}
		more, err := m.receive(ctx, m.size-len(batch), left)
		if err != nil {
			m.receiveFailed(ctx, err)
			break
		}
		batch = append(batch, more...)
	}
	return batch
}

func (m *mapping) receive(ctx context.Context, most int, wait time.Duration) ([]types.Message, error) {
	out, err := m.Client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl:                    &m.Queue,
		MaxNumberOfMessages:         int32(min(most, 10)),
		WaitTimeSeconds:             int32(wait / time.Second),
		MessageAttributeNames:       []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
	})
	if err != nil {
		return nil, err
	}
	return out.Messages, nil
}

func (m *mapping) receiveFailed(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	m.report(fmt.Errorf("receive from %s: %w", m.Queue, err))
	pause(ctx, errorPause)
}

func weight(batch []types.Message) int {
	sum := 0
	for _, message := range batch {
		sum += len(*message.Body)
	}
	return sum
}
