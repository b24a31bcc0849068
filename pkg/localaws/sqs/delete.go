package sqs

import "context"

type deleteMessageInput struct {
	QueueURL      string `json:"QueueUrl"`
	ReceiptHandle string
}

func (s *Service) deleteMessage(_ context.Context, in *deleteMessageInput) (*nothing, error) {
	s.mu.Lock()
	err := s.delete(in.QueueURL, in.ReceiptHandle)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return &nothing{}, s.commit()
}

// delete takes a message out if the handle is that of its latest receipt. A
// handle that has been overtaken by another receipt answers success and
// deletes nothing; so does one whose message is gone. The caller holds the
// lock.
func (s *Service) delete(queueURL, handle string) error {
	q, r, err := s.receipt(queueURL, handle)
	if err != nil {
		return err
	}
	m := q.find(r)
	if m == nil || uint32(m.receives) != r.receives {
		return nil
	}
	q.remove(m)
	s.pending.drop(q, m)
	s.settle(q, clock())
	return nil
}

// receipt reads a handle and checks that this queue gave it out.
func (s *Service) receipt(queueURL, handle string) (*queue, receipt, error) {
	q, err := s.find(queueURL)
	if err != nil {
		return nil, receipt{}, err
	}
	r, err := parseHandle(handle)
	if err != nil {
		return nil, receipt{}, err
	}
	if r.queue != q.id {
		return nil, receipt{}, badHandle(handle)
	}
	return q, r, nil
}
