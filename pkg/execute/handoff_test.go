package execute_test

import (
	"context"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

func TestAnOldAttemptIsHandedOffToAWakeUp(t *testing.T) {
	inBubble(t, long, func(b *bench) {
		var promised []time.Duration
		b.rewake = func(seen *job.Execution, at time.Time) error {
			if len(b.released) > 0 {
				t.Error("the wake-up is written after the message was given up")
			}
			if !at.After(seen.Lease.Until.Add(margin)) {
				t.Errorf("it wakes at %v, while the lease of %v still binds", at, seen.Lease.Until)
			}
			promised = append(promised, b.since())
			return nil
		}
		b.runs(forAWhile(time.Hour))
		got := b.Process(b.Context(), b.delivery(b.message()))
		if len(promised) != 1 || len(b.released) != 1 || b.released[0] <= 15*time.Minute || b.released[0] > 20*time.Minute {
			t.Errorf("wake-ups after %v, given up after %v; want one of each soon after 15 min", promised, b.released)
		}
		for at := range b.extended {
			if at > b.released[0] {
				t.Errorf("a message that was given up is hidden at %v", at)
			}
		}
		if e := b.wantStatus(job.Succeeded, lifecycle.Done); !e.Wake.At.IsZero() || e.Wake.Version != 1 || !got.Delete {
			t.Errorf("disposal %+v, wake-up %+v; want it removed by the end", got, e.Wake)
		}
	})
}

func TestARetryAfterTheHandOffIsKeptByAWakeUpEvenWhenItIsShort(t *testing.T) {
	inBubble(t, long, func(b *bench) {
		b.runs(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
			forAWhile(30*time.Minute)(ctx, a)
			return http503
		})
		got := b.Process(b.Context(), b.delivery(b.message()))
		b.kept(got)
		if e := b.wantStatus(job.RetryWait, lifecycle.HandlerError); !got.Delete || !e.Wake.At.Equal(e.AvailableAt) || e.Wake.Version != 2 {
			t.Errorf("disposal %+v, available at %v, wake-up %+v", got, e.AvailableAt, e.Wake)
		}
	})
}

func TestAHandOffThatFailsKeepsTheMessage(t *testing.T) {
	for name, breaks := range map[string]func(b *bench, d *execute.Delivery){
		"the wake-up is not written": func(b *bench, _ *execute.Delivery) {
			b.rewake = func(*job.Execution, time.Time) error { return throttled }
		},
		"the queue does not delete": func(_ *bench, d *execute.Delivery) {
			d.Release = func(context.Context) error { return down }
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, long, func(b *bench) {
				d := b.delivery(b.message())
				breaks(b, &d)
				b.runs(forAWhile(30 * time.Minute))
				got := b.Process(b.Context(), d)
				var last time.Duration
				for at := range b.extended {
					last = max(last, at)
				}
				if last < 25*time.Minute || len(b.released) > 0 {
					t.Errorf("hidden last at %v, given up %v; want the message kept hidden to the end", last, b.released)
				}
				if b.wantStatus(job.Succeeded, lifecycle.Done); !got.Delete {
					t.Errorf("disposal %+v", got)
				}
			})
		})
	}
}

func TestAPlatformThatCannotGiveUpKeepsTheMessageHidden(t *testing.T) {
	inBubble(t, long, func(b *bench) {
		d := b.delivery(b.message())
		d.Release = nil
		b.runs(forAWhile(30 * time.Minute))
		if got := b.Process(b.Context(), d); !got.Delete {
			t.Errorf("disposal %+v", got)
		}
		if e := b.wantStatus(job.Succeeded, lifecycle.Done); e.Wake.Version != 0 {
			t.Errorf("wake-up %+v", e.Wake)
		}
	})
}
