package execute_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// counts is a handler that succeeds at once and counts its calls.
func counts(n *int) execute.Work {
	return func(context.Context, *execute.Attempt) *lifecycle.Failure { *n++; return nil }
}

// takenBy makes another worker claim the execution for a lease.
func (b *bench) takenBy(owner string) {
	b.Helper()
	now := time.Now()
	if _, err := b.store.Claim(b.Context(), job.ClaimRequest{Ref: nightly, Key: job.ScheduledKey(b.begun), Epoch: 1, Owner: owner, Nonce: owner,
		Now: now, Until: now.Add(lease)}); err != nil {
		b.Fatal(err)
	}
}

func TestAClaimWhoseAnswerWasLostIsRecognisedByItsNonce(t *testing.T) {
	for name, row := range map[string]struct {
		late time.Duration // between the claim and the answer
		runs int
	}{
		"the answer of the second try tells":              {0, 1},
		"but not after the lease has run out":             {lease, 0},
		"long after it, it counts as lost like any other": {time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				b.claim = func(c job.ClaimRequest) (*job.Execution, error) {
					if _, err := b.store.Claim(b.Context(), c); err != nil { // applied, its answer lost
						return nil, err
					}
					time.Sleep(row.late)
					return b.store.Claim(b.Context(), c) // sent again
				}
				begun := 0
				b.runs(counts(&begun))
				got := b.Process(b.Context(), b.delivery(b.message()))
				b.kept(got)
				if begun != row.runs || got.Err != nil || got.Delete != (row.runs == 1 || len(b.isolated) > 0) {
					t.Errorf("%d runs, disposal %+v", begun, got)
				}
				if e := b.stored(); e.Attempt != 1 || e.FencingToken != 1 {
					t.Errorf("%d attempts, token %d; want the one that was claimed", e.Attempt, e.FencingToken)
				}
			})
		})
	}
}

func TestAnEarlyMessageWaitsOutTheRestOfTheSecond(t *testing.T) {
	for _, ahead := range []time.Duration{0, 1, 40 * time.Millisecond, 999 * time.Millisecond, time.Second, 2 * time.Second, 2*time.Second + 1, 90 * time.Second} {
		for _, receives := range []int{1, 2} {
			t.Run(ahead.String(), func(t *testing.T) {
				inBubble(t, nil, func(b *bench) {
					due := b.begun.Add(4 * time.Minute)
					b.put(due, 1)
					time.Sleep(4*time.Minute - ahead)
					b.claim = func(c job.ClaimRequest) (*job.Execution, error) {
						if now := time.Now(); now.Before(due) || c.Now.Before(due) {
							t.Errorf("claimed at %v, due at %v", now, due)
						}
						return b.store.Claim(b.Context(), c)
					}
					begun := 0
					b.runs(counts(&begun))
					m := b.message()
					m.Key, m.Receives = job.ScheduledKey(due), receives
					got := b.Process(b.Context(), b.delivery(m))
					switch {
					case ahead <= 2*time.Second && (begun != 1 || !got.Delete || !time.Now().Equal(due)):
						t.Errorf("%d runs at %v, disposal %+v; want it run on the second", begun, time.Now(), got)
					case ahead > 2*time.Second && (begun != 0 || got.Delete || got.Hide != ahead):
						t.Errorf("%d runs, disposal %+v; want it hidden for %v", begun, got, ahead)
					}
				})
			})
		}
	}
}

func TestAMessageIsCarriedByWhatTheTableSays(t *testing.T) {
	for sentence, row := range map[string]struct {
		given  func(b *bench)
		change func(m *lifecycle.Message)
		status job.Status
		runs   int
		delete bool
		hide   time.Duration
	}{
		"due: it runs":                                  {status: job.Succeeded, runs: 1, delete: true},
		"received before: it runs, after a read":        {change: func(m *lifecycle.Message) { m.Receives = 2 }, status: job.Succeeded, runs: 1, delete: true},
		"paused meanwhile: it is withdrawn":             {given: (*bench).pause, status: job.Withdrawn, delete: true},
		"leased: it is hidden until a taker may come":   {given: func(b *bench) { b.takenBy("w2") }, status: job.Running, hide: lease + margin},
		"lost: a successor goes to the isolation queue": {given: func(b *bench) { b.takenBy("w2"); time.Sleep(lease + margin) }, status: job.Running, delete: true},
		"lost, in isolation: it is taken over": {given: func(b *bench) { b.takenBy("w2"); time.Sleep(lease + margin) },
			change: func(m *lifecycle.Message) { m.Isolated = true }, status: job.Succeeded, runs: 1, delete: true},
		"lost and canceled: it ends": {given: func(b *bench) { b.takenBy("w2"); b.cancel(); time.Sleep(lease + margin) }, status: job.Canceled, delete: true},
		"unknown: the message is dropped": {change: func(m *lifecycle.Message) { m.Key = job.ScheduledKey(m.Key.ScheduledAt.Add(time.Hour)); m.Receives = 2 },
			status: job.Scheduled, delete: true},
		"of an older life: the message is dropped": {given: func(b *bench) { b.pause(); b.put(b.begun, 2) }, status: job.Scheduled, delete: true},
	} {
		t.Run(sentence, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				if row.given != nil {
					row.given(b)
				}
				m := b.message()
				if row.change != nil {
					row.change(&m)
				}
				begun := 0
				b.runs(counts(&begun))
				d := b.delivery(m)
				d.NotBefore = time.Time{}
				got := b.Process(b.Context(), d)
				if begun != row.runs || got.Delete != row.delete || got.Hide != row.hide || got.Err != nil || b.stored().Status != row.status {
					t.Errorf("%d runs, disposal %+v, %s; want %d runs, deleted %v, hidden %v, %s", begun, got, b.stored().Status, row.runs, row.delete, row.hide, row.status)
				}
				if m.Epoch == b.stored().Epoch && m.Key == b.stored().Key {
					b.kept(got)
				}
			})
		})
	}
}

func TestAfterAnEditWhatWasDueBeforeItStillRuns(t *testing.T) {
	for name, row := range map[string]struct {
		carry  time.Duration
		status job.Status
	}{"due before the edit": {time.Second, job.Succeeded}, "due after it": {-time.Second, job.Withdrawn}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				head, err := b.store.Head(b.Context(), nightly)
				if err != nil {
					t.Fatal(err)
				}
				next := *head
				next.Revision, next.Epoch = 2, 2
				rev := &job.Revision{Ref: nightly, Number: 2, Epoch: 2, CarryUntil: b.begun.Add(row.carry), CreatedAt: b.begun, Anchor: b.begun}
				if err := b.store.ChangeHead(b.Context(), job.HeadChange{Old: head, New: next, Revision: rev, Verb: "edit", At: b.begun}); err != nil {
					t.Fatal(err)
				}
				b.runs(forAWhile(0))
				if got := b.Process(b.Context(), b.delivery(b.message())); !got.Delete || b.stored().Status != row.status {
					t.Errorf("disposal %+v, %s; want %s", got, b.stored().Status, row.status)
				}
			})
		})
	}
}

func TestWhatFailsOnTheWayLeavesMessageAndExecution(t *testing.T) {
	for name, row := range map[string]struct {
		breaks func(b *bench, d *execute.Delivery)
		hide   time.Duration
	}{
		"the store does not read": {func(b *bench, d *execute.Delivery) {
			d.Message.Receives, b.read = 2, func() (*job.Execution, error) { return nil, down }
		}, 15 * time.Second},
		"the store does not claim": {func(b *bench, _ *execute.Delivery) {
			b.claim = func(job.ClaimRequest) (*job.Execution, error) { return nil, throttled }
		}, 15 * time.Second},
		"no place is found to run in": {func(_ *bench, d *execute.Delivery) {
			d.Begin = func(context.Context, *job.Execution) error { return errors.New("all places are taken") }
		}, 15 * time.Second},
		"the isolation queue does not take it": {func(b *bench, d *execute.Delivery) {
			b.takenBy("w2")
			time.Sleep(time.Minute)
			b.Isolator = refusing{}
			d.Message.Receives = 2
		}, 15 * time.Second},
		"somebody is always faster": {func(b *bench, d *execute.Delivery) {
			b.pause()
			d.Message.Receives = 2
			b.closes = func(*job.Execution, lifecycle.Transition) error { return job.ErrLost }
		}, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				d := b.delivery(b.message())
				row.breaks(b, &d)
				before := b.stored()
				begun := 0
				b.runs(counts(&begun))
				got := b.Process(b.Context(), d)
				if after := b.stored(); got.Delete || begun != 0 || got.Hide != row.hide || after.Status != before.Status || after.FencingToken != before.FencingToken {
					t.Errorf("%d runs, disposal %+v, %s", begun, got, b.stored().Status)
				}
			})
		})
	}
}

type refusing struct{}

func (refusing) Isolate(context.Context, *job.Execution) error { return down }

func TestAMessageThatMeetsAStopIsVisibleAtOnce(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		ctx, stop := context.WithCancel(b.Context())
		d := b.delivery(b.message())
		d.Begin = func(ctx context.Context, _ *job.Execution) error { <-ctx.Done(); return ctx.Err() }
		time.AfterFunc(time.Second, stop)
		if got := b.Process(ctx, d); got.Delete || got.Hide != 0 || got.Err == nil {
			t.Errorf("disposal %+v", got)
		}
		b.wantStatus(job.Scheduled, lifecycle.Materialised)
	})
}

func TestManyReceiversOfOneMessageRunItOnce(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		var begun atomic.Int32
		b.runs(func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
			begun.Add(1)
			return forAWhile(40*time.Second)(ctx, a)
		})
		var all sync.WaitGroup
		var deleted atomic.Int32
		for i := range 12 {
			all.Go(func() {
				m := b.message()
				m.Receives = 1 + i%3
				if got := b.Process(b.Context(), b.delivery(m)); got.Delete {
					deleted.Add(1)
				} else if got.Err != nil || got.Hide <= 0 {
					t.Errorf("disposal %+v", got)
				}
			})
		}
		all.Wait()
		if e := b.wantStatus(job.Succeeded, lifecycle.Done); begun.Load() != 1 || deleted.Load() != 1 || e.Attempt != 1 {
			t.Errorf("%d runs, %d deleted, %d attempts; want one of each", begun.Load(), deleted.Load(), e.Attempt)
		}
	})
}
