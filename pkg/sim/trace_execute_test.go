package sim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// lostSender is a queue that takes nothing.
type lostSender struct{}

func (lostSender) Send(context.Context, *job.Execution) error { return errCrash }

// frozen is a worker whose heartbeats no longer get through: it stands still
// while its lease passes, and then goes on.
type frozen struct{ execute.Executions }

func (frozen) Beat(ctx context.Context, _ *job.Execution, _ time.Time) (*job.Execution, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAStaleWorkersSettleIsRefusedAndItLeavesTheMessageAlone(t *testing.T) {
	d, at := soon()
	onStage(t, d, func(s *stage) {
		time.Sleep(2 * time.Minute)
		first := s.receive(work)
		gate := make(chan struct{})
		stale := s.worker("stale", func(context.Context, *execute.Attempt) *lifecycle.Failure {
			<-gate
			return nil
		})
		stale.Executions = frozen{stale.Executions}
		disposal := make(chan execute.Disposal)
		go func() { disposal <- s.process(stale, first) }()

		second := s.receive(work) // its visibility ends after 20 s, its lease before
		if d := s.process(s.worker("second", nil), second); !d.Delete {
			s.Fatalf("the bearer of a lost attempt sent no successor: %+v", d)
		}
		s.drop(second)
		taken := make(chan struct{})
		successor := s.receive(isolation)
		running := s.worker("taker", func(context.Context, *execute.Attempt) *lifecycle.Failure {
			close(taken)
			time.Sleep(5 * time.Second)
			return &lifecycle.Failure{Class: lifecycle.PermanentClass, Code: "TAKER"}
		})
		done := make(chan execute.Disposal)
		go func() { done <- s.process(running, successor) }()
		<-taken
		held := s.execution(at)
		close(gate) // the stale worker wakes and says that it succeeded
		if d := <-disposal; d.Delete || !errors.Is(d.Err, job.ErrLost) && !errors.Is(d.Err, execute.ErrLeaseLost) {
			s.Fatalf("the stale worker's outcome was taken: %+v", d)
		}
		s.status(at, job.Running)
		stolen := *held
		stolen.Lease, stolen.FencingToken = job.Lease{Owner: "stale", Nonce: "old"}, held.FencingToken-1
		if err := s.planes().Store.Settle(s.Context(), &stolen, lifecycle.Settled(time.Now(), "stale"), time.Time{}); !errors.Is(err, job.ErrLost) {
			s.Fatalf("a settle under an old token gave %v", err)
		}
		if d := <-done; !d.Delete {
			s.Fatalf("the taker's message is kept: %+v", d)
		}
		if e := s.execution(at); e.Status != job.Failed || e.ErrorCode != "TAKER" || e.FencingToken != 2 || e.Lost != 1 {
			s.Fatalf("it ended as %+v", e)
		}
	})
}

// Owner, nonce and token are each in the settle's condition.
func TestASettleNeedsOwnerNonceAndToken(t *testing.T) {
	d, at := soon()
	onStage(t, d, func(s *stage) {
		time.Sleep(2 * time.Minute)
		gate := make(chan struct{})
		b := s.receive(work)
		done := make(chan execute.Disposal)
		go func() {
			done <- s.process(s.worker("owner", func(context.Context, *execute.Attempt) *lifecycle.Failure { <-gate; return nil }), b)
		}()
		time.Sleep(time.Second)
		held := s.execution(at)
		for name, change := range map[string]func(e *job.Execution){
			"another owner": func(e *job.Execution) { e.Lease.Owner = "other" },
			"another nonce": func(e *job.Execution) { e.Lease.Nonce = "other" },
			"another token": func(e *job.Execution) { e.FencingToken++ },
		} {
			wrong := *held
			change(&wrong)
			if err := s.planes().Store.Settle(s.Context(), &wrong, lifecycle.Settled(time.Now(), "x"), time.Time{}); !errors.Is(err, job.ErrLost) {
				s.Errorf("%s: settle gave %v", name, err)
			}
			if _, err := s.planes().Store.Beat(s.Context(), &wrong, time.Now().Add(time.Hour)); !errors.Is(err, job.ErrLost) {
				s.Errorf("%s: heartbeat gave %v", name, err)
			}
		}
		close(gate)
		<-done
		s.status(at, job.Succeeded)
	})
}

// F9a and a10: a wake-up is removed only in the version that was seen, also
// after an overwriting put.
func TestAWakeUpIsRemovedOnlyInTheVersionSeen(t *testing.T) {
	d, at := soon()
	onStage(t, d, func(s *stage) {
		store := s.planes().Store
		when := at.Add(time.Minute)
		s.must(store.Rewake(s.Context(), s.execution(at), when, false))
		seen := s.execution(at)
		s.must(store.Rewake(s.Context(), seen, when, false)) // the same time, a new promise
		s.must(store.ClearWake(s.Context(), seen))
		if e := s.execution(at); e.Wake.At.IsZero() || e.Wake.Version != 2 {
			s.Fatalf("a late removal took a newer wake-up: %+v", e.Wake)
		}
		if err := store.Rewake(s.Context(), seen, when.Add(time.Hour), false); !errors.Is(err, job.ErrLost) {
			s.Fatalf("a re-arm in an old version gave %v", err)
		}
		s.must(store.Close(s.Context(), s.execution(at), lifecycle.WithdrawnBy(time.Now(), "test", lifecycle.Superseded)))
		if e := s.execution(at); !e.Wake.At.IsZero() || e.Wake.Version != 2 {
			s.Fatalf("a withdraw left the wake-up %+v", e.Wake)
		}
		again := *s.execution(at)
		again.Epoch++
		_, err := store.Put(s.Context(), &again)
		s.must(err)
		if e := s.execution(at); e.Status != job.Scheduled || e.Wake.Version != 2 {
			s.Fatalf("an overwriting put left %+v", e)
		}
	})
}

// F10: a cancel request that meets a failing attempt ends the execution.
func TestNoAttemptBeginsAfterACancelRequest(t *testing.T) {
	d, at := soon()
	onStage(t, d, func(s *stage) {
		time.Sleep(2 * time.Minute)
		e := s.worker("w", func(context.Context, *execute.Attempt) *lifecycle.Failure {
			_, err := s.planes().Control.Cancel(s.Context(), s.ref, job.ScheduledKey(at), "test")
			s.must(err)
			return &lifecycle.Failure{Class: lifecycle.Transient, Code: "AGAIN"}
		})
		if d := s.process(e, s.receive(work)); !d.Delete {
			s.Fatalf("the message of a canceled execution is kept: %+v", d)
		}
		s.status(at, job.Canceled)
	})
}

// F10, a3, a7: what the dead-letter consumer does in each state.
func TestTheDeadLetterConsumerKeepsTheDutyInEveryState(t *testing.T) {
	d, at := soon()
	onStage(t, d, func(s *stage) {
		consumer := s.worker("dlq", nil)
		message := lifecycle.Message{Ref: s.ref, Key: job.ScheduledKey(at), Epoch: 1}
		redrive := func(m lifecycle.Message) *job.Execution {
			if d := consumer.Redrive(s.Context(), m); !d.Delete {
				s.Fatalf("kept: %+v", d)
			}
			return s.execution(at)
		}
		if e := redrive(message); e.Wake.At.IsZero() || e.Redrives != 1 {
			s.Fatalf("a waiting execution got %+v", e.Wake)
		}
		for range lifecycle.MaxRedrives - 1 {
			redrive(message)
		}
		if e := redrive(message); e.Status != job.Dead || e.Reason != lifecycle.RedrivesUsedUp {
			s.Fatalf("redriven without end: %+v", e)
		}
		before := *s.execution(at)
		if e := redrive(message); e.Wake.Version != before.Wake.Version {
			s.Fatal("an ended execution was woken")
		}
		if d := consumer.Redrive(s.Context(), lifecycle.Message{Ref: s.ref, Key: job.ScheduledKey(at.Add(time.Hour)), Epoch: 1}); !d.Delete {
			s.Fatal("the message of an absent execution is kept")
		}
	})
}

// F2: a worker has read the head and waits for the second; the job is edited
// and paused, and a slow scanner then makes the time again under the epoch
// between. The old message must not start it.
func TestAMessageStartsOnlyTheLifeThatSentIt(t *testing.T) {
	d, at := later()
	onStage(t, d, func(s *stage) {
		time.Sleep(6*time.Minute + 300*time.Millisecond) // a delay of whole seconds then ends 0.7 s early
		s.scan(s.scanner(hooks{}))
		time.Sleep(time.Until(at) - 800*time.Millisecond)
		e := s.worker("w", func(context.Context, *execute.Attempt) *lifecycle.Failure {
			t.Error("it ran although the job was paused")
			return nil
		})
		b := s.receive(work)
		disposal := make(chan execute.Disposal)
		go func() {
			disposal <- e.Process(s.Context(), execute.Delivery{Message: b.message, NotBefore: at})
		}()
		time.Sleep(100 * time.Millisecond) // it has read the head and waits
		slow := s.scanner(hooks{beforePut: func() error {
			_, err := s.planes().Control.Pause(s.Context(), s.ref, "test")
			return err
		}, beforeAdvance: func() error { return errCrash }})
		edited := d
		edited.Description = "edited"
		service := *s.planes().Control
		service.Materialiser = slow
		_, err := service.Put(s.Context(), putOf(s.ref, edited))
		if !errors.Is(err, errCrash) {
			t.Fatalf("the edit's scanner should have crashed: %v", err)
		}
		if e := s.execution(at); e.Epoch != 2 || e.Status != job.Scheduled {
			t.Fatalf("the slow scanner left %+v", e)
		}
		if d := <-disposal; !d.Delete {
			t.Fatalf("the message of an older life is kept: %+v", d)
		}
		if e := s.execution(at); e.Status != job.Scheduled || e.Attempt != 0 {
			t.Fatalf("the message of an older life claimed the newer one: %+v", e)
		}
	})
}
