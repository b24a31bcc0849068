package sqs

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// target returns the queue with the ARN, or nil.
func (s *Service) target(arn string) *queue {
	name, ok := strings.CutPrefix(arn, s.arn(""))
	if !ok {
		return nil
	}
	return s.queues[name]
}

// checkRedrive refuses a redrive policy whose target is not there, is the
// queue itself, or does not want this queue.
func (s *Service) checkRedrive(q *queue) error {
	policy := q.settings.redrive
	if policy == nil {
		return nil
	}
	var reason string
	target := s.target(policy.Target)
	switch {
	case policy.Target == q.arn:
		reason = "Dead letter target is the queue itself"
	case target == nil:
		reason = "Dead letter target does not exist"
	case !target.settings.allow.allows(q.arn):
		reason = "Dead letter target's redrive allow policy does not admit this queue"
	default:
		return nil
	}
	return badPolicy("RedrivePolicy", q.Attributes["RedrivePolicy"], reason)
}

// redrive moves a message that has been received often enough to its queue's
// dead-letter queue, and tells whether it did. It keeps its id, its receive
// count and the time at which it was sent, by which it will also expire there.
// When the dead-letter queue is gone the message stays where it is.
func (s *Service) redrive(q *queue, m *message, now int64) bool {
	policy := q.settings.redrive
	if policy == nil || m.receives < int(policy.MaxReceives) {
		return false
	}
	target := s.target(policy.Target)
	if target == nil || target == q {
		return false
	}
	q.remove(m)
	s.pending.drop(q, m)
	moved := &message{seq: s.nextSeq(target), content: m.content, state: m.state}
	moved.Source = q.arn
	moved.visibleAt = now
	target.insert(moved, delayed, now)
	s.pending.store(target, moved)
	s.settle(target, now)
	return true
}

type listDeadLetterSourceQueuesInput struct {
	QueueURL   string `json:"QueueUrl"`
	MaxResults *int
	NextToken  string
}

// The model spells this member with a small letter.
type listDeadLetterSourceQueuesOutput struct {
	QueueURLs []string `json:"queueUrls"`
	NextToken string   `json:",omitempty"`
}

func (s *Service) listDeadLetterSourceQueues(
	ctx context.Context, in *listDeadLetterSourceQueuesInput,
) (*listDeadLetterSourceQueuesOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	target, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(s.queues))
	names = slices.DeleteFunc(names, func(name string) bool {
		policy := s.queues[name].settings.redrive
		return policy == nil || policy.Target != target.arn
	})
	page, next, err := s.page(names, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &listDeadLetterSourceQueuesOutput{QueueURLs: s.urls(ctx, page), NextToken: next}, nil
}
