package platform_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/belfry-scheduler/belfry/pkg/localaws/platform"
)

type scheduleRow struct {
	start      time.Duration
	deliveries func(time.Time) []time.Duration
	retries    int
	fail       bool
	want       []string
}

// A bubble's clock begins at midnight; row starts are after that.
var scheduleRows = map[string]scheduleRow{
	"at each full minute": {
		want: []string{"00:00:00", "00:01:00", "00:02:00", "00:03:00"},
	},
	"not for a minute that has begun": {
		start: 10 * time.Second,
		want:  []string{"00:01:00", "00:02:00", "00:03:00"},
	},
	"at any second of the minute": {
		deliveries: func(m time.Time) []time.Duration {
			return []time.Duration{time.Duration(m.Minute()%2) * 59 * time.Second}
		},
		want: []string{"00:00:00", "00:01:59", "00:02:00"},
	},
	"the rest of a minute that has begun": {
		start:      10 * time.Second,
		deliveries: func(time.Time) []time.Duration { return []time.Duration{5 * time.Second, 30 * time.Second} },
		want:       []string{"00:00:30", "00:01:05", "00:01:30", "00:02:05", "00:02:30", "00:03:05"},
	},
	"twice, once or not at all": {
		deliveries: func(m time.Time) []time.Duration { return make([]time.Duration, 2-m.Minute()%3) },
		want:       []string{"00:00:00", "00:00:00", "00:01:00", "00:03:00", "00:03:00"},
	},
	"once for a failed tick without retries": {
		deliveries: onlyFirst, fail: true,
		want: []string{"00:00:00"},
	},
	"again one and two minutes after a failure": {
		deliveries: onlyFirst, fail: true, retries: 2,
		want: []string{"00:00:00", "00:01:00", "00:03:00"},
	},
}

func TestScheduleDelivers(t *testing.T) {
	for name, row := range scheduleRows {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(row.start)
				var mu sync.Mutex
				var got []string
				schedule := platform.Schedule{
					Deliveries: row.deliveries, Retries: row.retries,
					Function: func(context.Context, events.EventBridgeEvent) error {
						mu.Lock()
						defer mu.Unlock()
						got = append(got, time.Now().UTC().Format(time.TimeOnly))
						if row.fail {
							return errors.New("no")
						}
						return nil
					},
				}
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute+5*time.Second)
				defer cancel()
				schedule.Run(ctx)
				if !slices.Equal(got, row.want) {
					t.Errorf("invoked at %v, want %v", got, row.want)
				}
			})
		})
	}
}

func onlyFirst(minute time.Time) []time.Duration {
	if minute.Minute() == 0 {
		return []time.Duration{0}
	}
	return nil
}

func TestScheduledEventIsWhatEventBridgeSchedulerPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		schedule := platform.Schedule{
			Runtime: platform.Runtime{Name: "tick", Timeout: 10 * time.Second},
			Function: func(ctx context.Context, event events.EventBridgeEvent) error {
				golden(t, "schedule.json", event)
				deadline, _ := ctx.Deadline()
				if left := time.Until(deadline); left != 10*time.Second {
					t.Errorf("%v are left, want the timeout", left)
				}
				if lambda, ok := lambdacontext.FromContext(ctx); !ok || lambda.AwsRequestID == "" ||
					lambda.InvokedFunctionArn != "arn:aws:lambda:us-east-1:000000000000:function:tick" {
					t.Errorf("the Lambda context is %+v", lambda)
				}
				return nil
			},
		}
		schedule.Run(ctx)
	})
}

func TestScheduleWaitsForTheTickInHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin, done := time.Now(), false
		schedule := platform.Schedule{
			Runtime: platform.Runtime{Timeout: time.Minute},
			Function: func(ctx context.Context, _ events.EventBridgeEvent) error {
				time.Sleep(5 * time.Second)
				done = ctx.Err() == nil
				return nil
			},
		}
		schedule.Run(ctx)
		if !done || time.Since(begin) != 5*time.Second {
			t.Errorf("returned after %v, tick done: %v", time.Since(begin), done)
		}
	})
}
