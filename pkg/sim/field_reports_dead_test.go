package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws/platform"
	"github.com/belfry-scheduler/belfry/pkg/record"
	"github.com/belfry-scheduler/belfry/pkg/sim"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// Field reports about replays and cancels, each by its id; docs/field-reports.md
// lists them with what else shows them.

// listed passes the stream so far through the consumer that writes the lists.
func listed(t *testing.T, w *sim.World) {
	t.Helper()
	streams := dynamodbstreams.NewFromConfig(w.Backend.Config())
	out, err := streams.ListStreams(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range out.Streams {
		ctx, stop := context.WithCancel(t.Context())
		recorder := &record.Recorder{Lists: w.Control.Store}
		poller := platform.StreamPoller{Function: recorder.Handle, Client: streams, Stream: *s.StreamArn, BatchSize: 100, PartialFailures: true, OnError: func(err error) { t.Error(err) }}
		time.AfterFunc(5*time.Second, stop)
		if err := poller.Run(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// told is what a handler was told about what it is to do.
type told struct {
	Key         string
	At          time.Time
	From, Upto  time.Time
	Payload     string
	Definition  job.Definition
	Pool, Label string
}

// TestPB112AReplayFailsAsTheOriginalDid replays a dead letter, and its replay: each
// has the whole of the job's policies, begins its attempts and waits anew, is a dead
// letter on the list again, and names what it repeats.
func TestPB112AReplayFailsAsTheOriginalDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		tries := map[job.Key][]time.Time{}
		said := map[job.Key]told{}
		w := world(t, sim.Options{Work: func(_ context.Context, a *execute.Attempt) *lifecycle.Failure {
			mu.Lock()
			defer mu.Unlock()
			h := worker.NewAttempt(a, nil)
			from, upto := h.Interval()
			said[a.Execution.Key] = told{h.IdempotencyKey(), h.ScheduledAt(), from, upto, string(h.Payload()), a.Definition, a.Execution.Pool, h.Labels()["team"]}
			tries[a.Execution.Key] = append(tries[a.Execution.Key], time.Now())
			return &lifecycle.Failure{Class: lifecycle.Transient, Code: "HTTP_503", Text: "away"}
		}})
		w.Start(t.Context())
		ref := put(t, w, job.Definition{Job: "job", Schedule: job.Schedule{Cron: "0 1 * * *"}, Payload: json.RawMessage(`{"n":1}`), Labels: map[string]string{"team": "a"}, Timeout: job.Duration(7 * time.Second),
			Retry: job.Retry{MaxAttempts: 3, Base: job.Duration(10 * time.Second), MaxAge: job.Duration(time.Hour), MaxLost: 2}})
		time.Sleep(time.Hour + 10*time.Minute)
		chain := []job.Key{job.ScheduledKey(newYear.Add(time.Hour))}
		for range 2 {
			replay, err := w.Control.Control.Replay(t.Context(), control.ReplayRequest{Ref: ref, Key: chain[len(chain)-1], Actor: "ada"})
			if err != nil {
				t.Fatal(err)
			}
			chain = append(chain, replay.Key)
			time.Sleep(10 * time.Minute)
		}
		w.Stop()
		listed(t, w)
		for i, key := range chain {
			e, err := w.Control.Store.Execution(t.Context(), ref, key)
			if err != nil || e.Status != job.Dead || e.Reason != lifecycle.AttemptsUsedUp || e.Attempt != 3 {
				t.Errorf("link %d ended as %+v, %v", i, e, err)
			}
			if !reflect.DeepEqual(said[key], said[chain[0]]) || said[key].Label != "a" || said[key].From.IsZero() {
				t.Errorf("link %d was told\n%+v\nthe original\n%+v", i, said[key], said[chain[0]])
			}
			if n := tries[key]; len(n) != 3 || n[1].Sub(n[0]) > 15*time.Second {
				t.Errorf("link %d tried at %v, want waits that begin anew", i, n)
			}
			if wants := i < 2; wants != (len(e.ReplayedBy) == 1) {
				t.Errorf("link %d is replayed by %v", i, e.ReplayedBy)
			}
		}
		letters, _, err := w.Control.Control.Dead(t.Context(), ref.Tenant, control.DeadFilter{}, "", 10)
		if err != nil || len(letters) != 3 || !letters[0].Open || letters[1].Open || letters[2].Open {
			t.Errorf("the list is %+v, %v", letters, err)
		}
		if err := w.CheckChanges(t.Context()); err != nil {
			t.Error(err)
		}
		judgeRest(t, w)
	})
}

// race is one round of a cancel against an outcome: which comes first, and what the
// handler reports.
type race struct {
	first   string // "cancel", "outcome", or "neither"
	outcome string // "success", "failure", or "heartbeat": it goes on
}

// TestPB116ACancelAndAnOutcomeAtOneMomentHaveOneWinner plays 500 rounds. What
// succeeded before its worker saw the request stays SUCCEEDED; all else that a cancel
// was acknowledged for ends CANCELED after one attempt; a cancel after the success is
// refused with the status. Each ends once.
func TestPB116ACancelAndAnOutcomeAtOneMomentHaveOneWinner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		gates := map[job.Key]chan string{}
		gate := func(key job.Key) chan string {
			mu.Lock()
			defer mu.Unlock()
			if gates[key] == nil {
				gates[key] = make(chan string, 1)
			}
			return gates[key]
		}
		w := world(t, sim.Options{Work: func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
			select {
			case outcome := <-gate(a.Execution.Key):
				if outcome == "success" {
					return nil
				}
			case <-ctx.Done():
			}
			return &lifecycle.Failure{Class: lifecycle.Transient, Code: "HTTP_503"}
		}})
		w.Start(t.Context())
		ref := put(t, w, job.Definition{Job: "job", Schedule: job.Schedule{Cron: "0 0 1 1 *"}, Retry: job.Retry{MaxAttempts: 3, Base: job.Duration(time.Second)}})
		rounds := 500
		for n := range rounds {
			r := race{[]string{"cancel", "outcome", "neither"}[n%3], []string{"success", "failure", "heartbeat"}[n/3%3]}
			e, err := w.Control.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "test"})
			if err != nil {
				t.Fatal(err)
			}
			for e.Status != job.Running {
				time.Sleep(50 * time.Millisecond)
				e = stored(t, w, ref, e.Key)
			}
			canceled := playRace(t, w, r, e, gate(e.Key))
			time.Sleep(7 * time.Second) // a heartbeat, and more than a wait for a retry
			judgeRace(t, r, stored(t, w, ref, e.Key), canceled)
		}
		time.Sleep(5 * time.Minute)
		w.Stop()
		if runs := len(w.Runs()); runs != rounds {
			t.Errorf("%d attempts began in %d rounds", runs, rounds)
		}
		if err := w.CheckChanges(t.Context()); err != nil {
			t.Error(err)
		}
		judgeRest(t, w)
	})
}

func stored(t *testing.T, w *sim.World, ref job.Ref, key job.Key) *job.Execution {
	t.Helper()
	e, err := w.Control.Store.Execution(t.Context(), ref, key)
	if err != nil || e == nil {
		t.Fatal(e, err)
	}
	return e
}

func playRace(t *testing.T, w *sim.World, r race, e *job.Execution, gate chan<- string) error {
	cancel := func() error {
		_, err := w.Control.Control.Cancel(t.Context(), e.Ref, e.Key, "test")
		return err
	}
	report := func() {
		if r.outcome != "heartbeat" {
			gate <- r.outcome
		}
	}
	const apart = 5 * time.Millisecond
	switch r.first {
	case "cancel":
		if r.outcome == "heartbeat" {
			time.Sleep(time.Until(e.Lease.Until.Add(-10*time.Second - apart))) // the beat comes a third of the lease after the claim
		}
		err := cancel()
		time.Sleep(apart)
		report()
		return err
	case "outcome":
		report()
		time.Sleep(apart)
		return cancel()
	}
	report()
	return cancel()
}

func judgeRace(t *testing.T, r race, e *job.Execution, canceled error) {
	t.Helper()
	ends, again := 0, false
	for _, entry := range e.Timeline {
		if lifecycle.Terminal(entry.To) {
			ends++
		}
		again = again || entry.To == job.RetryWait
	}
	var refusal *job.Error
	switch {
	case ends != 1 || !lifecycle.Terminal(e.Status) || e.Attempt != 1:
		t.Errorf("%+v: %s ended %d times, after %d attempts: %+v", r, e.Status, ends, e.Attempt, e.Timeline)
	case again && r.first == "cancel":
		t.Errorf("%+v: it was to be tried again after the cancel", r)
	case canceled == nil && e.Status != job.Canceled && (e.Status != job.Succeeded || r.outcome != "success"):
		t.Errorf("%+v: an acknowledged cancel ended as %s", r, e.Status)
	case canceled != nil && (!errors.As(canceled, &refusal) || refusal.Code != job.CodeStateConflict || refusal.Value != string(e.Status)):
		t.Errorf("%+v: the cancel of what is %s gives %v", r, e.Status, canceled)
	case canceled != nil && (r.outcome != "success" || r.first == "cancel"):
		t.Errorf("%+v: the cancel is refused: %v", r, canceled)
	case r.first == "outcome" && r.outcome == "success" && canceled == nil:
		t.Errorf("%+v: a cancel after the success is acknowledged", r)
	}
}

// TestPB119ACancelDoesNotWaitForADeadWorker cancels what a dead worker runs: the
// attempt ends CANCELED as soon as its lease is over, whoever takes the message then
// runs nothing, and no lease is left.
func TestPB119ACancelDoesNotWaitForADeadWorker(t *testing.T) {
	d, at := soon()
	onStage(t, d, func(s *stage) {
		time.Sleep(2 * time.Minute)
		b := s.receive(work)
		until := time.Now().Add(15 * time.Second)
		_, err := s.planes().Store.Claim(s.Context(), job.ClaimRequest{Ref: s.ref, Key: job.ScheduledKey(at), Epoch: 1, Owner: "dead", Nonce: "n", Now: time.Now(), Until: until})
		s.must(err)
		e, err := s.planes().Control.Cancel(s.Context(), s.ref, job.ScheduledKey(at), "ada")
		s.must(err)
		if e.Status != job.Running || e.Cancel == nil || e.Cancel.By != "ada" {
			s.Fatalf("the cancel made it %+v", e)
		}
		other := s.worker("other", func(context.Context, *execute.Attempt) *lifecycle.Failure {
			s.Error("an attempt began after the cancel")
			return nil
		})
		if d := s.process(other, b); d.Delete || d.Hide <= 0 || d.Hide > 20*time.Second {
			s.Fatalf("while the lease lives the message is %+v", d)
		}
		s.status(at, job.Running)
		time.Sleep(time.Until(until) + 5*time.Second)
		if d := s.process(other, b); !d.Delete {
			s.Fatalf("after the lease the message is %+v", d)
		}
		now := s.execution(at)
		if now.Status != job.Canceled || now.Lost != 1 || now.Lease.Owner != "" || !now.Lease.Until.IsZero() || now.FinishedAt.Sub(until) > 5*time.Second {
			s.Errorf("it ended as %+v", now)
		}
		if _, err := s.planes().Control.Cancel(s.Context(), s.ref, now.Key, "bob"); job.CodeOf(err) != job.CodeStateConflict {
			s.Errorf("another cancel gives %v", err)
		}
	})
}

// unsent is a queue that takes nothing.
type unsent struct{}

func (unsent) Send(context.Context, *job.Execution) error { return errors.New("full") }

// A retry now begins within a second, whether the wait was on the queue or in the
// wake index, and within minutes where its message was not sent; what promised the
// attempt for later starts none.
func TestARetryNowBeginsAtOnceAndOnlyOnce(t *testing.T) {
	for _, lost := range []bool{false, true} {
		for _, wait := range []time.Duration{10 * time.Minute, 3 * time.Hour} {
			t.Run(fmt.Sprintf("a wait of %s, message lost: %v", wait, lost), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := world(t, sim.Options{Work: func(_ context.Context, a *execute.Attempt) *lifecycle.Failure {
						if a.Execution.Attempt == 1 {
							return &lifecycle.Failure{Class: lifecycle.Transient, Code: "AGAIN"}
						}
						return nil
					}})
					w.Start(t.Context())
					ref := put(t, w, job.Definition{Job: "job", Schedule: job.Schedule{At: newYear.Add(2 * time.Minute)}, Retry: job.Retry{MaxAttempts: 3, Base: job.Duration(wait), Max: job.Duration(wait)}})
					key := job.ScheduledKey(newYear.Add(2 * time.Minute))
					time.Sleep(4 * time.Minute)
					service := *w.Control.Control
					if lost {
						service.Sender = unsent{}
					}
					asked := time.Now()
					if _, err := service.RetryNow(t.Context(), ref, key, "ada"); (err != nil) != lost {
						t.Fatal(err)
					}
					time.Sleep(4 * wait)
					w.Stop()
					runs, within := w.Runs(), time.Second
					if lost {
						within = 3 * time.Minute
					}
					if len(runs) != 2 || runs[1].At.Sub(asked) > within || stored(t, w, ref, key).Status != job.Succeeded {
						t.Errorf("asked at %s it ran %+v", asked.Format(time.TimeOnly), runs)
					}
					if err := w.CheckChanges(t.Context()); err != nil {
						t.Error(err)
					}
					judgeRest(t, w)
				})
			})
		}
	}
}

// What is in doubt stays so for as long as nobody decides it; a verdict to try again
// begins an attempt at once, also long after max_age.
func TestADoubtWaitsForAPersonAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{Work: func(_ context.Context, a *execute.Attempt) *lifecycle.Failure {
			if a.Execution.Attempt == 1 {
				return &lifecycle.Failure{Class: lifecycle.UncertainClass, Code: "TIMEOUT"}
			}
			return nil
		}})
		w.Start(t.Context())
		at := newYear.Add(2 * time.Minute)
		ref := put(t, w, job.Definition{Job: "job", Schedule: job.Schedule{At: at}, Retry: job.Retry{MaxAttempts: 3, MaxAge: job.Duration(time.Hour)}})
		time.Sleep(26 * time.Hour)
		if e := stored(t, w, ref, job.ScheduledKey(at)); e.Status != job.NeedsReview || e.Attempt != 1 {
			t.Fatalf("after a day it is %+v", e)
		}
		asked := time.Now()
		if _, err := w.Control.Control.Review(t.Context(), control.ReviewRequest{Ref: ref, Key: job.ScheduledKey(at), As: job.TryAgain, Note: "no trace of it", Actor: "ada"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		w.Stop()
		runs := w.Runs()
		if e := stored(t, w, ref, job.ScheduledKey(at)); e.Status != job.Succeeded || len(runs) != 2 || runs[1].At.Sub(asked) > time.Second {
			t.Errorf("after the verdict it is %+v, it ran %+v", e, runs)
		}
		if err := w.CheckChanges(t.Context()); err != nil {
			t.Error(err)
		}
		judgeRest(t, w)
	})
}
