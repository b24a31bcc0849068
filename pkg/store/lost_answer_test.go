package store_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

var (
	ref  = job.Ref{Tenant: "default", Job: "nightly"}
	noon = time.Date(2000, 1, 1, 12, 0, 0, 0, time.UTC)
)

// shelf is a store whose next write can be made to lose its answer.
type shelf struct {
	*testing.T
	*store.Store
	client   *dynamodb.Client
	lose     bool
	consumed map[string]float64
}

func onShelf(t *testing.T, play func(s *shelf)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		backend, err := localaws.New(localaws.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := &shelf{T: t, consumed: map[string]float64{}}
		config := backend.Config()
		config.Retryer = func() aws.Retryer { return retry.NewStandard() }
		config.HTTPClient = fault.Wrap(backend.Client(), func(c fault.Call) fault.Action {
			write := c.Operation == "UpdateItem" || c.Operation == "PutItem" || c.Operation == "TransactWriteItems"
			if s.lose && write {
				s.lose = false
				return fault.LoseResponse
			}
			return fault.Pass
		})
		client := dynamodb.NewFromConfig(config)
		s.client = client
		if err := store.CreateTables(t.Context(), client, ""); err != nil {
			t.Fatal(err)
		}
		s.Store = store.New(client, store.Options{Shards: 4, Meter: func(operation string, consumed []types.ConsumedCapacity) {
			for _, c := range consumed {
				s.consumed[operation] += aws.ToFloat64(c.CapacityUnits)
			}
		}})
		if _, err := s.Layouts(t.Context()); err != nil {
			t.Fatal(err)
		}
		play(s)
	})
}

func (s *shelf) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *shelf) head() *job.Head {
	s.Helper()
	head, err := s.Head(s.Context(), ref)
	s.must(err)
	return head
}

func (s *shelf) at(key job.Key) *job.Execution {
	s.Helper()
	e, err := s.Execution(s.Context(), ref, key)
	s.must(err)
	return e
}

var scheduled = job.ScheduledKey(noon)

func fresh(epoch int64) *job.Execution {
	return &job.Execution{Ref: ref, Key: scheduled, Epoch: epoch, Revision: 1, Pool: "fast-io", Reason: lifecycle.Materialised, CreatedAt: noon.Add(-time.Minute), AvailableAt: noon}
}

func (s *shelf) create() {
	s.Helper()
	d := job.Definition{Job: ref.Job, Schedule: job.Schedule{Cron: "0 12 * * *"}}.WithDefaults()
	head := job.Head{Ref: ref, State: job.Enabled, Revision: 1, Epoch: 1, RunsFrom: 1, Schedule: d.Schedule, Pool: d.Pool, NextFireAt: noon, CreatedAt: noon.Add(-time.Hour)}
	s.must(s.ChangeHead(s.Context(), job.HeadChange{New: head, Verb: "create", Actor: "ada", At: noon.Add(-time.Hour),
		Revision: &job.Revision{Ref: ref, Number: 1, Epoch: 1, Definition: d}}))
}

func (s *shelf) put() {
	s.Helper()
	_, err := s.Put(s.Context(), fresh(1))
	s.must(err)
}

func claimOf(seen *job.Execution) job.ClaimRequest {
	return job.ClaimRequest{Ref: ref, Key: scheduled, Epoch: 1, Owner: "w", Nonce: "n", Now: noon, Until: noon.Add(time.Minute), Seen: seen}
}

func (s *shelf) claimed() *job.Execution {
	s.Helper()
	s.put()
	held, err := s.Claim(s.Context(), claimOf(nil))
	s.must(err)
	return held
}

// own is a conditional write: before readies the store, do writes and says as its
// caller would whether the write was its own.
type own struct {
	before func(s *shelf)
	do     func(ctx context.Context, s *shelf) error
}

var recognised = map[string]own{
	"change of the head": {func(s *shelf) { s.create() }, func(ctx context.Context, s *shelf) error {
		old := s.head()
		next := *old
		next.Epoch++
		return s.ChangeHead(ctx, job.HeadChange{Old: old, New: next, Verb: "pause", Actor: "ada", At: noon})
	}},
	"advance": {func(s *shelf) { s.create() }, func(ctx context.Context, s *shelf) error {
		return s.Advance(ctx, job.Advance{Head: s.head(), Next: noon.Add(24 * time.Hour), Last: noon})
	}},
	"last advance": {func(s *shelf) { s.create() }, func(ctx context.Context, s *shelf) error {
		return s.Advance(ctx, job.Advance{Head: s.head(), Last: noon})
	}},
	"late plan": {func(s *shelf) { s.create() }, func(ctx context.Context, s *shelf) error {
		_, err := s.WritePlan(ctx, s.head(), &job.LatePlan{From: noon, To: noon})
		return err
	}},
	"put of a time": {func(*shelf) {}, func(ctx context.Context, s *shelf) error {
		there, err := s.Put(ctx, fresh(1))
		if errors.Is(err, job.ErrLost) && there.Epoch == 1 && there.Status == job.Scheduled && there.Attempt == 0 {
			return nil // what the caller takes for its own, and sends
		}
		return err
	}},
	"put outside a cursor": {func(*shelf) {}, func(ctx context.Context, s *shelf) error {
		e := fresh(1)
		e.Wake.At = noon
		return s.PutOutside(ctx, e)
	}},
	"record of a range": {func(*shelf) {}, func(ctx context.Context, s *shelf) error {
		return s.PutRange(ctx, job.RangeRecord{Ref: ref, Range: job.Range{From: noon, To: noon.Add(time.Hour), Count: 2}, Status: job.Missed, Reason: lifecycle.Misfire, At: noon})
	}},
	"claim": {func(s *shelf) { s.put() }, func(ctx context.Context, s *shelf) error {
		there, err := s.Claim(ctx, claimOf(nil))
		if errors.Is(err, job.ErrLost) && there.Lease.Nonce == "n" {
			return nil // lifecycle.Decide calls it our own
		}
		return err
	}},
	"heartbeat": {func(s *shelf) { s.claimed() }, func(ctx context.Context, s *shelf) error {
		_, err := s.Beat(ctx, s.at(scheduled), noon.Add(2*time.Minute))
		return err
	}},
	"settle": {func(s *shelf) { s.claimed() }, func(ctx context.Context, s *shelf) error {
		return s.Settle(ctx, s.at(scheduled), lifecycle.Settled(noon, "w"), time.Time{})
	}},
	"settle to a retry": {func(s *shelf) { s.claimed() }, func(ctx context.Context, s *shelf) error {
		return s.Settle(ctx, s.at(scheduled), lifecycle.Waiting(noon, noon.Add(time.Hour), "w", lifecycle.HandlerError, lifecycle.Failure{Code: "X"}), noon.Add(time.Hour))
	}},
	"close": {func(s *shelf) { s.put() }, func(ctx context.Context, s *shelf) error {
		return s.Close(ctx, s.at(scheduled), lifecycle.CanceledBy(noon, "ada"))
	}},
	"rewake": {func(s *shelf) { s.put() }, func(ctx context.Context, s *shelf) error {
		return s.Rewake(ctx, s.at(scheduled), noon.Add(time.Hour), true)
	}},
	"removal of a wake-up": {func(s *shelf) { s.put(); s.must(s.Rewake(s.Context(), s.at(scheduled), noon, false)) }, func(ctx context.Context, s *shelf) error {
		return s.ClearWake(ctx, s.at(scheduled))
	}},
	"request for a cancel": {func(s *shelf) { s.claimed() }, func(ctx context.Context, s *shelf) error {
		err := s.RequestCancel(ctx, s.at(scheduled), job.Cancel{At: noon, By: "ada"})
		if errors.Is(err, job.ErrLost) && s.at(scheduled).Cancel != nil {
			return nil // the caller reads again and finds its own request
		}
		return err
	}},
	"retry now": {func(s *shelf) { s.waits(lifecycle.HandlerError) }, func(ctx context.Context, s *shelf) error {
		return s.Intervene(ctx, s.at(scheduled), lifecycle.RetriedNow(noon, "ada"), toWake)
	}},
	"verdict on a doubt": {func(s *shelf) { s.doubtful() }, func(ctx context.Context, s *shelf) error {
		return s.Intervene(ctx, s.at(scheduled), reviewed(job.TryAgain), toWake)
	}},
	"close of a dead letter": {func(s *shelf) { s.dead() }, func(ctx context.Context, s *shelf) error {
		return s.Resolve(ctx, s.at(scheduled), handled("ada"), audit)
	}},
	"replay": {func(s *shelf) { s.dead() }, func(ctx context.Context, s *shelf) error {
		made, err := s.PutReplay(ctx, s.at(scheduled), replayOf(s.at(scheduled), "A"), audit)
		if err == nil && !made {
			return errors.New("another call's replay")
		}
		return err
	}},
	"guard of a tick": {func(*shelf) {}, func(ctx context.Context, s *shelf) error {
		won, err := s.WinTick(ctx, noon, "mine")
		if err == nil && !won {
			return errors.New("the winner lost")
		}
		return err
	}},
	"idempotency key": {func(*shelf) {}, func(ctx context.Context, s *shelf) error {
		key, err := s.Remember(ctx, ref, "word", scheduled, noon)
		if err == nil && key != scheduled {
			return errors.New("another key")
		}
		return err
	}},
}

// Each conditional write is applied, its answer lost, and repeated by the SDK: it
// must not be taken for somebody else's, and it must have been made once.
func TestAWriteWhoseAnswerWasLostIsRecognised(t *testing.T) {
	for name, write := range recognised {
		t.Run(name, func(t *testing.T) {
			var plain, lost []map[string]types.AttributeValue
			for _, lose := range []bool{false, true} {
				onShelf(t, func(s *shelf) {
					write.before(s)
					s.lose = lose
					if err := write.do(s.Context(), s); err != nil {
						s.Errorf("answer lost: %v: %v", lose, err)
					}
					if s.lose {
						s.Fatal("nothing was written")
					}
					if lose {
						lost = s.everything()
					} else {
						plain = s.everything()
					}
				})
			}
			if !equal(plain, lost) {
				t.Errorf("with its answer the write left %v\nwithout, %v", plain, lost)
			}
		})
	}
}
