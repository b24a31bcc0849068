package sim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// soakKind is a kind of handler: how many jobs have it, how often they are due, and
// what it does.
type soakKind struct {
	jobs    int
	every   time.Duration // the first; each further job of the kind is due a little less often
	pool    string
	timeout time.Duration
	retry   job.Retry
	work    func(s *soak, ctx context.Context, a *execute.Attempt, run *soakRun) *lifecycle.Failure
}

var patientRetry = job.Retry{MaxAttempts: 6, Base: job.Duration(2 * time.Second), MaxLost: 20}

var soakKinds = map[string]soakKind{
	"quick":   {66, 26 * time.Minute, "fast-io", time.Minute, patientRetry, (*soak).quick},
	"flaky":   {26, 26 * time.Minute, "fast-io", time.Minute, job.Retry{MaxAttempts: 4, Base: job.Duration(5 * time.Second), MaxLost: 20}, (*soak).flaky},
	"patient": {6, 40 * time.Minute, "fast-io", time.Minute, job.Retry{MaxAttempts: 6, Base: job.Duration(32 * time.Minute), Max: job.Duration(time.Hour), MaxLost: 20}, (*soak).flaky},
	"stuck":   {4, 25 * time.Minute, "fast-io", 20 * time.Second, patientRetry, (*soak).stuck},
	"panic":   {6, 30 * time.Minute, "fast-io", time.Minute, patientRetry, (*soak).panics},
	"fatal":   {10, 30 * time.Minute, "fast-io", time.Minute, patientRetry, (*soak).fatal},
	"dying":   {8, 36 * time.Minute, "fast-io", time.Minute, job.Retry{MaxAttempts: 2, Base: job.Duration(3 * time.Second), MaxLost: 20}, (*soak).dying},
	"killer":  {2, 40 * time.Minute, "fast-io", time.Minute, job.Retry{MaxAttempts: 3, Base: job.Duration(3 * time.Second), MaxLost: 3}, (*soak).killer},
	"long":    {12, 50 * time.Minute, "slow", 90 * time.Minute, patientRetry, (*soak).long},
	"saver":   {22, 42 * time.Minute, "slow", time.Hour, patientRetry, (*soak).saver},
	"brittle": {4, 25 * time.Minute, "slow", 10 * time.Minute, job.Retry{MaxAttempts: 2, Base: job.Duration(2 * time.Second), MaxLost: 2}, (*soak).split},
	"split":   {12, 35 * time.Minute, "slow", 10 * time.Minute, patientRetry, (*soak).split},
	"unsure":  {16, 24 * time.Minute, "fast-io", 30 * time.Second, job.Retry{MaxAttempts: 8, Base: job.Duration(2 * time.Second), MaxLost: 20}, (*soak).unsure},
	"doubt":   {6, 25 * time.Minute, "fast-io", time.Minute, patientRetry, (*soak).doubtful},
}

// soakJobs are the 200 jobs.
func soakJobs(s *soak) (all []job.Definition) {
	for name, kind := range soakKinds {
		for n := range kind.jobs {
			all = append(all, job.Definition{Job: fmt.Sprint(name, "-", n), Schedule: job.Schedule{Every: job.Duration(kind.every + time.Duration(n*7)*time.Second)}, Pool: kind.pool,
				Timeout: job.Duration(kind.timeout), Retry: kind.retry})
		}
	}
	if len(all) != 200 {
		s.Fatalf("%d jobs", len(all))
	}
	return all
}

func kindOf(name string) string { kind, _, _ := strings.Cut(name, "-"); return kind }

// work is what every attempt of the soak runs.
func (s *soak) work(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
	run := s.begin(ctx, a)
	f := s.kindOfWork(a)(s, ctx, a, run)
	if s.end(ctx, run, f); f != nil && f.Class == lifecycle.PanicClass {
		panic(f.Text)
	}
	return f
}

func (s *soak) kindOfWork(a *execute.Attempt) func(*soak, context.Context, *execute.Attempt, *soakRun) *lifecycle.Failure {
	member := a.Execution.Key
	if a.Execution.Kind == job.KindReplay {
		member = a.Execution.Stands()
	}
	switch member.Kind {
	case job.KindChild:
		return (*soak).part
	case job.KindReduce:
		return (*soak).gather
	case job.KindScheduled, job.KindManual, job.KindReplay, job.KindRange:
	}
	return soakKinds[kindOf(a.Execution.Job)].work
}

// nap works for a while; the error is why it had to stop.
func (s *soak) nap(ctx context.Context, run *soakRun, d time.Duration) *lifecycle.Failure {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	s.stand(run.process)
	if s.touch(ctx, run); ctx.Err() != nil {
		return &lifecycle.Failure{Class: lifecycle.Transient, Code: "STOPPED", Text: context.Cause(ctx).Error()}
	}
	return nil
}

// some draws from [0, most] for this attempt.
func (s *soak) some(run *soakRun, what string, most time.Duration) time.Duration {
	return time.Duration(s.roll(what, run.name(), run.attempt) * float64(most))
}

func (s *soak) chance(run *soakRun, what string, of float64) bool {
	return s.roll(what, run.name(), run.attempt) < of
}

var badLuck = &lifecycle.Failure{Class: lifecycle.Transient, Code: "BAD_LUCK", Text: "it did not work"}

func (s *soak) quick(ctx context.Context, _ *execute.Attempt, run *soakRun) *lifecycle.Failure {
	return s.nap(ctx, run, 10*time.Millisecond+s.some(run, "quick", 4*time.Second))
}

func (s *soak) flaky(ctx context.Context, _ *execute.Attempt, run *soakRun) *lifecycle.Failure {
	if f := s.nap(ctx, run, s.some(run, "flaky", 8*time.Second)); f != nil {
		return f
	}
	switch x := s.roll("flaky", run.name(), run.attempt); {
	case x < 0.3:
		return badLuck
	case x < 0.5:
		return &lifecycle.Failure{Class: lifecycle.ThrottledClass, Code: "HTTP_429", RetryAfter: 20 * time.Second}
	}
	return nil
}

// stuck ignores its context at first, beyond its timeout and the grace.
func (s *soak) stuck(ctx context.Context, _ *execute.Attempt, run *soakRun) *lifecycle.Failure {
	if s.chance(run, "stuck", 0.6) {
		s.count("stuck")
		time.Sleep(45 * time.Second)
		s.stand(run.process)
		s.touch(ctx, run)
		return nil
	}
	return s.nap(ctx, run, time.Second)
}

func (s *soak) panics(ctx context.Context, _ *execute.Attempt, run *soakRun) *lifecycle.Failure {
	if f := s.nap(ctx, run, s.some(run, "panics", 2*time.Second)); f != nil || s.chance(run, "panic", 0.5) {
		return f
	}
	s.count("panic")
	return &lifecycle.Failure{Class: lifecycle.PanicClass, Text: "on purpose"}
}

func (s *soak) fatal(ctx context.Context, _ *execute.Attempt, run *soakRun) *lifecycle.Failure {
	if f := s.nap(ctx, run, s.some(run, "fatal", 3*time.Second)); f != nil || s.chance(run, "fatal", 0.4) {
		return f
	}
	return &lifecycle.Failure{Class: lifecycle.PermanentClass, Code: "HTTP_404"}
}

func (s *soak) dying(ctx context.Context, _ *execute.Attempt, run *soakRun) *lifecycle.Failure {
	if f := s.nap(ctx, run, s.some(run, "dying", 3*time.Second)); f != nil {
		return f
	}
	return badLuck
}

// killer now and then ends its process.
func (s *soak) killer(ctx context.Context, _ *execute.Attempt, run *soakRun) *lifecycle.Failure {
	if s.chance(run, "killer", 0.6) {
		s.doom(run.process, 1)
	}
	return s.nap(ctx, run, 20*time.Second)
}

func (s *soak) long(ctx context.Context, _ *execute.Attempt, run *soakRun) *lifecycle.Failure {
	for left := time.Minute + time.Duration(s.roll("long", run.ref.Job, run.key.ScheduledAt.Unix()/7)*float64(39*time.Minute)); left > 0; left -= time.Minute {
		if f := s.nap(ctx, run, min(left, time.Minute)); f != nil {
			return f
		}
	}
	return nil
}

// split hands its work to children; fewer may fail than do, now and then.
func (s *soak) split(ctx context.Context, a *execute.Attempt, run *soakRun) *lifecycle.Failure {
	if f := s.nap(ctx, run, s.some(run, "split", 5*time.Second)); f != nil {
		return f
	}
	payloads := make([]json.RawMessage, 3+int(5*s.roll("children", run.name())))
	for i := range payloads {
		payloads[i] = json.RawMessage(strconv.Itoa(i))
	}
	r := execute.Request{Payloads: payloads, Handler: "part", Reduce: "gather", Pool: "fast-io", Timeout: job.Duration(time.Minute), MaxFailed: 1,
		Retry: &job.Retry{MaxAttempts: 4, Base: job.Duration(2 * time.Second), Max: job.Duration(time.Minute), MaxAge: job.Duration(24 * time.Hour), MaxLost: 20}}
	if kindOf(run.ref.Job) == "brittle" && s.chance(run, "brittle", 0.6) {
		s.doom(run.process, 1+int(12*s.roll("doom", run.name(), run.attempt)))
	}
	s.freezeBeforeCall(run, 0.1)
	if err := a.Family.FanOut(ctx, r); err != nil {
		if errors.Is(err, execute.ErrLeaseLost) && ctx.Err() == nil && !s.owns(run) {
			return nil // whatever it answers, it is not heard
		}
		return &lifecycle.Failure{Class: lifecycle.Transient, Code: "SPLIT", Text: err.Error()}
	}
	if s.chance(run, "split fails", 0.15) { // after all were made
		return badLuck
	}
	return s.nap(ctx, run, s.some(run, "after", 20*time.Second))
}

// part is a child.
func (s *soak) part(ctx context.Context, _ *execute.Attempt, run *soakRun) *lifecycle.Failure {
	if f := s.nap(ctx, run, s.some(run, "part", 30*time.Second)); f != nil {
		return f
	}
	switch x := s.roll("part fails", run.name(), run.attempt); {
	case x < 0.2:
		return badLuck
	case x < 0.27:
		s.count("child failed")
		return &lifecycle.Failure{Class: lifecycle.PermanentClass, Code: "HTTP_404"}
	}
	return nil
}

// gather follows the children: all of them must have ended.
func (s *soak) gather(ctx context.Context, a *execute.Attempt, run *soakRun) *lifecycle.Failure {
	outcome, err := a.Family.Outcome()
	if err != nil {
		return &lifecycle.Failure{Class: lifecycle.Transient, Code: "READ", Text: err.Error()}
	}
	ended := 0
	for page := range outcome.Pages() {
		children, err := a.Family.Children(ctx, page)
		if err != nil {
			return &lifecycle.Failure{Class: lifecycle.Transient, Code: "READ", Text: err.Error()}
		}
		for i := range children {
			if lifecycle.Terminal(children[i].Status) {
				ended++
			}
		}
	}
	if ended != outcome.Total {
		s.blame("%s began when %d of %d children had ended", run.name(), ended, outcome.Total)
	}
	s.count("reduce")
	return s.nap(ctx, run, s.some(run, "gather", 3*time.Second))
}

// unsure does something outside that must be done once; its answer may be lost. It asks
// before it tries again.
func (s *soak) unsure(ctx context.Context, a *execute.Attempt, run *soakRun) *lifecycle.Failure {
	var done bool
	s.note(func() { done = s.effects[run.name()] })
	switch {
	case done && a.Execution.Doubt:
		s.count("confirmed")
		a.FoundDone = true
		return nil
	case done && !s.decided(run):
		s.blame("%s has taken effect, and attempt %d was not told that it may have", run.name(), run.attempt)
	}
	if f := s.nap(ctx, run, s.some(run, "unsure", 12*time.Second)); f != nil {
		return f
	}
	s.note(func() { s.effects[run.name()] = true })
	switch x := s.roll("unsure answers", run.name(), run.attempt); {
	case x < 0.2:
		return &lifecycle.Failure{Class: lifecycle.UncertainClass, Code: "NO_ANSWER", Confirmable: true}
	case x < 0.4: // it never hears
		time.Sleep(time.Minute)
		s.stand(run.process)
		s.touch(ctx, run)
		return badLuck
	}
	_ = s.nap(ctx, run, 8*time.Second) // an end of it then is one that nobody can tell about
	return nil
}

func (s *soak) doubtful(ctx context.Context, _ *execute.Attempt, run *soakRun) *lifecycle.Failure {
	if f := s.nap(ctx, run, s.some(run, "doubtful", 3*time.Second)); f != nil || s.chance(run, "doubtful", 0.4) {
		return f
	}
	s.note(func() { s.doubted[run.name()] = run })
	return &lifecycle.Failure{Class: lifecycle.UncertainClass, Code: "NO_ANSWER"}
}
