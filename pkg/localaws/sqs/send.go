package sqs

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// maxMessage is the most that a message, or all messages of a batch, may
// weigh, in bytes.
const maxMessage = 1 << 20

type sending struct {
	DelaySeconds            *int
	MessageAttributes       map[string]attribute
	MessageBody             string
	MessageDeduplicationID  string `json:"MessageDeduplicationId"`
	MessageGroupID          string `json:"MessageGroupId"`
	MessageSystemAttributes map[string]attribute
}

type sendMessageInput struct {
	QueueURL string `json:"QueueUrl"`
	sending
}

type sent struct {
	MD5OfMessageAttributes       string `json:",omitempty"`
	MD5OfMessageBody             string
	MD5OfMessageSystemAttributes string `json:",omitempty"`
	MessageID                    string `json:"MessageId"`
}

func (s *Service) sendMessage(_ context.Context, in *sendMessageInput) (*sent, error) {
	s.mu.Lock()
	out, err := s.send(in.QueueURL, &in.sending)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return out, s.commit()
}

// send enqueues one message. The caller holds the lock.
func (s *Service) send(queueURL string, in *sending) (*sent, error) {
	q, err := s.find(queueURL)
	if err != nil {
		return nil, err
	}
	if err := in.check(); err != nil {
		return nil, err
	}
	if size := in.size(); size > q.settings.maxSize {
		return nil, badParameter(fmt.Sprintf("One or more parameters are invalid. Reason: Message must be shorter than %d bytes; this one has %d.",
			q.settings.maxSize, size))
	}
	return s.enqueue(q, in, clock()), nil
}

func (in *sending) check() error {
	if in.MessageBody == "" {
		return missing("MessageBody")
	}
	if in.DelaySeconds != nil && (*in.DelaySeconds < 0 || *in.DelaySeconds > 900) {
		return badParameter(fmt.Sprintf("Value %d for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= 900.",
			*in.DelaySeconds))
	}
	if in.MessageDeduplicationID != "" {
		return badParameter("The parameter MessageDeduplicationId is not valid for this queue type.")
	}
	if err := checkGroup(in.MessageGroupID); err != nil {
		return err
	}
	if !isText(in.MessageBody) {
		return badContents()
	}
	if len(in.MessageAttributes) > 10 {
		return badParameter(fmt.Sprintf("Number of message attributes [%d] exceeds the allowed maximum [10].", len(in.MessageAttributes)))
	}
	for name, a := range in.MessageAttributes {
		if err := a.check(name); err != nil {
			return err
		}
	}
	return checkSystemAttributes(in.MessageSystemAttributes)
}

func checkSystemAttributes(attributes map[string]attribute) error {
	for name, a := range attributes {
		if name != "AWSTraceHeader" || a.DataType != "String" || a.StringValue == nil {
			return badParameter("Message system attribute " + name + " is invalid: AWSTraceHeader with a String value is the only one.")
		}
	}
	return nil
}

func checkGroup(group string) error {
	for _, c := range group {
		if !isAlphanumeric(c) && !strings.ContainsRune("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", c) {
			return badParameter("MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length.")
		}
	}
	if len(group) > 128 {
		return badParameter("MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length.")
	}
	return nil
}

// size counts what SQS counts: the body and the attributes with their names
// and types. System attributes are free.
func (in *sending) size() int {
	size := len(in.MessageBody)
	for name, a := range in.MessageAttributes {
		size += a.size(name)
	}
	return size
}

// enqueue adds a checked message, and what Options.Disturb makes of it.
func (s *Service) enqueue(q *queue, in *sending, now int64) *sent {
	q.sends++
	var disturbance Disturbance
	if s.options.Disturb != nil {
		disturbance = s.options.Disturb(Sending{Queue: q.name, N: q.sends, Body: in.MessageBody})
	}
	delay := q.settings.delay
	if in.DelaySeconds != nil {
		delay = int64(*in.DelaySeconds) * int64(time.Second)
	}
	fresh := content{
		Body: in.MessageBody, Attributes: in.MessageAttributes, Group: in.MessageGroupID, bodyMD5: md5Hex(in.MessageBody),
	}
	if trace, ok := in.MessageSystemAttributes["AWSTraceHeader"]; ok {
		fresh.Trace = *trace.StringValue
	}
	for range 1 + disturbance.Copies {
		m := &message{seq: s.nextSeq(q), content: fresh}
		m.sent = now
		m.visibleAt = now + delay + int64(disturbance.Late)
		if m.ID == "" {
			fresh.ID = messageID(q.arn, q.id, m.seq, now)
			m.ID = fresh.ID
		}
		q.insert(m, delayed, now)
		s.pending.store(q, m)
	}
	s.settle(q, now)
	return &sent{
		MD5OfMessageAttributes:       attributesMD5(in.MessageAttributes),
		MD5OfMessageBody:             fresh.bodyMD5,
		MD5OfMessageSystemAttributes: attributesMD5(in.MessageSystemAttributes),
		MessageID:                    fresh.ID,
	}
}
