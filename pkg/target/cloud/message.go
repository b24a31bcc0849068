package cloud

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net/url"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	snstypes "github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// textAttribute is the type of message attributes that are texts.
var textAttribute = aws.String("String")

// send is the target sqs.
func (a *Account) send(ctx context.Context, attempt *worker.Attempt) error {
	target := attempt.Target().SQS
	if target == nil {
		return unusable("SQS")
	}
	return a.perform(ctx, attempt, call{"SQS", "SendMessage", func(ctx context.Context, c contract) ([]slog.Attr, error) {
		input := &sqs.SendMessageInput{QueueUrl: &target.QueueURL, MessageBody: aws.String(body(attempt)), MessageAttributes: map[string]sqstypes.MessageAttributeValue{}}
		for _, p := range c.attributes(target.Attributes) {
			input.MessageAttributes[p.name] = sqstypes.MessageAttributeValue{DataType: textAttribute, StringValue: &p.value}
		}
		input.MessageGroupId, input.MessageDeduplicationId = order(target.QueueURL, target.GroupID, c)
		out, err := a.sqs().SendMessage(ctx, input, func(o *sqs.Options) { in(regionOfQueue(target.QueueURL), &o.Region) })
		if err != nil {
			return nil, err
		}
		return []slog.Attr{slog.String("message_id", aws.ToString(out.MessageId))}, nil
	}})
}

// publish is the target sns.
func (a *Account) publish(ctx context.Context, attempt *worker.Attempt) error {
	target := attempt.Target().SNS
	if target == nil {
		return unusable("SNS")
	}
	return a.perform(ctx, attempt, call{"SNS", "Publish", func(ctx context.Context, c contract) ([]slog.Attr, error) {
		input := &sns.PublishInput{TopicArn: &target.TopicARN, Message: aws.String(body(attempt)), MessageAttributes: map[string]snstypes.MessageAttributeValue{}}
		for _, p := range c.attributes(target.Attributes) {
			input.MessageAttributes[p.name] = snstypes.MessageAttributeValue{DataType: textAttribute, StringValue: &p.value}
		}
		if target.Subject != "" {
			input.Subject = &target.Subject
		}
		input.MessageGroupId, input.MessageDeduplicationId = order(target.TopicARN, target.GroupID, c)
		out, err := a.sns().Publish(ctx, input, func(o *sns.Options) { in(regionOf(target.TopicARN), &o.Region) })
		if err != nil {
			return nil, err
		}
		return []slog.Attr{slog.String("message_id", aws.ToString(out.MessageId))}, nil
	}})
}

// order is the group of a message and, first in first out, the id by which a
// repeated attempt is recognised for five minutes: the execution's key. Without a
// group of its own a job's messages keep their order among themselves.
func order(name, group string, c contract) (in, once *string) {
	if !job.IsFIFO(name) {
		if group == "" {
			return nil, nil
		}
		return &group, nil
	}
	if group == "" {
		group = c.Tenant + "/" + c.Job
	}
	key := c.IdempotencyKey
	if len(key) > 128 {
		sum := sha256.Sum256([]byte(key))
		key = hex.EncodeToString(sum[:])
	}
	return &group, &key
}

// regionOfQueue is the region in the host of a queue's URL; empty = the worker's
// own.
func regionOfQueue(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	parts := strings.Split(u.Hostname(), ".")
	if len(parts) > 3 && parts[0] == "sqs" && parts[2] == "amazonaws" && regionForm.MatchString(parts[1]) {
		return parts[1]
	}
	return ""
}

// regionForm keeps what is no region out of the host that the SDK makes of it.
var regionForm = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]{1,2}$`)
