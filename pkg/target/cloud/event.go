package cloud

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"

	"github.com/belfry-scheduler/belfry/pkg/target/internal/answer"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// entryMost is what EventBridge takes of an entry, in bytes.
const entryMost = 256 << 10

// put is the target eventbridge.
func (a *Account) put(ctx context.Context, attempt *worker.Attempt) error {
	target := attempt.Target().EventBridge
	if target == nil {
		return unusable("EVENTBRIDGE")
	}
	return a.perform(ctx, attempt, call{"EVENTBRIDGE", "PutEvents", func(ctx context.Context, c contract) ([]slog.Attr, error) {
		detail, err := c.within(attempt.Payload())
		if err != nil {
			return nil, judged{worker.WithCode("EVENTBRIDGE_UNUSABLE", worker.Permanent(fmt.Errorf("the payload is no object: %w", err)))}
		}
		at := attempt.ScheduledAt()
		entry := types.PutEventsRequestEntry{Source: &target.Source, DetailType: &target.DetailType, Detail: aws.String(string(detail)), Resources: target.Resources, Time: &at}
		if target.Bus != "" {
			entry.EventBusName = &target.Bus
		}
		if size := sizeOf(entry); size > entryMost {
			return nil, judged{worker.WithCode("EVENTBRIDGE_TOO_LARGE", worker.Permanent(fmt.Errorf("the event is %d bytes; EventBridge takes %d", size, entryMost)))}
		}
		out, err := a.events().PutEvents(ctx, &eventbridge.PutEventsInput{Entries: []types.PutEventsRequestEntry{entry}}, func(o *eventbridge.Options) { in(regionOf(target.Bus), &o.Region) })
		if err != nil {
			return nil, err
		}
		if out.FailedEntryCount > 0 || len(out.Entries) != 1 || out.Entries[0].ErrorCode != nil {
			return nil, judged{entryFailure(out.Entries)}
		}
		return []slog.Attr{slog.String("event_id", aws.ToString(out.Entries[0].EventId))}, nil
	}})
}

// sizeOf is an entry's size as EventBridge counts it.
func sizeOf(e types.PutEventsRequestEntry) int {
	size := 14 + len(*e.Source) + len(*e.DetailType) + len(*e.Detail) // 14 for the time
	for _, r := range e.Resources {
		size += len(r)
	}
	return size
}

// entryFailure is what it means that the call went well and its entry did not.
func entryFailure(entries []types.PutEventsResultEntry) error {
	if len(entries) == 0 || entries[0].ErrorCode == nil {
		return worker.WithCode("EVENTBRIDGE_FAILED_ENTRY", worker.Retry(errors.New("EventBridge took the call and not the event, and did not say why")))
	}
	code := *entries[0].ErrorCode
	err := fmt.Errorf("EventBridge took the call and not the event: %s: %s", answer.Printable([]byte(code)), answer.Printable([]byte(aws.ToString(entries[0].ErrorMessage))))
	switch {
	case isThrottle(code):
		err = worker.RetryAfter(err, 0)
	case ends(code, []string{"InternalFailure", "InternalException", "InternalServiceException", "ServiceUnavailable", "ConcurrentModificationException"}):
		err = worker.Retry(err)
	default:
		err = worker.Permanent(err)
	}
	return worker.WithCode(word("EVENTBRIDGE", code), err)
}
