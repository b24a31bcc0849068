package sqs

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

type receiveMessageInput struct {
	QueueURL                    string `json:"QueueUrl"`
	AttributeNames              []string
	MaxNumberOfMessages         *int
	MessageAttributeNames       []string
	MessageSystemAttributeNames []string
	ReceiveRequestAttemptID     string `json:"ReceiveRequestAttemptId"`
	VisibilityTimeout           *int
	WaitTimeSeconds             *int
}

type receivedMessage struct {
	Attributes             map[string]string `json:",omitempty"`
	Body                   string
	MD5OfBody              string
	MD5OfMessageAttributes string               `json:",omitempty"`
	MessageAttributes      map[string]attribute `json:",omitempty"`
	MessageID              string               `json:"MessageId"`
	ReceiptHandle          string
}

type receiveMessageOutput struct {
	Messages []receivedMessage `json:",omitempty"`
}

// receiveMessage answers as soon as there is a message, or when the wait is
// over. It sleeps in between: sends, and one timer per queue for delays and
// visibilities that end, wake it.
func (s *Service) receiveMessage(ctx context.Context, in *receiveMessageInput) (*receiveMessageOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	var over *time.Timer
	for last := false; ; {
		try, err := s.tryReceive(in, last)
		if err != nil {
			return nil, err
		}
		// A look that finds nothing may still have moved dead letters.
		if try.changed {
			if err := s.commit(); err != nil {
				s.leave(try)
				return nil, err
			}
		}
		if try.waiter == nil {
			return &receiveMessageOutput{Messages: try.messages}, nil
		}
		if over == nil {
			over = time.NewTimer(try.wait)
			defer over.Stop()
		}
		select {
		case <-try.waiter.woken:
			if ctx.Err() == nil {
				continue
			}
		case <-over.C:
			last = true
		case <-ctx.Done():
		}
		s.leave(try)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

func (in *receiveMessageInput) check() error {
	for _, number := range []struct {
		name      string
		value     *int
		low, high int
	}{
		{"MaxNumberOfMessages", in.MaxNumberOfMessages, 1, 10},
		{"VisibilityTimeout", in.VisibilityTimeout, 0, maxVisibility},
		{"WaitTimeSeconds", in.WaitTimeSeconds, 0, 20},
	} {
		if number.value != nil && (*number.value < number.low || *number.value > number.high) {
			return outOfRange(number.name, *number.value, number.low, number.high)
		}
	}
	if in.ReceiveRequestAttemptID != "" {
		return badParameter("The parameter ReceiveRequestAttemptId is not valid for this queue type.")
	}
	for _, name := range in.systemAttributes() {
		if _, ok := systemAttributes[name]; !ok && name != "All" {
			return sender("InvalidAttributeName", "InvalidAttributeName", "Unknown Attribute "+name+".")
		}
	}
	return nil
}

// systemAttributes are asked for under two names, of which SQS calls the first
// one deprecated.
func (in *receiveMessageInput) systemAttributes() []string {
	return append(slices.Clone(in.AttributeNames), in.MessageSystemAttributeNames...)
}

// attempt is the outcome of one look at the queue: messages, or a place among
// those who wait.
type attempt struct {
	messages []receivedMessage
	queue    *queue
	waiter   *waiter
	changed  bool          // there is something to commit
	wait     time.Duration // the whole wait, as asked for or as the queue says
}

// tryReceive takes what there is. It waits neither when the wait is zero nor
// when this is the last try.
func (s *Service) tryReceive(in *receiveMessageInput, last bool) (attempt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueURL)
	if err != nil {
		return attempt{}, err
	}
	wait := time.Duration(q.settings.wait)
	if in.WaitTimeSeconds != nil {
		wait = time.Duration(*in.WaitTimeSeconds) * time.Second
	}
	now := clock()
	s.expire(q, now)
	if wait == 0 && q.counts[inFlight] >= s.options.MaxInFlight {
		return attempt{}, sender("OverLimit", "OverLimit",
			fmt.Sprintf("The maximum number of in flight messages, %d, has been reached.", s.options.MaxInFlight))
	}
	try := attempt{messages: s.take(q, in, now), queue: q, wait: wait}
	if len(try.messages) == 0 && wait > 0 && !last {
		try.waiter = q.wait()
	}
	s.settle(q, now)
	try.changed = s.pending.any()
	return try, nil
}

// take receives up to as many messages as asked for, those first that have
// been visible longest.
func (s *Service) take(q *queue, in *receiveMessageInput, now int64) []receivedMessage {
	visibility := q.settings.visibility
	if in.VisibilityTimeout != nil {
		visibility = int64(*in.VisibilityTimeout) * int64(time.Second)
	}
	limit := 1
	if in.MaxNumberOfMessages != nil {
		limit = *in.MaxNumberOfMessages
	}
	var taken []*message
	for len(taken) < limit && q.counts[inFlight]+len(taken) < s.options.MaxInFlight {
		m := q.ready.first()
		if m == nil {
			break
		}
		if s.redrive(q, m, now) {
			continue
		}
		q.displace(m)
		taken = append(taken, m)
	}
	out := make([]receivedMessage, 0, len(taken))
	for _, m := range taken {
		m.receives++
		m.received, m.visibleAt = now, now+visibility
		if m.first == 0 {
			m.first = now
		}
		q.place(m, inFlight, now)
		s.pending.touch(q, m)
		out = append(out, in.show(q, m))
	}
	return out
}

// show writes a message with the attributes that the receiver asked for.
func (in *receiveMessageInput) show(q *queue, m *message) receivedMessage {
	chosen := choose(m.Attributes, in.MessageAttributeNames)
	return receivedMessage{
		Attributes:             m.systemAttributes(in.systemAttributes()),
		Body:                   m.Body,
		MD5OfBody:              m.bodyMD5,
		MD5OfMessageAttributes: attributesMD5(chosen),
		MessageAttributes:      chosen,
		MessageID:              m.ID,
		ReceiptHandle:          receiptOf(q, m).handle(),
	}
}

var systemAttributes = map[string]func(*message) string{
	"AWSTraceHeader":                   func(m *message) string { return m.Trace },
	"ApproximateFirstReceiveTimestamp": func(m *message) string { return milliseconds(m.first) },
	"ApproximateReceiveCount":          func(m *message) string { return strconv.Itoa(m.receives) },
	"DeadLetterQueueSourceArn":         func(m *message) string { return m.Source },
	"MessageDeduplicationId":           func(*message) string { return "" },
	"MessageGroupId":                   func(m *message) string { return m.Group },
	"SenderId":                         func(*message) string { return "AIDALOCALAWS000000000" },
	"SentTimestamp":                    func(m *message) string { return milliseconds(m.sent) },
	"SequenceNumber":                   func(*message) string { return "" },
}

func (m *message) systemAttributes(asked []string) map[string]string {
	if slices.Contains(asked, "All") {
		asked = slices.Collect(maps.Keys(systemAttributes))
	}
	shown := make(map[string]string, len(asked))
	for _, name := range asked {
		if value := systemAttributes[name](m); value != "" {
			shown[name] = value
		}
	}
	return shown
}
