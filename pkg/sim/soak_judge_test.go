package sim_test

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// judge looks at all that was noted, at every change there ever was, and at what is left.
func (s *soak) judge() {
	if err := s.w.CheckChanges(s.Context()); err != nil {
		s.Errorf("%.3000v", err)
	}
	if err := s.w.Changes(s.Context(), s.judgeChange); err != nil {
		s.Error(err)
	}
	all := s.executions()
	ends := map[job.Status]int{}
	for _, e := range all {
		ends[e.Status]++
		s.judgeEnd(e)
	}
	for i, wrong := range s.wrong {
		if s.Errorf("%s", wrong); i == 20 {
			s.Errorf("and %d more", len(s.wrong)-i-1)
			break
		}
	}
	judgeRest(s.T, s.w)
	attempts := 0
	for _, runs := range s.runs {
		attempts += len(runs)
	}
	s.Logf("seed %d: %d executions ended %v after %d attempts; %v", s.seed, len(all), ends, attempts, s.tally)
	if s.Failed() {
		s.Logf("play it again with: go test ./pkg/sim -run 'TestTwoHoursOfEverything/seed_%d$'", s.seed)
	}
}

// judgeChange is what a change must be explained by: a settle by the answer of the very
// attempt that held the lease, a takeover by a lease that had passed and trouble of its
// worker.
func (s *soak) judgeChange(before, after *job.Execution) {
	switch {
	case before == nil:
	case before.Cancel != nil && after.FencingToken > before.FencingToken:
		s.Errorf("%s: an attempt began after a cancel was asked for", after.ID())
	case before.Status == job.Running && (after.Lost > before.Lost || after.FencingToken > before.FencingToken):
		s.judgeLost(before, after)
	case before.Status == job.Running && after.Status != job.Running:
		s.judgeSettled(before, after)
	}
}

func (s *soak) judgeLost(before, after *job.Execution) {
	s.tally["lost worker"]++
	at := after.Timeline[len(after.Timeline)-1].At
	if free := before.Lease.Until.Add(time.Second); at.Before(free) {
		s.Errorf("%s was taken at %s from %s, whose lease lasted until %s", after.ID(), at.Format(time.TimeOnly), before.Lease.Owner, before.Lease.Until.Format(time.TimeOnly))
	}
	if from := before.Lease.Until.Add(-6 * time.Minute); !s.troubled(before.Lease.Owner, from, before.Lease.Until.Add(time.Second)) {
		s.Errorf("%s lost its worker %s, and nothing had happened to that between %s and %s", after.ID(), before.Lease.Owner, from.Format(time.TimeOnly), before.Lease.Until.Format(time.TimeOnly))
	}
}

// runOf is the attempt of that token; nil when its handler was never called.
func (s *soak) runOf(e *job.Execution) *soakRun {
	for _, run := range s.runs[e.Ref.String()+" "+e.Key.String()] {
		if run.token == e.FencingToken {
			return run
		}
	}
	return nil
}

func (s *soak) judgeSettled(before, after *job.Execution) {
	run, last := s.runOf(before), after.Timeline[len(after.Timeline)-1]
	switch {
	case run == nil:
		if after.ErrorCode != "CHILDREN_FAILED" {
			s.Errorf("%s became %s/%s under token %d, whose handler never ran", after.ID(), after.Status, after.Reason, before.FencingToken)
		}
	case run.process != before.Lease.Owner || last.Actor != run.process:
		s.Errorf("%s ran in %s, was leased to %s and settled by %s", after.ID(), run.process, before.Lease.Owner, last.Actor)
	case !run.said || run.answered.After(last.At.Add(time.Millisecond)):
		if after.ErrorCode != "HANDLER_STUCK" && after.Reason != lifecycle.CancelRequested && after.Reason != lifecycle.WorkerStopped {
			s.Errorf("%s became %s/%s (%s) before its handler had answered", after.ID(), after.Status, after.Reason, after.ErrorCode)
		}
	case after.Status == job.Succeeded != (run.answer == nil):
		s.Errorf("%s became %s/%s, and its handler had answered %+v", after.ID(), after.Status, after.Reason, run.answer)
	}
}

// judgeEnd is what one execution must have come to.
func (s *soak) judgeEnd(e *job.Execution) {
	retry := s.defs[e.Job].Retry
	if e.Kind == job.KindChild {
		retry.MaxAttempts = 4
	}
	answered := e.Attempt - e.Lost - e.Released
	name := e.Ref.String() + " " + e.Key.String()
	switch e.Status {
	case job.Succeeded, job.Withdrawn, job.Missed, job.Skipped:
	case job.Failed:
		if run := s.runOf(e); !s.judged[name] && e.ErrorCode != "CHILDREN_FAILED" && (run == nil || run.answer == nil || run.answer.Class != lifecycle.PermanentClass) {
			s.Errorf("%s is FAILED/%s: %s", e.ID(), e.Reason, e.ErrorCode)
		}
	case job.Dead:
		used := e.Reason == lifecycle.AttemptsUsedUp && answered >= retry.MaxAttempts
		lost := (e.Reason == lifecycle.LeaseLost || e.Reason == lifecycle.Poison) && e.Lost >= retry.MaxLost
		if !used && !lost {
			s.Errorf("%s is DEAD/%s after %d attempts, %d of them lost and %d given back", e.ID(), e.Reason, e.Attempt, e.Lost, e.Released)
		}
	case job.Canceled:
		if !s.asked[name] && !s.familyEnded(e) {
			s.Errorf("%s is CANCELED/%s, and nobody had asked", e.ID(), e.Reason)
		}
	case job.Running, job.Scheduled, job.RetryWait, job.NeedsReview:
		s.Errorf("%s is still %s: %+v", e.ID(), e.Status, e)
	}
	if e.Cancel != nil && e.Status == job.Dead {
		s.Errorf("%s is DEAD/%s although a cancel was asked for", e.ID(), e.Reason)
	}
	s.judgeFamily(e)
}

// familyEnded reports whether the children of the execution's parent were canceled.
func (s *soak) familyEnded(e *job.Execution) bool {
	if e.Key.Of == "" {
		return false
	}
	f, err := s.w.Control.Store.FanOut(s.Context(), e.Ref, e.Key.Parent())
	return err == nil && f != nil && f.Canceled != nil
}

// judgeFamily: all children of what succeeded were made and have ended, and what follows
// them has been made; children of anything else have ended at least.
func (s *soak) judgeFamily(e *job.Execution) {
	if !e.FannedOut {
		return
	}
	f, err := s.w.Control.Store.FanOut(s.Context(), e.Ref, e.Key)
	switch {
	case err != nil || f == nil && e.Status == job.Succeeded:
		s.Errorf("of the children of %s is known %+v, %v", e.ID(), f, err)
	case f != nil && e.Status == job.Succeeded && (!f.Complete() || f.OpenPages != 0):
		s.Errorf("%s has succeeded, and its children are %+v", e.ID(), f)
	case f != nil && e.Status != job.Succeeded && f.Canceled == nil && f.OpenPages != 0:
		s.Errorf("%s is %s, and its children go on: %+v", e.ID(), e.Status, f)
	case f != nil && f.OpenPages == 0 && f.Total > 0:
		after, err := s.w.Control.Store.Execution(s.Context(), e.Ref, job.ReduceKey(e.Key))
		if err != nil || after == nil {
			s.Errorf("the children of %s have ended, and what follows is %+v, %v", e.ID(), after, err)
		}
	}
}
