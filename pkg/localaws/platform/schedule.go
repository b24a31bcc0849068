package platform

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

// Schedule invokes a function each minute, as EventBridge Scheduler does: at
// any second of the minute, and now and then twice or not at all.
type Schedule struct {
	Runtime
	Function func(context.Context, events.EventBridgeEvent) error

	// Deliveries says when within a minute (whose first instant it gets) the
	// function is invoked; more than one is a duplicate, none a lost tick. It
	// must be deterministic if runs are to be repeatable. Nil means once, at
	// the beginning of the minute.
	Deliveries func(minute time.Time) []time.Duration

	Retries int         // invocations more after a failed one, one and two minutes later; Lambda's own default is 2
	OnError func(error) // told of every failed invocation; nil = nobody
}

// Run invokes the function until ctx ends, then waits for the invocations in
// hand. Minutes that began before Run are left out, unless a delivery of the
// present one is still to come.
func (s *Schedule) Run(ctx context.Context) {
	runner := newRunner(ctx, s.Runtime)
	defer runner.wait()
	start := time.Now()
	for minute := start.Truncate(time.Minute); ; minute = minute.Add(time.Minute) {
		if !pause(ctx, time.Until(minute)) {
			return
		}
		// After the machine has slept, the minutes between are lost ticks.
		if late := time.Since(minute); late >= time.Minute {
			minute = minute.Add(late).Truncate(time.Minute)
		}
		for _, offset := range s.deliveries(minute) {
			if at := minute.Add(offset); !at.Before(start) {
				runner.inHand.Go(func() { s.deliver(ctx, runner, minute, at) })
			}
		}
	}
}

func (s *Schedule) deliveries(minute time.Time) []time.Duration {
	if s.Deliveries == nil {
		return []time.Duration{0}
	}
	return s.Deliveries(minute)
}

func (s *Schedule) deliver(ctx context.Context, runner *runner, minute, at time.Time) {
	if !pause(ctx, time.Until(at)) {
		return
	}
	event := scheduledEvent(s.Name, minute)
	for try := 0; ; try++ {
		_, err := invoke(ctx, runner, event, func(ctx context.Context, event events.EventBridgeEvent) (struct{}, error) {
			return struct{}{}, s.Function(ctx, event)
		})
		if err == nil {
			return
		}
		if s.OnError != nil {
			s.OnError(fmt.Errorf("tick of %s: %w", minute.Format(time.RFC3339), err))
		}
		if try >= s.Retries || !pause(ctx, time.Duration(try+1)*time.Minute) {
			return
		}
	}
}

// scheduledEvent is the event that EventBridge Scheduler sends when its target
// has no input of its own; its detail is a string.
func scheduledEvent(name string, minute time.Time) events.EventBridgeEvent {
	if name == "" {
		name = "function"
	}
	return events.EventBridgeEvent{
		Version:    "0",
		ID:         fmt.Sprintf("00000000-0000-4000-a000-%012x", minute.Unix()),
		DetailType: "Scheduled Event",
		Source:     "aws.scheduler",
		AccountID:  "000000000000",
		Time:       minute.UTC(),
		Region:     "us-east-1",
		Resources:  []string{"arn:aws:scheduler:us-east-1:000000000000:schedule/default/" + name},
		Detail:     json.RawMessage(`"{}"`),
	}
}
