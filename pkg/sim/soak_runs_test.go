package sim_test

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// soakRun is one attempt as its handler lived it.
type soakRun struct {
	ref     job.Ref
	key     job.Key
	attempt int
	token   int64
	process string
	begun   time.Time

	said     bool // it has answered
	answered time.Time
	answer   *lifecycle.Failure
}

func (r *soakRun) name() string { return r.ref.String() + " " + r.key.String() }

// begin notes that an attempt has begun: later than all before, under a higher token.
func (s *soak) begin(ctx context.Context, a *execute.Attempt) *soakRun {
	e := a.Execution
	run := &soakRun{ref: e.Ref, key: e.Key, attempt: e.Attempt, token: e.FencingToken, process: e.Lease.Owner, begun: time.Now()}
	s.note(func() {
		before := s.runs[run.name()]
		if n := len(before); n > 0 {
			last := before[n-1]
			if run.token <= last.token || run.attempt <= last.attempt {
				s.wrong = append(s.wrong, run.name()+" began under token "+strconv.FormatInt(run.token, 10)+" after "+strconv.FormatInt(last.token, 10))
			}
			if last.said && last.answer != nil {
				s.tally["retried"]++
			}
		}
		s.runs[run.name()] = append(before, run)
	})
	s.touch(ctx, run)
	return run
}

// owns reports whether no later attempt has begun.
func (s *soak) owns(run *soakRun) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest(run) == run
}

// latest is the attempt of the execution that began last; the lock is held.
func (s *soak) latest(run *soakRun) *soakRun {
	runs := s.runs[run.name()]
	return runs[len(runs)-1]
}

// touch is a moment in which the handler does something: unless its context has ended,
// no later attempt of the execution may have begun.
func (s *soak) touch(ctx context.Context, run *soakRun) {
	if ctx.Err() != nil {
		if errors.Is(context.Cause(ctx), execute.ErrLeaseLost) {
			s.count("lease lost heard")
		}
		return
	}
	s.note(func() {
		if latest := s.latest(run); latest != run && !s.justThawed(run.process) {
			s.wrong = append(s.wrong, run.name()+": attempt "+strconv.Itoa(run.attempt)+" works on while attempt "+strconv.Itoa(latest.attempt)+" does")
		}
	})
}

func (s *soak) end(ctx context.Context, run *soakRun, f *lifecycle.Failure) {
	s.touch(ctx, run)
	s.freezeBeforeCall(run, 0.01)
	s.note(func() { run.said, run.answered, run.answer = true, time.Now(), f })
}

// decided reports whether a person has said what became of the execution, or had it
// tried again.
func (s *soak) decided(run *soakRun) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.judged[run.name()]
}

// mark is how far an execution has come, as far as anybody was told.
type mark struct {
	loadedBy int64 // token of the newest attempt that has loaded
	loaded   int   // what it was told
	saved    int   // the most that an attempt was told to have saved
	early    int   // the most that was asked to be saved
}

// saver works in steps, and goes on from the one that was saved last.
func (s *soak) saver(ctx context.Context, a *execute.Attempt, run *soakRun) *lifecycle.Failure {
	at, f := s.load(ctx, a, run)
	if f != nil {
		return f
	}
	for steps := 4 + int(14*s.roll("steps", run.name())); at < steps; at++ {
		if f := s.nap(ctx, run, s.some(run, strconv.Itoa(at), 40*time.Second)); f != nil {
			s.late(ctx, a, run, at)
			return f
		}
		if err := s.save(ctx, a, run, at+1); errors.Is(err, execute.ErrLeaseLost) {
			s.count("stale save refused")
			if ctx.Err() == nil {
				s.blame("%s: a save was refused for its lease, and the context of attempt %d goes on", run.name(), run.attempt)
			}
			return badLuck
		} else if err != nil && ctx.Err() == nil {
			s.count("save failed")
		}
		if s.chance(run, "saver fails "+strconv.Itoa(at), 0.02) {
			return badLuck
		}
	}
	return nil
}

// late tries to save although the context has ended: where the lease was lost that must
// be refused as such.
func (s *soak) late(ctx context.Context, a *execute.Attempt, run *soakRun, at int) {
	if !errors.Is(context.Cause(ctx), execute.ErrLeaseLost) {
		return
	}
	if err := s.save(context.WithoutCancel(ctx), a, run, at+1); !errors.Is(err, execute.ErrLeaseLost) && !errors.Is(err, job.ErrLost) {
		s.blame("%s: attempt %d lost its lease, and a save then gave %v", run.name(), run.attempt, err)
		return
	}
	s.count("stale save refused")
}

// load reads the checkpoint: never less than anybody was told before.
func (s *soak) load(ctx context.Context, a *execute.Attempt, run *soakRun) (int, *lifecycle.Failure) {
	var before mark
	s.note(func() { before = *s.mark(run) })
	content, found, err := a.Progress.Load(ctx)
	if err != nil {
		return 0, &lifecycle.Failure{Class: lifecycle.Transient, Code: "LOAD", Text: err.Error()}
	}
	at := 0
	if found {
		if at, err = strconv.Atoi(string(bytes.TrimRight(content, "."))); err != nil {
			s.blame("%s loaded %.40q", run.name(), content)
		}
		s.count("load")
	}
	s.note(func() {
		m := s.mark(run)
		if own := a.Execution.Kind != job.KindReplay; own && (at < before.saved || at < before.loaded || at > m.early) {
			s.wrong = append(s.wrong, run.name()+": attempt "+strconv.Itoa(run.attempt)+" was told "+strconv.Itoa(at)+" after "+strconv.Itoa(max(before.saved, before.loaded))+" of "+strconv.Itoa(m.early))
		}
		if run.token > m.loadedBy {
			m.loadedBy, m.loaded = run.token, at
		}
	})
	return at, nil
}

// save writes the checkpoint, now and then a large one: no attempt that a newer one has
// overtaken may be told that it did.
func (s *soak) save(ctx context.Context, a *execute.Attempt, run *soakRun, at int) error {
	content := []byte(strconv.Itoa(at))
	if s.chance(run, "large "+strconv.Itoa(at), 0.2) {
		content = append(content, bytes.Repeat([]byte("."), job.InlineCheckpoint)...)
		s.count("large save")
	}
	s.note(func() { m := s.mark(run); m.early = max(m.early, at) })
	s.freezeBeforeCall(run, 0.04)
	err := a.Progress.Save(ctx, content)
	s.count("save")
	s.note(func() {
		m := s.mark(run)
		if err == nil && m.loadedBy > run.token && m.loaded < at {
			s.wrong = append(s.wrong, run.name()+": attempt "+strconv.Itoa(run.attempt)+" saved what a newer one was not told")
		}
		if err == nil {
			m.saved = max(m.saved, at)
		}
	})
	return err
}

// mark is the execution's; the lock is held.
func (s *soak) mark(run *soakRun) *mark {
	if s.marks[run.name()] == nil {
		s.marks[run.name()] = &mark{}
	}
	return s.marks[run.name()]
}
