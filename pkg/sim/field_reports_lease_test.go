package sim_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/queue"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// Field reports about leases and fencing, each by its id; docs/field-reports.md lists
// them with what else shows them.

// claimed has a played worker take the execution, as the next attempt.
func (s *stage) claimed(at time.Time, owner string) *job.Execution {
	s.Helper()
	seen := s.execution(at)
	e, err := s.planes().Store.Claim(s.Context(), job.ClaimRequest{Ref: s.ref, Key: job.ScheduledKey(at), Epoch: 1, Owner: owner, Nonce: owner, Now: time.Now(), Until: time.Now().Add(15 * time.Second), Seen: seen})
	s.must(err)
	return e
}

// TestPB071AReaperThatStoodStillEndsNothing has whoever is about to end a lost attempt
// stand still for 30 s after it has read, while another worker takes the execution over.
func TestPB071AReaperThatStoodStillEndsNothing(t *testing.T) {
	d, at := soon()
	onStage(t, d, func(s *stage) {
		time.Sleep(2 * time.Minute)
		s.claimed(at, "first")
		time.Sleep(17 * time.Second)
		read := s.execution(at)
		time.Sleep(30 * time.Second)
		s.claimed(at, "second")
		end := lifecycle.GivenUp(time.Now(), "", lifecycle.LeaseLost, lifecycle.Failure{Code: "LEASE_LOST"})
		if err := s.planes().Store.Close(s.Context(), read, end); !errors.Is(err, job.ErrLost) {
			s.Errorf("a close decided on attempt 1 gives %v", err)
		}
		if e := s.execution(at); e.Status != job.Running || e.Attempt != 2 || e.FencingToken != 2 || e.Lease.Owner != "second" {
			s.Errorf("it is %+v", e)
		}
	})
}

// TestPB080OfTwoAttemptsThatReportAtOnceTheOwnersCounts has attempt 1 report a failure and
// attempt 2 a success within 10 ms, in both orders.
func TestPB080OfTwoAttemptsThatReportAtOnceTheOwnersCounts(t *testing.T) {
	for _, first := range []int{1, 2} {
		t.Run(fmt.Sprint("attempt ", first, " reports first"), func(t *testing.T) {
			d, at := soon()
			onStage(t, d, func(s *stage) {
				time.Sleep(2 * time.Minute)
				old := s.claimed(at, "first")
				time.Sleep(17 * time.Second)
				now := s.claimed(at, "second")
				reports := map[int]func() error{
					1: func() error {
						return s.planes().Store.Settle(s.Context(), old, lifecycle.FailedForGood(time.Now(), "first", lifecycle.Failure{Code: "X"}), time.Time{})
					},
					2: func() error {
						return s.planes().Store.Settle(s.Context(), now, lifecycle.Settled(time.Now(), "second"), time.Time{})
					},
				}
				errs := map[int]error{first: reports[first]()}
				time.Sleep(10 * time.Millisecond)
				errs[3-first] = reports[3-first]()
				if !errors.Is(errs[1], job.ErrLost) || errs[2] != nil {
					s.Errorf("the reports give %v", errs)
				}
				e := s.execution(at)
				if e.Status != job.Succeeded || e.Lost != 1 || len(e.Timeline) < 4 || e.Timeline[1].Token != 1 || e.Timeline[2].Reason != lifecycle.TakenOver {
					s.Errorf("it ended as %+v", e)
				}
			})
		})
	}
}

// TestPB087ADeadLetterOfAnOldAttemptIsNoneOfTheNewOnes has the message of a lost attempt
// come to the dead-letter consumer twice, the second time when the next attempt runs.
func TestPB087ADeadLetterOfAnOldAttemptIsNoneOfTheNewOnes(t *testing.T) {
	d, at := soon()
	d.Retry = job.Retry{MaxLost: 2}
	onStage(t, d, func(s *stage) {
		time.Sleep(2 * time.Minute)
		b := s.receive(work)
		s.claimed(at, "first")
		time.Sleep(17 * time.Second)
		redriven := func() {
			if d := s.worker("deadletter", nil).Redrive(s.Context(), b.message); !d.Delete || d.Err != nil {
				s.Errorf("the dead letter is %+v", d)
			}
		}
		redriven()
		s.status(at, job.Running)
		time.Sleep(40 * time.Second)
		before := s.claimed(at, "second")
		redriven()
		if e := s.execution(at); e.Status != job.Running || e.Attempt != 2 || e.Lost != 1 || e.Lease != before.Lease || e.FencingToken != 2 {
			s.Errorf("attempt 2 is %+v", e)
		}
		s.must(s.planes().Store.Settle(s.Context(), before, lifecycle.Settled(time.Now(), "second"), time.Time{}))
	})
}

// TestPB093APoolsReaperEndsNothingOfAnother has pool B's worker die, and only A's workers
// and dead-letter consumer live; B's messages come to A's queues by mistake.
func TestPB093APoolsReaperEndsNothingOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		both := dispatch.Pools{{Name: "a", Lease: 30 * time.Second, Ceiling: time.Hour, Slots: 8, Batch: 10}, {Name: "b", Lease: 30 * time.Second, Ceiling: time.Hour, Slots: 8, Batch: 10}}
		w := world(t, sim.Options{Pools: both})
		at := time.Now().Add(2 * time.Minute)
		ref := put(t, w, job.Definition{Job: "job", Pool: "b", Schedule: job.Schedule{At: at}, Retry: job.Retry{MaxAttempts: 1, MaxLost: 3}})
		time.Sleep(time.Until(at) + time.Second)
		received, err := w.Control.Queues.Queue("belfry-b").Receive(t.Context(), 1, 20*time.Second, time.Hour)
		if err != nil || len(received) != 1 {
			t.Fatal(received, err)
		}
		if _, err := w.Control.Store.Claim(t.Context(), job.ClaimRequest{Ref: ref, Key: job.ScheduledKey(at), Epoch: 1, Owner: "dead", Nonce: "n", Now: time.Now(), Until: time.Now().Add(30 * time.Second)}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(40 * time.Second)
		for _, name := range []string{queue.Names{}.Work("a"), queue.Names{}.DeadLetter("a")} {
			client, url := queueURL(t, w, name)
			if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: url, MessageBody: &received[0].Body}); err != nil {
				t.Fatal(err)
			}
		}
		w.Options.Pools = both[:1]
		w.Start(t.Context())
		time.Sleep(20 * time.Minute)
		if e := stored(t, w, ref, job.ScheduledKey(at)); e.Status != job.Running || e.Attempt != 1 || len(w.Runs()) != 0 {
			t.Errorf("pool a made of it %+v", e)
		}
		w.Stop()
		w.Options.Pools = both
		w.Start(t.Context())
		time.Sleep(5 * time.Minute)
		w.Stop()
		if e := stored(t, w, ref, job.ScheduledKey(at)); e.Status != job.Succeeded || e.Attempt != 2 || e.Lost != 1 {
			t.Errorf("pool b made of it %+v", e)
		}
	})
}

// TestPB094AThrottledTableEndsNoExecutionAndWorkGoesOnAtOnceAfterwards has every call of
// all workers throttled for 3 minutes, with 40 executions running.
func TestPB094AThrottledTableEndsNoExecutionAndWorkGoesOnAtOnceAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := newYear.Add(6 * time.Minute)
		until := from.Add(3 * time.Minute)
		lives := 0
		w := world(t, sim.Options{Workers: 3, Pools: dispatch.Pools{{Name: "fast-io", Lease: 15 * time.Second, Ceiling: time.Hour, Slots: 32, Batch: 10}},
			Decide: func(process string, c fault.Call) fault.Action {
				if c.N == 1 && strings.HasPrefix(process, "worker") {
					lives++
				}
				if now := time.Now(); c.Service == "DynamoDB" && !strings.HasPrefix(process, "scan") && !strings.HasPrefix(process, "tick") && !now.Before(from) && now.Before(until) {
					return fault.Throttle
				}
				return fault.Pass
			},
			Work: func(ctx context.Context, _ *execute.Attempt) *lifecycle.Failure {
				select {
				case <-time.After(2 * time.Minute):
					return nil
				case <-ctx.Done():
					return &lifecycle.Failure{Class: lifecycle.Transient, Code: "STOPPED"}
				}
			}})
		w.Start(t.Context())
		var refs []job.Ref
		for n := range 40 {
			refs = append(refs, put(t, w, job.Definition{Job: fmt.Sprint("job-", n), Timeout: job.Duration(5 * time.Minute), Schedule: job.Schedule{At: from.Add(-time.Duration(n) * time.Second)}}))
		}
		fresh := put(t, w, job.Definition{Job: "fresh", Timeout: job.Duration(5 * time.Minute), Schedule: job.Schedule{At: until.Add(-30 * time.Second)}})
		time.Sleep(time.Until(until) + 2*time.Hour)
		w.Stop()
		for _, ref := range append(refs, fresh) {
			all, err := w.Stored(t.Context(), ref)
			if err != nil || len(all) != 1 || all[0].Status != job.Succeeded {
				t.Errorf("%s: %+v, %v", ref, all, err)
			}
		}
		var again time.Time
		for _, run := range w.Runs() {
			if run.At.After(from.Add(time.Second)) && (again.IsZero() || run.At.Before(again)) {
				again = run.At
			}
		}
		if again.IsZero() || again.Sub(until) > 2*time.Minute || lives != 3 {
			t.Errorf("work went on at %s, the throttling ended at %s; workers lived %d times", again.Format(time.TimeOnly), until.Format(time.TimeOnly), lives)
		}
		judgeRest(t, w)
	})
}
