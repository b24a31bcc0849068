package sim_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/sim"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// situation is what is stored for a scheduled time before a backfill comes.
type situation string

const (
	nothing    situation = "nothing"
	succeeded  situation = "succeeded"
	running    situation = "running"
	waiting    situation = "waiting in its queue"
	missed     situation = "missed, with an item of its own"
	canceled   situation = "canceled before it began"
	withdrawn  situation = "withdrawn by a verb"
	superseded situation = "made under an epoch that may not begin"
	recorded   situation = "missed, in a ranged record"
)

var allSituations = []situation{nothing, succeeded, running, waiting, missed, canceled, withdrawn, superseded, recorded}

// arrange stores a time as the situation says, by what the planes would write.
func (s *stage) arrange(at time.Time, is situation, head *job.Head) {
	s.Helper()
	store, now := s.planes().Store, time.Now()
	e := &job.Execution{Ref: s.ref, Key: job.ScheduledKey(at), Revision: 1, Epoch: head.Epoch, Status: job.Scheduled, Pool: head.Pool, CreatedAt: now, AvailableAt: at, Reason: lifecycle.Materialised, Schema: job.Schema}
	if is == withdrawn || is == superseded {
		e.Epoch = head.Epoch - 1
	}
	if is == nothing {
		return
	}
	if is == recorded {
		s.must(store.PutRange(s.Context(), job.RangeRecord{Ref: s.ref, Range: job.Range{From: at, To: at, Count: 1}, Revision: 1, Epoch: head.Epoch, Status: job.Missed, Reason: lifecycle.Misfire, At: now}))
		return
	}
	_, err := store.Put(s.Context(), e)
	s.must(err)
	switch is {
	case missed:
		err = store.Close(s.Context(), e, lifecycle.MissedBy(now, "scan", lifecycle.Misfire))
	case canceled:
		err = store.Close(s.Context(), e, lifecycle.CanceledBy(now, "ada"))
	case withdrawn:
		err = store.Close(s.Context(), e, lifecycle.WithdrawnBy(now, "scan", lifecycle.Superseded))
	case succeeded, running:
		var held *job.Execution
		held, err = store.Claim(s.Context(), job.ClaimRequest{Ref: s.ref, Key: e.Key, Epoch: e.Epoch, Owner: "before", Nonce: "n", Now: now, Until: now.Add(time.Hour)})
		if err == nil && is == succeeded {
			err = store.Settle(s.Context(), held, lifecycle.Settled(now, "before"), time.Time{})
		}
	case waiting:
		for _, sent := range s.planes().Dispatch.Admit(s.Context(), []*job.Execution{e}) {
			s.must(sent)
		}
	case nothing, superseded, recorded:
	}
	s.must(err)
}

// runsAgain tells whether a backfill makes the time run, by what is stored for it.
func runsAgain(is situation, rerun bool) bool {
	switch is {
	case succeeded:
		return rerun
	case running:
		return false
	case nothing, waiting, missed, canceled, withdrawn, superseded, recorded:
	}
	return true // what waits runs by itself, once
}

// Whatever is stored for the times of a range: those without an execution that
// has begun run once, the others not; with a rerun those that have ended run, too.
func TestABackfillRunsExactlyWhatHasNoExecution(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		stored := rapid.SliceOfN(rapid.SampledFrom(allSituations), 1, 12).Draw(r, "what is stored")
		rerun := rapid.Bool().Draw(r, "rerun")
		crashes := rapid.IntRange(0, 3).Draw(r, "puts before a crash")
		var failed string
		synctest.Test(t, func(t *testing.T) { failed = playBackfill(t, stored, rerun, crashes) })
		if failed != "" {
			r.Fatal(failed)
		}
	})
}

func playBackfill(t *testing.T, list []situation, rerun bool, crashes int) string {
	s := &stage{T: t, w: world(t, sim.Options{Shards: 1}), ref: job.Ref{Tenant: job.DefaultTenant, Job: "job"}}
	definition, _ := later()
	s.apply(definition)
	_, err := s.planes().Control.Pause(s.Context(), s.ref, "test")
	s.must(err)
	head, err := s.planes().Control.Resume(s.Context(), s.ref, "test", job.ResumeFromNow)
	s.must(err)
	from := newYear.Add(-2 * time.Hour)
	var want []string
	for i, is := range list {
		at := from.Add(time.Duration(i) * 10 * time.Minute)
		s.arrange(at, is, head)
		if runsAgain(is, rerun) {
			want = append(want, at.Format("15:04"))
		}
	}
	request := lastHour(s.ref)
	request.From, request.To, request.Rerun = from, from.Add(time.Duration(len(list)-1)*10*time.Minute), rerun
	b := s.queued(request)
	s.scan(s.scanner(hooks{beforePut: func() error {
		if crashes--; crashes < 0 {
			return errCrash
		}
		return nil
	}}))
	s.scan(s.planes().Trigger)
	got := slices.DeleteFunc(times(s.workOff()), func(at string) bool { return at < "22" })
	state := s.reload(b)
	time.Sleep(time.Second)
	if !slices.Equal(got, want) {
		return fmt.Sprintf("%v ran, want %v", got, want)
	}
	if state.State != job.BackfillDone || state.Made+state.Skipped != len(list) {
		return fmt.Sprintf("it is %s with %d made and %d passed over of %d", state.State, state.Made, state.Skipped, len(list))
	}
	return ""
}

// A rerun repeats the business action: the handler is told the same time, data
// interval and idempotency key, and a higher fencing token, however often.
func TestARerunIsTheSameActionUnderAHigherToken(t *testing.T) {
	definition, _ := later()
	onStage(t, definition, func(s *stage) {
		type told struct {
			key        string
			from, upto time.Time
		}
		seen := map[told][]int64{}
		handler := s.worker("worker", func(_ context.Context, a *execute.Attempt) *lifecycle.Failure {
			attempt := worker.NewAttempt(a, nil)
			from, upto := attempt.Interval()
			if !attempt.ScheduledAt().Equal(upto) {
				t.Errorf("it stands for %s and its data ends at %s", attempt.ScheduledAt(), upto)
			}
			k := told{attempt.IdempotencyKey(), from, upto}
			seen[k] = append(seen[k], attempt.FencingToken())
			return nil
		})
		for round := range 3 {
			r := lastHour(s.ref)
			r.Rerun = round > 0
			b := s.backfill(r)
			for {
				message, ok := s.poll(work, 20*time.Second)
				if !ok {
					break
				}
				if s.process(handler, message).Delete {
					s.drop(message)
				}
			}
			s.scan(s.planes().Trigger)
			s.wantDone(b, 6, 0)
		}
		ran := 0
		for k, tokens := range seen {
			if k.upto.After(newYear) {
				continue
			}
			ran++
			if k.upto.Sub(k.from) != 10*time.Minute || !slices.IsSorted(tokens) || len(slices.Compact(slices.Clone(tokens))) != 3 {
				t.Errorf("%s of %s to %s ran under the tokens %v", k.key, k.from, k.upto, tokens)
			}
		}
		if ran != 6 {
			t.Errorf("%d actions instead of 6", ran)
		}
	})
}

// A pause holds for what a rerun has made and nothing has begun, as it does for
// scheduled times; the rerun goes on with the job.
func TestAPauseHoldsForARerun(t *testing.T) {
	definition, _ := later()
	onStage(t, definition, func(s *stage) {
		s.wantRuns(func() []ran { s.backfill(lastHour(s.ref)); return s.workOff() }(), sixTimes)
		again := lastHour(s.ref)
		again.Rerun = true
		b := s.backfill(again)
		time.Sleep(time.Second)
		_, err := s.planes().Control.Pause(s.Context(), s.ref, "test")
		s.must(err)
		s.wantRuns(s.workOff(), nil)
		_, err = s.planes().Control.Resume(s.Context(), s.ref, "test", "")
		s.must(err)
		s.wantRuns(s.workOff(), sixTimes)
		s.wantDone(b, 6, 0)
	})
}

// A queue that loses messages costs a backfill a quarter of an hour.
func TestABackfillMakesLostMessagesGood(t *testing.T) {
	definition, _ := later()
	onStage(t, definition, func(s *stage) {
		b := s.backfill(lastHour(s.ref))
		for {
			message, ok := s.poll(work, time.Second)
			if !ok {
				break
			}
			s.drop(message)
		}
		for range 20 {
			time.Sleep(time.Minute)
			s.scan(s.planes().Trigger)
		}
		s.wantRuns(s.workOff(), sixTimes)
		s.wantDone(b, 6, 0)
	})
}
