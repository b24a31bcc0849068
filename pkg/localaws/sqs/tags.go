package sqs

import (
	"context"
	"maps"
)

const maxTags = 50

type tagQueueInput struct {
	QueueURL string `json:"QueueUrl"`
	Tags     map[string]string
}

func (s *Service) tagQueue(_ context.Context, in *tagQueueInput) (*nothing, error) {
	if len(in.Tags) == 0 {
		return nil, missing("Tags")
	}
	return s.changeTags(in.QueueURL, func(tags map[string]string) { maps.Copy(tags, in.Tags) })
}

type untagQueueInput struct {
	QueueURL string `json:"QueueUrl"`
	TagKeys  []string
}

func (s *Service) untagQueue(_ context.Context, in *untagQueueInput) (*nothing, error) {
	if len(in.TagKeys) == 0 {
		return nil, missing("TagKeys")
	}
	return s.changeTags(in.QueueURL, func(tags map[string]string) {
		for _, key := range in.TagKeys {
			delete(tags, key)
		}
	})
}

func (s *Service) changeTags(queueURL string, change func(map[string]string)) (*nothing, error) {
	s.mu.Lock()
	q, err := s.find(queueURL)
	if err == nil {
		tags := maps.Clone(q.Tags)
		if tags == nil {
			tags = make(map[string]string)
		}
		if change(tags); len(tags) > maxTags {
			err = badParameter("A queue can have at most 50 tags.")
		} else {
			q.Tags = tags
			s.pending.keep(q)
		}
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return &nothing{}, s.commit()
}

type listQueueTagsOutput struct {
	Tags map[string]string `json:",omitempty"`
}

func (s *Service) listQueueTags(_ context.Context, in *queueInput) (*listQueueTagsOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, err := s.find(in.QueueURL)
	if err != nil {
		return nil, err
	}
	return &listQueueTagsOutput{Tags: maps.Clone(q.Tags)}, nil
}
