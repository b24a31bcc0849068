package sqs

import (
	"context"
	"encoding/base64"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/wire"
)

var queueName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// nothing is the answer of operations that answer nothing.
type nothing struct{}

func (s *Service) arn(name string) string {
	return "arn:aws:sqs:" + s.options.Region + ":" + s.options.Account + ":" + name
}

func (s *Service) url(ctx context.Context, name string) string {
	return wire.BaseURL(ctx) + "/" + s.options.Account + "/" + name
}

// find returns the queue that a URL names. The host is not looked at: the same
// queue is reached in memory and over any address the backend listens on.
func (s *Service) find(queueURL string) (*queue, error) {
	if s.closed {
		return nil, closedFault()
	}
	if queueURL == "" {
		return nil, missing("QueueUrl")
	}
	parsed, err := url.Parse(queueURL)
	if err != nil {
		return nil, badAddress(queueURL)
	}
	account, name, ok := strings.Cut(strings.TrimPrefix(parsed.Path, "/"), "/")
	if !ok || strings.Contains(name, "/") {
		return nil, badAddress(queueURL)
	}
	q := s.queues[name]
	if q == nil || account != s.options.Account {
		return nil, noSuchQueue()
	}
	return q, nil
}

func badAddress(queueURL string) error {
	return sender("InvalidAddress", "InvalidAddress", "The address "+queueURL+" is not valid for this endpoint.")
}

type createQueueInput struct {
	QueueName  string
	Attributes map[string]string
	Tags       map[string]string `json:"tags"`
}

type queueURLOutput struct {
	QueueURL string `json:"QueueUrl"`
}

func (s *Service) createQueue(ctx context.Context, in *createQueueInput) (*queueURLOutput, error) {
	if err := checkName(in.QueueName); err != nil {
		return nil, err
	}
	attributes, err := normaliseAll(in.Attributes)
	if err != nil {
		return nil, err
	}
	if err := s.makeQueue(in.QueueName, attributes, in.Tags); err != nil {
		return nil, err
	}
	return &queueURLOutput{QueueURL: s.url(ctx, in.QueueName)}, s.commit()
}

func checkName(name string) error {
	if name == "" {
		return missing("QueueName")
	}
	if strings.HasSuffix(name, ".fifo") {
		return unsupported("the local backend has standard queues only: " + name + " names a FIFO queue")
	}
	if !queueName.MatchString(name) {
		return badParameter("Queue name " + name + " can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length.")
	}
	return nil
}

func (s *Service) makeQueue(name string, attributes, tags map[string]string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return closedFault()
	}
	if q := s.queues[name]; q != nil {
		return q.sameAs(attributes)
	}
	now := clock()
	if at, ok := s.deleted[name]; ok && now-at.UnixNano() < int64(time.Minute) {
		return sender("QueueDeletedRecently", legacy+"QueueDeletedRecently",
			"You must wait 60 seconds after deleting a queue before you can create another with the same name.")
	}
	q := newQueue(s.lastID+1, name, s.arn(name))
	q.record = record{Attributes: attributes, Tags: maps.Clone(tags), Created: now / int64(time.Second), Modified: now / int64(time.Second)}
	if err := q.readSettings(); err != nil {
		return err
	}
	if err := s.checkRedrive(q); err != nil {
		return err
	}
	s.lastID++
	delete(s.deleted, name)
	s.queues[name] = q
	s.pending.keep(q)
	return nil
}

// sameAs refuses to create a queue again with a differing attribute. What the
// caller does not name is not compared, as in SQS.
func (q *queue) sameAs(attributes map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		if q.value(name) != attributes[name] {
			return sender("QueueNameExists", "QueueAlreadyExists",
				"A queue already exists with the same name and a different value for attribute "+name)
		}
	}
	return nil
}

type getQueueURLInput struct {
	QueueName              string
	QueueOwnerAWSAccountID string `json:"QueueOwnerAWSAccountId"`
}

func (s *Service) getQueueURL(ctx context.Context, in *getQueueURLInput) (*queueURLOutput, error) {
	if in.QueueName == "" {
		return nil, missing("QueueName")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, closedFault()
	}
	stranger := in.QueueOwnerAWSAccountID != "" && in.QueueOwnerAWSAccountID != s.options.Account
	if s.queues[in.QueueName] == nil || stranger {
		return nil, noSuchQueue()
	}
	return &queueURLOutput{QueueURL: s.url(ctx, in.QueueName)}, nil
}

type queueInput struct {
	QueueURL string `json:"QueueUrl"`
}

func (s *Service) deleteQueue(_ context.Context, in *queueInput) (*nothing, error) {
	s.mu.Lock()
	q, err := s.find(in.QueueURL)
	if err == nil {
		for _, m := range q.messages {
			s.pending.drop(q, m)
		}
		s.pending.forget(q)
		delete(s.queues, q.name)
		s.deleted[q.name] = time.Unix(0, clock())
		q.dismissWaiters()
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return &nothing{}, s.commit()
}

func (s *Service) purgeQueue(_ context.Context, in *queueInput) (*nothing, error) {
	s.mu.Lock()
	q, err := s.find(in.QueueURL)
	if err == nil {
		err = s.purge(q, clock())
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return &nothing{}, s.commit()
}

func (s *Service) purge(q *queue, now int64) error {
	if q.Purged != 0 && now-q.Purged < int64(time.Minute) {
		return sender("PurgeQueueInProgress", legacy+"PurgeQueueInProgress",
			"Only one PurgeQueue operation on "+q.name+" is allowed every 60 seconds.")
	}
	for _, m := range q.messages {
		q.remove(m)
		s.pending.drop(q, m)
	}
	q.Purged = now
	s.pending.keep(q)
	s.settle(q, now)
	return nil
}

type listQueuesInput struct {
	QueueNamePrefix string
	MaxResults      *int
	NextToken       string
}

type listQueuesOutput struct {
	QueueURLs []string `json:"QueueUrls,omitempty"`
	NextToken string   `json:",omitempty"`
}

func (s *Service) listQueues(ctx context.Context, in *listQueuesInput) (*listQueuesOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := slices.Sorted(maps.Keys(s.queues))
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, in.QueueNamePrefix) })
	page, next, err := s.page(names, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, err
	}
	return &listQueuesOutput{QueueURLs: s.urls(ctx, page), NextToken: next}, nil
}

func (s *Service) urls(ctx context.Context, names []string) []string {
	urls := make([]string, len(names))
	for i, name := range names {
		urls[i] = s.url(ctx, name)
	}
	return urls
}

// page cuts sorted names. The token is the last name of the page before; a
// caller that asks for no page size gets the first thousand and no token.
func (s *Service) page(names []string, limit *int, token string) (page []string, next string, err error) {
	if s.closed {
		return nil, "", closedFault()
	}
	size := 1000
	if limit != nil {
		size = *limit
		if size < 1 || size > 1000 {
			return nil, "", outOfRange("MaxResults", size, 1, 1000)
		}
	}
	if token != "" {
		after, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			return nil, "", badParameter("NextToken " + token + " is not one that this service gave out.")
		}
		start, found := slices.BinarySearch(names, string(after))
		if found {
			start++
		}
		names = names[start:]
	}
	if len(names) <= size {
		return names, "", nil
	}
	if limit != nil {
		next = base64.RawURLEncoding.EncodeToString([]byte(names[size-1]))
	}
	return names[:size], next, nil
}
