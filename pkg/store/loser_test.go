package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// losers: each write is decided on what was seen before something else came
// first, and must then leave everything as it is.
var losers = map[string]struct {
	before  func(s *shelf)
	between func(s *shelf)
	do      func(ctx context.Context, s *shelf, head *job.Head, e *job.Execution) error
}{
	"an advance under an older epoch": {(*shelf).create, (*shelf).verb, func(ctx context.Context, s *shelf, h *job.Head, _ *job.Execution) error {
		return s.Advance(ctx, job.Advance{Head: h, Next: noon.Add(24 * time.Hour)})
	}},
	"an advance from an older cursor": {(*shelf).create, func(s *shelf) {
		s.must(s.Advance(s.Context(), job.Advance{Head: s.head(), Next: noon.Add(time.Hour)}))
	}, func(ctx context.Context, s *shelf, h *job.Head, _ *job.Execution) error {
		return s.Advance(ctx, job.Advance{Head: h, Next: noon.Add(24 * time.Hour)})
	}},
	"an ordinary advance into a late plan": {(*shelf).create, (*shelf).plan, func(ctx context.Context, s *shelf, h *job.Head, _ *job.Execution) error {
		return s.Advance(ctx, job.Advance{Head: h, Next: noon.Add(24 * time.Hour)})
	}},
	"an advance over a plan that is not there": {(*shelf).create, func(*shelf) {}, func(ctx context.Context, s *shelf, h *job.Head, _ *job.Execution) error {
		return s.Advance(ctx, job.Advance{Head: h, Next: noon.Add(24 * time.Hour), Planned: true})
	}},
	"a plan under an older epoch": {(*shelf).create, (*shelf).verb, func(ctx context.Context, s *shelf, h *job.Head, _ *job.Execution) error {
		_, err := s.WritePlan(ctx, h, &job.LatePlan{From: noon, To: noon})
		return err
	}},
	"a verb on an older epoch": {(*shelf).create, (*shelf).verb, func(ctx context.Context, s *shelf, h *job.Head, _ *job.Execution) error {
		next := *h
		next.Epoch++
		return s.ChangeHead(ctx, job.HeadChange{Old: h, New: next, Verb: "pause", At: noon})
	}},
	"a create of what is there": {(*shelf).create, func(*shelf) {}, func(ctx context.Context, s *shelf, h *job.Head, _ *job.Execution) error {
		return s.ChangeHead(ctx, job.HeadChange{New: *h, Verb: "create", At: noon})
	}},
	"a put under an older epoch": {func(s *shelf) { s.create() }, func(s *shelf) { _, err := s.Put(s.Context(), fresh(2)); s.must(err) },
		func(ctx context.Context, s *shelf, _ *job.Head, _ *job.Execution) error {
			_, err := s.Put(ctx, fresh(1))
			return err
		}},
	"a put of what has begun, under a newer epoch": {func(s *shelf) { s.create(); s.claimed() }, func(*shelf) {},
		func(ctx context.Context, s *shelf, _ *job.Head, _ *job.Execution) error {
			_, err := s.Put(ctx, fresh(9))
			return err
		}},
	"a put of what was canceled, under a newer epoch": {func(s *shelf) { s.create(); s.put() }, func(s *shelf) { s.must(s.Close(s.Context(), s.at(scheduled), lifecycle.CanceledBy(noon, "ada"))) },
		func(ctx context.Context, s *shelf, _ *job.Head, _ *job.Execution) error {
			_, err := s.Put(ctx, fresh(9))
			return err
		}},
	"a claim of what another worker runs": {func(s *shelf) { s.create(); s.put() }, func(s *shelf) { s.other() },
		func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
			_, err := s.Claim(ctx, claimOf(e))
			return err
		}},
	"an unseen claim of what another worker runs": {func(s *shelf) { s.create(); s.put() }, func(s *shelf) { s.other() },
		func(ctx context.Context, s *shelf, _ *job.Head, _ *job.Execution) error {
			_, err := s.Claim(ctx, claimOf(nil))
			return err
		}},
	"a claim before its time": {func(s *shelf) { s.create(); s.put() }, func(*shelf) {}, func(ctx context.Context, s *shelf, _ *job.Head, _ *job.Execution) error {
		c := claimOf(nil)
		c.Now = noon.Add(-time.Millisecond)
		_, err := s.Claim(ctx, c)
		return err
	}},
	"a claim of what is absent": {(*shelf).create, func(*shelf) {}, func(ctx context.Context, s *shelf, _ *job.Head, _ *job.Execution) error {
		_, err := s.Claim(ctx, claimOf(nil))
		return err
	}},
	"a takeover of a lease that was extended": {func(s *shelf) { s.create(); s.claimed() }, func(s *shelf) {
		_, err := s.Beat(s.Context(), s.at(scheduled), noon.Add(time.Hour))
		s.must(err)
	}, func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
		_, err := s.Claim(ctx, claimOf(e))
		return err
	}},
	"a takeover after a cancel request": {func(s *shelf) { s.create(); s.claimed() }, func(s *shelf) {
		s.must(s.RequestCancel(s.Context(), s.at(scheduled), job.Cancel{At: noon, By: "ada"}))
	}, func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
		_, err := s.Claim(ctx, claimOf(e))
		return err
	}},
	"a close of what was taken meanwhile": {func(s *shelf) { s.create(); s.put() }, func(s *shelf) { s.other() }, func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
		return s.Close(ctx, e, lifecycle.CanceledBy(noon, "ada"))
	}},
	"a settle to a retry after a cancel request": {func(s *shelf) { s.create(); s.claimed() }, func(s *shelf) {
		s.must(s.RequestCancel(s.Context(), s.at(scheduled), job.Cancel{At: noon, By: "ada"}))
	}, func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
		return s.Settle(ctx, e, lifecycle.Waiting(noon, noon, "w", lifecycle.HandlerError, lifecycle.Failure{}), time.Time{})
	}},
	"a settle to a dead letter after a cancel request": {func(s *shelf) { s.create(); s.claimed() }, func(s *shelf) {
		s.must(s.RequestCancel(s.Context(), s.at(scheduled), job.Cancel{At: noon, By: "ada"}))
	}, func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
		return s.Settle(ctx, e, lifecycle.GivenUp(noon, "w", lifecycle.AttemptsUsedUp, lifecycle.Failure{Code: "X"}), time.Time{})
	}},
	"a wake-up for what has ended": {func(s *shelf) { s.create(); s.put() }, func(s *shelf) { s.must(s.Close(s.Context(), s.at(scheduled), lifecycle.CanceledBy(noon, "ada"))) },
		func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
			return s.Rewake(ctx, e, noon, false)
		}},
	"a wake-up after another one": {func(s *shelf) { s.create(); s.put() }, func(s *shelf) { s.must(s.Rewake(s.Context(), s.at(scheduled), noon, false)) },
		func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
			return s.Rewake(ctx, e, noon.Add(time.Hour), false)
		}},
	"a retry now of what was taken meanwhile": {func(s *shelf) { s.waits(lifecycle.Uncertain) }, func(s *shelf) {
		c := claimOf(s.at(scheduled))
		c.Now = noon.Add(time.Hour)
		_, err := s.Claim(s.Context(), c)
		s.must(err)
	}, func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
		return s.Intervene(ctx, e, lifecycle.RetriedNow(noon, "ada"), toWake)
	}},
	"a retry now after another one": {func(s *shelf) { s.waits(lifecycle.Uncertain) }, func(s *shelf) {
		s.must(s.Intervene(s.Context(), s.at(scheduled), lifecycle.RetriedNow(noon.Add(time.Second), "bob"), toWake))
	}, func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
		return s.Intervene(ctx, e, lifecycle.RetriedNow(noon, "ada"), toWake)
	}},
	"a verdict after another one": {func(s *shelf) { s.doubtful() }, func(s *shelf) { s.must(s.Intervene(s.Context(), s.at(scheduled), reviewed(job.ItFailed), toWake)) },
		func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
			return s.Intervene(ctx, e, reviewed(job.TryAgain), toWake)
		}},
	"a close of a letter that another person closed": {func(s *shelf) { s.dead() }, func(s *shelf) { s.must(s.Resolve(s.Context(), s.at(scheduled), handled("bob"), audit)) },
		func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
			return s.Resolve(ctx, e, handled("ada"), audit)
		}},
	"a forced close of a letter that another person closed anew": {func(s *shelf) { s.dead(); s.must(s.Resolve(s.Context(), s.at(scheduled), handled("bob"), audit)) },
		func(s *shelf) { s.must(s.Resolve(s.Context(), s.at(scheduled), handled("cid"), audit)) },
		func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
			return s.Resolve(ctx, e, handled("ada"), audit)
		}},
	"a replay of what is no dead letter": {func(s *shelf) { s.claimed() }, func(*shelf) {},
		func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
			_, err := s.PutReplay(ctx, e, replayOf(e, "A"), audit)
			return err
		}},
	"a replay of what has been replayed too often": {func(s *shelf) { s.dead() }, func(s *shelf) {
		for n := range job.MaxReplays {
			_, err := s.PutReplay(s.Context(), s.at(scheduled), replayOf(s.at(scheduled), fmt.Sprint(n)), audit)
			s.must(err)
		}
	}, func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
		_, err := s.PutReplay(ctx, e, replayOf(e, "A"), audit)
		return err
	}},
	"a cancel request for what has ended": {func(s *shelf) { s.create(); s.claimed() }, func(s *shelf) {
		s.must(s.Settle(s.Context(), s.at(scheduled), lifecycle.Settled(noon, "w"), time.Time{}))
	},
		func(ctx context.Context, s *shelf, _ *job.Head, e *job.Execution) error {
			return s.RequestCancel(ctx, e, job.Cancel{At: noon})
		}},
}

// verb raises the epoch.
func (s *shelf) verb() {
	next := *s.head()
	next.Epoch++
	s.must(s.ChangeHead(s.Context(), job.HeadChange{Old: s.head(), New: next, Verb: "edit", At: noon}))
}

func (s *shelf) plan() {
	_, err := s.WritePlan(s.Context(), s.head(), &job.LatePlan{From: noon, To: noon})
	s.must(err)
}

// other is another worker's claim.
func (s *shelf) other() {
	c := claimOf(nil)
	c.Owner, c.Nonce = "other", "other"
	_, err := s.Claim(s.Context(), c)
	s.must(err)
}

func TestAWriteThatCameLateLosesAndChangesNothing(t *testing.T) {
	for name, row := range losers {
		t.Run(name, func(t *testing.T) {
			onShelf(t, func(s *shelf) {
				row.before(s)
				head, e := s.head(), s.at(scheduled)
				row.between(s)
				was := s.everything()
				if err := row.do(s.Context(), s, head, e); !errors.Is(err, job.ErrLost) {
					s.Errorf("it gave %v", err)
				}
				if now := s.everything(); !equal(was, now) {
					s.Errorf("it changed %v\nto %v", was, now)
				}
			})
		})
	}
}

// The happy path's price, as the service counts it.
func TestWhatEachWriteOfTheHappyPathConsumes(t *testing.T) {
	onShelf(t, func(s *shelf) {
		s.create()
		held := s.claimed()
		s.must(s.Advance(s.Context(), job.Advance{Head: s.head(), Next: noon.Add(24 * time.Hour), Last: noon}))
		s.must(s.Settle(s.Context(), held, lifecycle.Settled(noon, "w"), time.Time{}))
		for operation, want := range map[string]float64{"put": 1, "advance": 3, "claim": 1, "settle": 1, "head": 1} {
			if got := s.consumed[operation]; got != want {
				s.Errorf("%s consumed %v units, want %v", operation, got, want)
			}
		}
	})
}
