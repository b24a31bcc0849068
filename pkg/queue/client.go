package queue

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// batchSize is the most entries that SQS takes in one request.
const batchSize = 10

// Clock tells the time and waits on it.
type Clock interface {
	// Now is the current time.
	Now() time.Time
	// Wait returns nil at or after until, or the context's error before.
	Wait(ctx context.Context, until time.Time) error
}

// Client speaks to the queues of one installation. It is safe for concurrent
// use. SQS and Clock are required.
type Client struct {
	SQS   *sqs.Client
	Names Names
	Clock Clock
	// Sends bounds the requests that one call of Send has under way at once;
	// zero = 8.
	Sends int

	mu     sync.Mutex
	urls   map[string]string
	queues map[string]*Queue
}

// New makes a client.
func New(client *sqs.Client, names Names, clock Clock) *Client {
	return &Client{SQS: client, Names: names, Clock: clock}
}

// url resolves a queue's URL, once.
func (c *Client) url(ctx context.Context, name string) (string, error) {
	c.mu.Lock()
	known, found := c.urls[name]
	c.mu.Unlock()
	if found {
		return known, nil
	}
	out, err := c.SQS.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: &name})
	if err != nil {
		return "", refused("find", name, err)
	}
	c.remember(name, *out.QueueUrl)
	return *out.QueueUrl, nil
}

func (c *Client) remember(name, url string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.urls == nil {
		c.urls = make(map[string]string)
	}
	c.urls[name] = url
}

// Queue is the queue of that name; the same one at each call.
func (c *Client) Queue(name string) *Queue {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.queues == nil {
		c.queues = make(map[string]*Queue)
	}
	q, found := c.queues[name]
	if !found {
		q = newQueue(c, name)
		c.queues[name] = q
	}
	return q
}

// refused wraps what SQS said so that a person using the API learns that the
// call may succeed later, and the log keeps the cause.
func refused(doing, queue string, err error) error {
	seen := &job.Error{Code: job.CodeUnavailable, Message: "could not " + doing + " queue " + queue, Fix: "try again"}
	return fmt.Errorf("%w: %w", seen, err)
}
