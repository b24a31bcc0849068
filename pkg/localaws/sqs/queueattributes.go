package sqs

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"
)

// counted are the attributes that the queue itself keeps.
var counted = map[string]func(*queue) string{
	"ApproximateNumberOfMessages":           func(q *queue) string { return strconv.Itoa(q.counts[ready]) },
	"ApproximateNumberOfMessagesDelayed":    func(q *queue) string { return strconv.Itoa(q.counts[delayed]) },
	"ApproximateNumberOfMessagesNotVisible": func(q *queue) string { return strconv.Itoa(q.counts[inFlight]) },
	"CreatedTimestamp":                      func(q *queue) string { return strconv.FormatInt(q.Created, 10) },
	"LastModifiedTimestamp":                 func(q *queue) string { return strconv.FormatInt(q.Modified, 10) },
	"QueueArn":                              func(q *queue) string { return q.arn },
}

type getQueueAttributesInput struct {
	QueueURL       string `json:"QueueUrl"`
	AttributeNames []string
}

type queueAttributesOutput struct {
	Attributes map[string]string `json:",omitempty"`
}

func (s *Service) getQueueAttributes(_ context.Context, in *getQueueAttributesInput) (*queueAttributesOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	s.expire(q, clock())
	out := &queueAttributesOutput{Attributes: make(map[string]string)}
	for _, name := range in.AttributeNames {
		if name == "All" {
			q.show(out.Attributes, maps.Keys(counted))
			q.show(out.Attributes, maps.Keys(bounds))
			continue
		}
		_, isCounted := counted[name]
		_, isBounded := bounds[name]
		if !isCounted && !isBounded {
			return nil, unsettable(name)
		}
		q.show(out.Attributes, slices.Values([]string{name}))
	}
	return out, nil
}

// show adds the named attributes that have a value.
func (q *queue) show(into map[string]string, names func(func(string) bool)) {
	for name := range names {
		var value string
		if count, ok := counted[name]; ok {
			value = count(q)
		} else {
			value = q.value(name)
		}
		if value != "" {
			into[name] = value
		}
	}
}

type setQueueAttributesInput struct {
	QueueURL   string `json:"QueueUrl"`
	Attributes map[string]string
}

func (s *Service) setQueueAttributes(_ context.Context, in *setQueueAttributesInput) (*nothing, error) {
	if len(in.Attributes) == 0 {
		return nil, missing("Attributes")
	}
	attributes, err := normaliseAll(in.Attributes)
	if err != nil {
		return nil, err
	}
	if err := s.changeAttributes(in.QueueURL, attributes); err != nil {
		return nil, err
	}
	return &nothing{}, s.commit()
}

func normaliseAll(attributes map[string]string) (map[string]string, error) {
	checked := make(map[string]string, len(attributes))
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		value, err := normalise(name, attributes[name])
		if err != nil {
			return nil, err
		}
		checked[name] = value
	}
	return checked, nil
}

func (s *Service) changeAttributes(queueURL string, attributes map[string]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(queueURL)
	if err != nil {
		return err
	}
	before, settingsBefore := q.Attributes, q.settings
	q.Attributes = maps.Clone(before)
	maps.Copy(q.Attributes, attributes)
	err = q.readSettings()
	if err == nil {
		err = s.checkRedrive(q)
	}
	if err != nil {
		q.Attributes, q.settings = before, settingsBefore
		return err
	}
	now := clock()
	q.Modified = now / int64(time.Second)
	s.pending.keep(q)
	s.settle(q, now)
	return nil
}
