package queue

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// What the queues are made with; the deployed stack says the same.
const (
	WorkRetention   = 14 * 24 * time.Hour
	SignalRetention = 120 * time.Second // a scan or tick message that is older is of no use
	MaxReceives     = 50                // a backstop, not a policy: Belfry's own retries decide
	// DefaultVisibility is only for receivers that do not say theirs.
	DefaultVisibility = 2 * time.Minute
)

// Ensure makes the queues of the pools, and the scan and tick queues, unless
// they are there already. It is for `belfry dev` and tests: an installation in
// an account has them from its stack.
func (c *Client) Ensure(ctx context.Context, pools []string) error {
	if err := c.Names.Check(pools); err != nil {
		return err
	}
	for _, pool := range pools {
		if err := c.ensurePool(ctx, pool); err != nil {
			return err
		}
	}
	signal := map[string]string{attribute(types.QueueAttributeNameMessageRetentionPeriod): seconds(SignalRetention),
		attribute(types.QueueAttributeNameVisibilityTimeout): seconds(DefaultVisibility)}
	for _, name := range []string{c.Names.Scan(), c.Names.Tick()} {
		if _, err := c.create(ctx, name, signal); err != nil {
			return err
		}
	}
	return nil
}

// ensurePool makes the dead-letter queue first: the others name it.
func (c *Client) ensurePool(ctx context.Context, pool string) error {
	keep := map[string]string{attribute(types.QueueAttributeNameMessageRetentionPeriod): seconds(WorkRetention),
		attribute(types.QueueAttributeNameVisibilityTimeout): seconds(DefaultVisibility)}
	url, err := c.create(ctx, c.Names.DeadLetter(pool), keep)
	if err != nil {
		return err
	}
	out, err := c.SQS.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: &url,
		AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn}})
	if err != nil {
		return refused("read the attributes of", c.Names.DeadLetter(pool), err)
	}
	policy, _ := json.Marshal(map[string]any{"deadLetterTargetArn": out.Attributes[attribute(types.QueueAttributeNameQueueArn)], "maxReceiveCount": MaxReceives})
	keep[attribute(types.QueueAttributeNameRedrivePolicy)] = string(policy)
	for _, name := range []string{c.Names.Work(pool), c.Names.Isolation(pool)} {
		if _, err := c.create(ctx, name, keep); err != nil {
			return err
		}
	}
	return nil
}

func (c *Client) create(ctx context.Context, name string, attributes map[string]string) (string, error) {
	out, err := c.SQS.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		return "", refused("make", name, err)
	}
	c.remember(name, *out.QueueUrl)
	return *out.QueueUrl, nil
}

func attribute(name types.QueueAttributeName) string { return string(name) }

func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
