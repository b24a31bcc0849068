package execute_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

func long(d *job.Definition) { d.Timeout = job.Duration(2 * time.Hour) }

func TestHeartbeatsComeAtAThirdOfALeaseThatGrowsWithAge(t *testing.T) {
	inBubble(t, long, func(b *bench) {
		type beat struct{ at, lease, left time.Duration }
		var beats []beat
		b.beat = func(ctx context.Context, held *job.Execution, until time.Time) (*job.Execution, error) {
			beats = append(beats, beat{b.since(), time.Until(until), time.Until(held.Lease.Until)})
			return b.store.Beat(ctx, held, until)
		}
		b.runs(forAWhile(time.Hour))
		if got := b.Process(b.Context(), b.delivery(b.message())); !got.Delete || got.Err != nil {
			t.Fatalf("disposal %+v", got)
		}
		b.wantStatus(job.Succeeded, lifecycle.Done)
		if len(beats) < 30 || len(beats) > 80 {
			t.Fatalf("%d heartbeats in an hour; they should thin out", len(beats))
		}
		if beats[0].at != 5*time.Second || beats[1].at != 10*time.Second {
			t.Errorf("the first come after %v and %v, want 5 s and 10 s", beats[0].at, beats[1].at)
		}
		for i, bt := range beats {
			want := min(max(lease, bt.at/3), 5*time.Minute)
			if bt.lease != want {
				t.Errorf("heartbeat %d at %v asks for a lease of %v, want %v", i, bt.at, bt.lease, want)
			}
			if bt.left < lease/2 {
				t.Errorf("heartbeat %d at %v comes with only %v left", i, bt.at, bt.left)
			}
			if visible := b.extended[bt.at]; visible != want+margin+time.Second && bt.at <= 15*time.Minute { // later it is given up
				t.Errorf("the message is hidden for %v, want the lease and what a taker waits: %v", visible, want+margin+time.Second)
			}
		}
		if last := beats[len(beats)-1]; last.lease != 5*time.Minute {
			t.Errorf("after %v the lease is %v, want 5 min", last.at, last.lease)
		}
	})
}

func TestACancelRequestIsSeenAtTheNextHeartbeat(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		time.AfterFunc(7*time.Second, b.cancel)
		var cause error
		b.runs(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
			<-a.Canceled
			<-ctx.Done()
			cause = context.Cause(ctx)
			return &lifecycle.Failure{Code: "ENDED"}
		})
		got := b.Process(b.Context(), b.delivery(b.message()))
		if !got.Delete || b.since() != 10*time.Second || !errors.Is(cause, execute.ErrCanceled) {
			t.Errorf("disposal %+v after %v, cause %v; want it ended by the heartbeat at 10 s", got, b.since(), cause)
		}
		if e := b.wantStatus(job.Canceled, lifecycle.CancelRequested); e.Attempt != 1 {
			t.Errorf("%d attempts", e.Attempt)
		}
	})
}

func TestAnAttemptThatSucceedsInSpiteOfACancelHasSucceeded(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		time.AfterFunc(time.Second, b.cancel)
		b.runs(forAWhile(4 * time.Second))
		if got := b.Process(b.Context(), b.delivery(b.message())); !got.Delete {
			t.Errorf("disposal %+v", got)
		}
		b.wantStatus(job.Succeeded, lifecycle.Done)
	})
}

func TestALeaseThatCannotBeExtendedStopsTheWorkBeforeItEnds(t *testing.T) {
	for name, answer := range map[string]func(context.Context) error{
		"the store answers with errors": func(context.Context) error { return down },
		"the store does not answer":     func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				b.beat = func(ctx context.Context, _ *job.Execution, _ time.Time) (*job.Execution, error) {
					return nil, answer(ctx)
				}
				settles := 0
				b.settle = func(context.Context, *job.Execution, lifecycle.Transition, time.Time) error { settles++; return nil }
				var cause error
				var told bool
				b.runs(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
					<-ctx.Done()
					cause = context.Cause(ctx)
					_, open := <-a.Canceled
					told = !open
					return nil // even a success must not be settled
				})
				got := b.Process(b.Context(), b.delivery(b.message()))
				if at := b.since(); at != lease-margin || !errors.Is(cause, execute.ErrLeaseLost) || !told {
					t.Errorf("stopped after %v with cause %v, told %v; want 2ε before the lease of %v ends", at, cause, told, lease)
				}
				if settles != 0 || got.Delete || got.Err == nil {
					t.Errorf("%d settles, disposal %+v; want nothing settled, nothing deleted", settles, got)
				}
				if e := b.stored(); e.Status != job.Running || e.FencingToken != 1 {
					t.Errorf("the execution is %s under token %d", e.Status, e.FencingToken)
				}
			})
		})
	}
}

func TestAWorkerThatWasOvertakenSettlesNothing(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		time.AfterFunc(2*time.Second, func() {
			seen := b.stored()
			late := seen.Lease.Until.Add(time.Minute) // a taker whose clock is far ahead
			if _, err := b.store.Claim(b.Context(), job.ClaimRequest{Ref: nightly, Key: seen.Key, Epoch: 1, Owner: "w2", Nonce: "other", Now: late,
				Until: late.Add(time.Hour), Seen: seen}); err != nil {
				t.Error(err)
			}
		})
		b.runs(forAWhile(time.Minute))
		got := b.Process(b.Context(), b.delivery(b.message()))
		if got.Delete || b.since() != 5*time.Second {
			t.Errorf("disposal %+v after %v; want the message kept, at the first heartbeat", got, b.since())
		}
		if e := b.stored(); e.Status != job.Running || e.Lease.Owner != "w2" || e.FencingToken != 2 || e.Lost != 1 {
			t.Errorf("the new owner's execution was changed: %+v", e)
		}
	})
}

func TestAQueueThatDoesNotAnswerHoldsNoHeartbeatUp(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		d := b.delivery(b.message())
		d.Extend = func(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return ctx.Err() }
		b.runs(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
			failure := forAWhile(50*time.Second)(ctx, a)
			if until := b.stored().Lease.Until; !until.After(time.Now()) {
				t.Errorf("the lease ended at %v, the work only now", until)
			}
			return failure
		})
		if got := b.Process(b.Context(), d); !got.Delete {
			t.Errorf("disposal %+v", got)
		}
		b.wantStatus(job.Succeeded, lifecycle.Done)
	})
}
