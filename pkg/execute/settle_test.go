package execute_test

import (
	"context"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

func fails(context.Context, *execute.Attempt) *lifecycle.Failure { return http503 }

func TestASettleIsRetriedWhileHeartbeatsGoOn(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		calls := 0
		b.settle = func(ctx context.Context, held *job.Execution, tr lifecycle.Transition, wakeAt time.Time) error {
			if calls++; b.since() < 40*time.Second {
				return throttled
			}
			return b.store.Settle(ctx, held, tr, wakeAt)
		}
		b.runs(forAWhile(0))
		got := b.Process(b.Context(), b.delivery(b.message()))
		if !got.Delete || calls < 10 || calls > 40 {
			t.Errorf("disposal %+v after %d calls", got, calls)
		}
		if e := b.wantStatus(job.Succeeded, lifecycle.Done); !e.FinishedAt.Equal(b.begun) {
			t.Errorf("finished at %v; it was decided when the handler returned", e.FinishedAt)
		}
	})
}

func TestASettleNeverGoesBeyondTheLease(t *testing.T) {
	for name, answer := range map[string]func(context.Context) error{
		"the store throttles":       func(context.Context) error { return throttled },
		"the store does not answer": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				b.beat = func(context.Context, *job.Execution, time.Time) (*job.Execution, error) { return nil, throttled }
				var last time.Duration
				b.settle = func(ctx context.Context, _ *job.Execution, _ lifecycle.Transition, _ time.Time) error {
					last = b.since()
					return answer(ctx)
				}
				b.runs(forAWhile(0))
				got := b.Process(b.Context(), b.delivery(b.message()))
				if last >= lease || b.since() > lease || got.Delete || got.Err == nil {
					t.Errorf("the last settle went out at %v, given up at %v; disposal %+v; the lease ended at %v", last, b.since(), got, lease)
				}
				b.wantStatus(job.Running, lifecycle.Claimed)
			})
		})
	}
}

func TestACancelBetweenHeartbeatAndSettleWins(t *testing.T) {
	for name, pause := range map[string]time.Duration{
		"right before the settle":                            0,
		"and a heartbeat brings it while the settle is sent": 6 * time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				asked := false
				b.settle = func(ctx context.Context, held *job.Execution, tr lifecycle.Transition, wakeAt time.Time) error {
					if !asked {
						asked = true
						b.cancel()
						time.Sleep(pause)
					}
					return b.store.Settle(ctx, held, tr, wakeAt)
				}
				b.runs(fails)
				if got := b.Process(b.Context(), b.delivery(b.message())); !got.Delete || got.Err != nil {
					t.Errorf("disposal %+v", got)
				}
				b.wantStatus(job.Canceled, lifecycle.CancelRequested)
			})
		})
	}
}

func TestALongRetryWaitIsKeptByAWakeUp(t *testing.T) {
	inBubble(t, func(d *job.Definition) {
		d.Retry.Base, d.Retry.Max = job.Duration(20*time.Minute), job.Duration(time.Hour)
	}, func(b *bench) {
		b.runs(fails)
		got := b.Process(b.Context(), b.delivery(b.message()))
		e := b.wantStatus(job.RetryWait, lifecycle.HandlerError)
		if !got.Delete || !e.Wake.At.Equal(e.AvailableAt) || !e.AvailableAt.Equal(b.begun.Add(20*time.Minute)) {
			t.Errorf("disposal %+v, available at %v, wake-up at %v; want the message deleted against a wake-up in 20 min", got, e.AvailableAt, e.Wake.At)
		}
	})
}

// A settle whose answer was lost is settled again. Were the wait drawn anew, a
// short one that is stored and a long one that is believed would leave the
// execution without message and without wake-up.
func TestASettleWhoseAnswerWasLostIsNotDecidedAnew(t *testing.T) {
	inBubble(t, func(d *job.Definition) {
		d.Retry.Base, d.Retry.Max = job.Duration(15*time.Minute), job.Duration(15*time.Minute)
	}, func(b *bench) {
		calls := 0
		b.settle = func(ctx context.Context, held *job.Execution, tr lifecycle.Transition, wakeAt time.Time) error {
			err := b.store.Settle(ctx, held, tr, wakeAt)
			if calls++; calls == 1 {
				b.mu.Lock()
				b.spread = 0.9 // a longer wait, were it drawn again
				b.mu.Unlock()
				return down
			}
			return err
		}
		b.spread = 0.1
		b.runs(fails)
		got := b.Process(b.Context(), b.delivery(b.message()))
		b.kept(got)
		if e := b.stored(); calls != 2 || got.Delete || got.Hide > e.AvailableAt.Sub(b.begun) {
			t.Errorf("%d calls, disposal %+v, available at %v", calls, got, e.AvailableAt)
		}
	})
}

func TestASettleWhoseAnswerWasLostIsRecognised(t *testing.T) {
	for name, work := range map[string]execute.Work{"a success": forAWhile(0), "a failure": fails} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				calls := 0
				b.settle = func(ctx context.Context, held *job.Execution, tr lifecycle.Transition, wakeAt time.Time) error {
					err := b.store.Settle(ctx, held, tr, wakeAt)
					if calls++; calls == 1 {
						return down
					}
					return err
				}
				b.runs(work)
				got := b.Process(b.Context(), b.delivery(b.message()))
				b.kept(got)
				if got.Err != nil || len(b.stored().Timeline) != 3 {
					t.Errorf("disposal %+v, timeline %v", got, b.stored().Timeline)
				}
			})
		})
	}
}
