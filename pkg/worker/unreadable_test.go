package worker_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/queue"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

func TestMessagesThatCannotBeRead(t *testing.T) {
	rows := map[string]struct {
		body       string
		work, dead int // messages on the queue and its dead-letter queue fifteen hours later
	}{
		"one of a newer build is kept and never dead-lettered":   {`{"schema":2,"tenant":"default"}`, 1, 0},
		"one that nobody can read ends in the dead-letter queue": {`not ours`, 0, 1},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, func(o *worker.Options) { o.DeadLetters = true })
				worker.Handle(b.worker, "work", func(context.Context, *worker.Attempt) error { return nil })
				b.put("belfry-fast-io", row.body)
				b.start()
				time.Sleep(14 * time.Hour)
				b.quit()
				time.Sleep(time.Hour)
				workVisible, workHidden := b.messages("belfry-fast-io")
				deadVisible, deadHidden := b.messages("belfry-fast-io-dlq")
				if workVisible+workHidden != row.work || deadVisible+deadHidden != row.dead {
					t.Errorf("%d on the queue, %d dead-lettered; want %d, %d", workVisible+workHidden, deadVisible+deadHidden, row.work, row.dead)
				}
			})
		})
	}
}

// deadLetter puts the message of an execution onto the dead-letter queue.
func deadLetter(b *bench, ref job.Ref, at time.Time) {
	b.Helper()
	e := b.execution(ref, at)
	b.put("belfry-fast-io-dlq", queue.Seal(job.Parcel{Ref: ref, Key: e.Key, Epoch: e.Epoch, NotBefore: at}))
}

func TestDeadLetters(t *testing.T) {
	rows := map[string]struct {
		container bool
		ended     bool
	}{
		"a worker wakes what has not ended":   {container: true},
		"a worker drops what is over":         {container: true, ended: true},
		"a function wakes what has not ended": {},
		"a function drops what is over":       {ended: true},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := setup(t, func(o *worker.Options) { o.DeadLetters = row.container })
				worker.Handle(b.worker, "work", func(context.Context, *worker.Attempt) error { return nil })
				at := soon(200 * time.Second)
				ref := b.oneOff("lost", at, nil)
				if row.ended {
					if _, err := b.Control.Cancel(t.Context(), ref, job.ScheduledKey(at), "test"); err != nil {
						t.Fatal(err)
					}
				}
				deadLetter(b, ref, at)
				if row.container {
					b.start()
					time.Sleep(10 * time.Second)
					b.quit()
				} else if failed := invoke(b, b.worker.DeadLetter(), deliver(b, "belfry-fast-io-dlq", time.Minute), time.Minute); len(failed) != 0 {
					t.Errorf("%v stay, want none", failed)
				}
				e := b.execution(ref, at)
				if visible, hidden := b.messages("belfry-fast-io-dlq"); visible+hidden != 0 || e.Wake.At.IsZero() != row.ended {
					t.Errorf("%d dead letters left, wake-up at %v; want none, and a wake-up only of what has not ended", visible+hidden, e.Wake.At)
				}
			})
		})
	}
}

func TestDeadLetterThatCannotBeReadStaysForAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, nil)
		b.put("belfry-fast-io-dlq", "not ours")
		if failed := invoke(b, b.worker.DeadLetter(), deliver(b, "belfry-fast-io-dlq", time.Minute), time.Minute); len(failed) != 1 {
			t.Errorf("%v stay, want the message", failed)
		}
	})
}
