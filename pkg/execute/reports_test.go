package execute_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// Field reports about leases, each by its id; docs/field-reports.md lists them with what
// else shows them.

// TestPB054ATwinOfTheSameNameNeverKeepsOrSettlesWhatItsTwinHolds has three workers of one
// name take one message at one time: one runs it, and none of the others can keep or
// settle its attempt.
func TestPB054ATwinOfTheSameNameNeverKeepsOrSettlesWhatItsTwinHolds(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		runs := 0
		b.runs(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
			runs++
			return forAWhile(time.Minute/2)(ctx, a)
		})
		disposals := make(chan execute.Disposal, 3)
		for range 3 {
			go func() { disposals <- b.Process(b.Context(), b.delivery(b.message())) }()
		}
		for range 2 {
			if d := <-disposals; d.Delete || d.Hide <= 0 {
				t.Errorf("a twin that came too late gives %+v", d)
			}
		}
		twin := *b.stored()
		twin.Lease.Nonce = "of the twin's own claim"
		if _, err := b.store.Beat(b.Context(), &twin, time.Now().Add(time.Hour)); !errors.Is(err, job.ErrLost) {
			t.Errorf("a twin keeps the lease: %v", err)
		}
		if err := b.store.Settle(b.Context(), &twin, lifecycle.Settled(time.Now(), twin.Lease.Owner), time.Time{}); !errors.Is(err, job.ErrLost) {
			t.Errorf("a twin settles the attempt: %v", err)
		}
		if d := <-disposals; !d.Delete || runs != 1 {
			t.Errorf("it ran %d times, disposal %+v", runs, d)
		}
		b.wantStatus(job.Succeeded, lifecycle.Done)
	})
}

// TestPB075AClaimThatTookLongerThanItsLeaseBeginsNothing has the way to the claim stand
// still between the reading of the clock and the write, longer than the lease.
func TestPB075AClaimThatTookLongerThanItsLeaseBeginsNothing(t *testing.T) {
	for name, row := range map[string]struct{ before, after time.Duration }{"before the write": {lease + time.Second, 0}, "after it": {0, lease + time.Second}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				b.claim = func(c job.ClaimRequest) (*job.Execution, error) {
					time.Sleep(row.before)
					e, err := b.store.Claim(b.Context(), c)
					time.Sleep(row.after)
					return e, err
				}
				begun := 0
				b.runs(counts(&begun))
				got := b.Process(b.Context(), b.delivery(b.message()))
				if b.kept(got); begun != 0 {
					t.Fatalf("the handler ran under a lease that had passed")
				}
				b.claim = nil
				time.Sleep(2 * lease)
				m := b.again()
				m.Isolated = true
				if got := b.Process(b.Context(), b.delivery(m)); !got.Delete || begun != 1 {
					t.Errorf("the next worker ran it %d times, disposal %+v", begun, got)
				}
				if e := b.wantStatus(job.Succeeded, lifecycle.Done); e.FencingToken != 2 || e.Lost != 1 {
					t.Errorf("token %d, %d lost", e.FencingToken, e.Lost)
				}
			})
		})
	}
}

// TestPB085WhatRunsWithoutALeaseIsTakenOver takes the lease away behind Belfry's back.
func TestPB085WhatRunsWithoutALeaseIsTakenOver(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		b.takenBy("dead")
		item := b.stored()
		if item.Status != job.Running || item.Lease.Until.IsZero() {
			t.Fatalf("status and lease are not one write: %+v", item)
		}
		if _, err := dynamodb.NewFromConfig(b.backend.Config()).UpdateItem(b.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(b.store.Tables().Executions),
			Key:              map[string]ddbtypes.AttributeValue{"pk": &ddbtypes.AttributeValueMemberS{Value: nightly.String()}, "sk": &ddbtypes.AttributeValueMemberS{Value: item.Key.String()}},
			UpdateExpression: aws.String("REMOVE lease_until")}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(lease)
		begun := 0
		b.runs(counts(&begun))
		m := b.again()
		m.Isolated = true
		if got := b.Process(b.Context(), b.delivery(m)); !got.Delete || begun != 1 {
			t.Errorf("it ran %d times, disposal %+v", begun, got)
		}
		b.wantStatus(job.Succeeded, lifecycle.Done)
	})
}

// TestPB090AWorkerWhoseHeartbeatsFailStopsBeforeItsLeaseEnds has every heartbeat refused
// for two leases, with another worker at hand.
func TestPB090AWorkerWhoseHeartbeatsFailStopsBeforeItsLeaseEnds(t *testing.T) {
	inBubble(t, long, func(b *bench) {
		b.beat = func(ctx context.Context, held *job.Execution, until time.Time) (*job.Execution, error) {
			if b.since() < 2*lease {
				return nil, throttled
			}
			return b.store.Beat(ctx, held, until)
		}
		var stopped time.Duration
		b.runs(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
			if a.Execution.Attempt > 1 {
				return forAWhile(time.Minute)(ctx, a)
			}
			<-ctx.Done()
			if stopped = b.since(); !errors.Is(context.Cause(ctx), execute.ErrLeaseLost) {
				t.Errorf("it was stopped by %v", context.Cause(ctx))
			}
			return nil // what it says now is not heard
		})
		first := b.Process(b.Context(), b.delivery(b.message()))
		if b.kept(first); first.Delete || stopped > lease-margin || stopped < lease/2 {
			t.Errorf("stopped after %v of a lease of %v, disposal %+v", stopped, lease, first)
		}
		time.Sleep(first.Hide)
		m := b.again()
		m.Isolated = true
		if second := b.Process(b.Context(), b.delivery(m)); !second.Delete {
			t.Errorf("disposal %+v", second)
		}
		if e := b.wantStatus(job.Succeeded, lifecycle.Done); e.FencingToken != 2 || e.Lost != 1 || e.Timeline[len(e.Timeline)-1].Token != 2 {
			t.Errorf("it ended as %+v", e)
		}
	})
}

// TestPB091AHandlerThatIgnoresItsTimeoutIsSettledAndNoLongerKept has a handler that never
// returns: at its timeout and the grace its attempt has timed out, no heartbeat keeps it
// from then on, and the worker is told to end the process.
func TestPB091AHandlerThatIgnoresItsTimeoutIsSettledAndNoLongerKept(t *testing.T) {
	inBubble(t, func(d *job.Definition) { d.Timeout, d.Retry.MaxAttempts = job.Duration(time.Minute), 1 }, func(b *bench) {
		var last time.Duration
		b.beat = func(ctx context.Context, held *job.Execution, until time.Time) (*job.Execution, error) {
			last = b.since()
			return b.store.Beat(ctx, held, until)
		}
		told := 0
		b.Stuck = func(*job.Execution) { told++ }
		forever := make(chan struct{})
		b.runs(func(context.Context, *execute.Attempt) *lifecycle.Failure { <-forever; return nil })
		got := b.Process(b.Context(), b.delivery(b.message()))
		if took := b.since(); !got.Delete || took != time.Minute+5*time.Second || told != 1 {
			t.Errorf("after %v the disposal is %+v; the worker was told %d times", took, got, told)
		}
		if e := b.wantStatus(job.Dead, lifecycle.AttemptsUsedUp); e.ErrorCode != "HANDLER_STUCK" || !e.Lease.Until.IsZero() {
			t.Errorf("it ended as %+v", e)
		}
		time.Sleep(10 * time.Minute)
		if last > time.Minute+5*time.Second {
			t.Errorf("a heartbeat came %v after the start", last)
		}
		close(forever) // what it answers then changes nothing
		time.Sleep(time.Second)
		b.wantStatus(job.Dead, lifecycle.AttemptsUsedUp)
	})
}

// A cancel that is acknowledged while the last attempt runs wins over its failure: no
// dead letter comes of it.
func TestACancelWinsOverTheFailureOfTheLastAttempt(t *testing.T) {
	for name, retry := range map[string]job.Retry{"attempts used up": {MaxAttempts: 1}, "ran as long as it may": {MaxAttempts: 5, MaxRun: job.Duration(2 * time.Second)}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(d *job.Definition) { d.Retry = retry }, func(b *bench) {
				b.runs(func(context.Context, *execute.Attempt) *lifecycle.Failure {
					time.Sleep(3 * time.Second) // before the first heartbeat
					b.cancel()
					return http503
				})
				if got := b.Process(b.Context(), b.delivery(b.message())); !got.Delete || got.Err != nil {
					t.Errorf("disposal %+v", got)
				}
				b.wantStatus(job.Canceled, lifecycle.CancelRequested)
			})
		})
	}
}

// A worker thaws after its lease, and nobody has taken over: its save is refused, and
// its attempt ends even though a heartbeat that was on its way comes through after that.
func TestASaveThatIsRefusedForItsLeaseEndsTheAttempt(t *testing.T) {
	inBubble(t, long, func(b *bench) {
		b.keeps()
		b.beat = func(ctx context.Context, held *job.Execution, until time.Time) (*job.Execution, error) {
			time.Sleep(lease + margin)
			return b.store.Beat(context.WithoutCancel(ctx), held, until.Add(time.Hour))
		}
		b.runs(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
			time.Sleep(lease)
			if err := a.Progress.Save(ctx, []byte("mine")); !errors.Is(err, execute.ErrLeaseLost) || !errors.Is(context.Cause(ctx), execute.ErrLeaseLost) {
				t.Errorf("it answers %v, and its context says %v", err, context.Cause(ctx))
			}
			return nil
		})
		if got := b.Process(b.Context(), b.delivery(b.message())); got.Delete || !errors.Is(got.Err, execute.ErrLeaseLost) {
			t.Errorf("disposal %+v", got)
		}
	})
}
