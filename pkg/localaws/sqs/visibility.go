package sqs

import (
	"context"
	"time"
)

// maxVisibility is how long a message can stay in flight in all, counted from
// its receipt, in seconds.
const maxVisibility = 43_200

type changeVisibilityInput struct {
	QueueURL          string `json:"QueueUrl"`
	ReceiptHandle     string
	VisibilityTimeout *int
}

func (s *Service) changeVisibility(_ context.Context, in *changeVisibilityInput) (*nothing, error) {
	s.mu.Lock()
	err := s.changeOne(in.QueueURL, in.ReceiptHandle, in.VisibilityTimeout)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return &nothing{}, s.commit()
}

// changeOne makes a message in flight visible again so many seconds from now.
// Only the handle of the latest receipt can do so, and only while that receipt
// still hides the message. The caller holds the lock.
func (s *Service) changeOne(queueURL, handle string, seconds *int) error {
	q, r, err := s.receipt(queueURL, handle)
	if err != nil {
		return err
	}
	if seconds == nil {
		return missing("VisibilityTimeout")
	}
	if *seconds < 0 || *seconds > maxVisibility {
		return outOfRange("VisibilityTimeout", *seconds, 0, maxVisibility)
	}
	now := clock()
	s.expire(q, now)
	m := q.find(r)
	if m == nil || uint32(m.receives) != r.receives {
		return badParameter("Value " + handle + " for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.")
	}
	if m.phase != inFlight {
		return sender("MessageNotInflight", legacy+"MessageNotInflight", "The message referred to is not in flight.")
	}
	until := now + int64(*seconds)*int64(time.Second)
	if until > m.received+maxVisibility*int64(time.Second) {
		return badParameter("Value for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [43200 seconds].")
	}
	q.hide(m, until, now)
	s.pending.touch(q, m)
	s.settle(q, now)
	return nil
}
