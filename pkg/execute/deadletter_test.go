package execute_test

import (
	"context"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// lostTwice has two workers take the execution and die.
func lostTwice(b *bench) {
	b.takenBy("w2")
	time.Sleep(lease + margin)
	seen, now := b.stored(), time.Now()
	if _, err := b.store.Claim(b.Context(), job.ClaimRequest{Ref: nightly, Key: seen.Key, Epoch: 1, Owner: "w3", Nonce: "w3", Now: now,
		Until: now.Add(lease), Seen: seen}); err != nil {
		b.Fatal(err)
	}
}

func TestRedrive(t *testing.T) {
	passed := func(b *bench) { time.Sleep(lease + margin) }
	for sentence, row := range map[string]struct {
		given    []func(b *bench)
		message  func(m *lifecycle.Message)
		status   job.Status
		reason   job.Reason
		wakes    bool
		redrives int
	}{
		"what nobody claimed gets a wake-up": {status: job.Scheduled, reason: lifecycle.Materialised, wakes: true, redrives: 1},
		"what runs gets a wake-up": {given: []func(*bench){func(b *bench) { b.takenBy("w2") }}, status: job.Running, reason: lifecycle.Claimed,
			wakes: true, redrives: 1},
		"a lost attempt gets a wake-up": {given: []func(*bench){func(b *bench) { b.takenBy("w2") }, passed}, status: job.Running,
			reason: lifecycle.Claimed, wakes: true, redrives: 1},
		"what was lost too often is dead":      {given: []func(*bench){lostTwice, passed}, status: job.Dead, reason: lifecycle.Poison},
		"while its last lease lives it is not": {given: []func(*bench){lostTwice}, status: job.Running, reason: lifecycle.TakenOver, wakes: true, redrives: 1},
		"a canceled lost attempt ends": {given: []func(*bench){func(b *bench) { b.takenBy("w2"); b.cancel() }, passed}, status: job.Canceled,
			reason: lifecycle.CancelRequested},
		"older than the head is not over": {given: []func(*bench){(*bench).pause}, status: job.Scheduled, reason: lifecycle.Materialised, wakes: true, redrives: 1},
		"what has ended is dropped": {given: []func(*bench){func(b *bench) {
			if err := b.store.Close(b.Context(), b.stored(), lifecycle.CanceledBy(time.Now(), "ada")); err != nil {
				b.Fatal(err)
			}
		}}, status: job.Canceled, reason: lifecycle.CancelRequested},
		"the message of an older life is dropped": {given: []func(*bench){func(b *bench) { b.pause(); b.put(b.begun, 2) }}, status: job.Scheduled,
			reason: lifecycle.Materialised},
		"a message without an execution is dropped": {message: func(m *lifecycle.Message) { m.Key = job.ScheduledKey(m.Key.ScheduledAt.Add(time.Hour)) },
			status: job.Scheduled, reason: lifecycle.Materialised},
	} {
		t.Run(sentence, func(t *testing.T) {
			inBubble(t, func(d *job.Definition) { d.Retry.MaxLost = 2 }, func(b *bench) {
				for _, do := range row.given {
					do(b)
				}
				m := b.again()
				if row.message != nil {
					row.message(&m)
				}
				if got := b.Redrive(b.Context(), m); !got.Delete || got.Err != nil {
					t.Errorf("disposal %+v", got)
				}
				e := b.wantStatus(row.status, row.reason)
				if !e.Wake.At.IsZero() != row.wakes || e.Redrives != row.redrives || row.wakes && !e.Wake.At.After(time.Now()) {
					t.Errorf("wake-up %v, %d redrives; want a wake-up: %v, %d", e.Wake.At, e.Redrives, row.wakes, row.redrives)
				}
			})
		})
	}
}

func TestWhatIsRedrivenInVainTooOftenIsDead(t *testing.T) {
	inBubble(t, nil, func(b *bench) {
		for range lifecycle.MaxRedrives {
			if got := b.Redrive(b.Context(), b.again()); !got.Delete {
				t.Fatalf("disposal %+v", got)
			}
			b.wantStatus(job.Scheduled, lifecycle.Materialised)
		}
		if got := b.Redrive(b.Context(), b.again()); !got.Delete {
			t.Errorf("disposal %+v", got)
		}
		if e := b.wantStatus(job.Dead, lifecycle.RedrivesUsedUp); !e.Wake.At.IsZero() {
			t.Errorf("a dead execution has the wake-up %v", e.Wake.At)
		}
	})
}

func TestADeadLetterIsDroppedOnlyOnceItsWakeUpIsWritten(t *testing.T) {
	for name, row := range map[string]struct {
		breaks func(b *bench)
		delete bool
	}{
		"the store does not read":  {func(b *bench) { b.read = func() (*job.Execution, error) { return nil, down } }, false},
		"the store does not write": {func(b *bench) { b.rewake = func(*job.Execution, time.Time) error { return throttled } }, false},
		"somebody always writes another": {func(b *bench) {
			b.rewake = func(*job.Execution, time.Time) error {
				return b.store.Rewake(b.Context(), b.stored(), b.begun.Add(time.Hour), false)
			}
		}, false},
		"somebody writes another once": {func(b *bench) {
			b.rewake = func(*job.Execution, time.Time) error {
				b.rewake = nil
				return b.store.Rewake(b.Context(), b.stored(), b.begun.Add(time.Hour), false)
			}
		}, true},
		"a worker claims and ends it meanwhile": {func(b *bench) {
			b.runs(forAWhile(0))
			b.rewake = func(*job.Execution, time.Time) error {
				b.rewake = nil
				b.Process(context.WithoutCancel(b.Context()), b.delivery(b.message()))
				return nil
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, nil, func(b *bench) {
				row.breaks(b)
				got := b.Redrive(b.Context(), b.again())
				b.kept(got)
				if got.Delete != row.delete || !got.Delete && got.Hide != 15*time.Second {
					t.Errorf("disposal %+v", got)
				}
			})
		})
	}
}
