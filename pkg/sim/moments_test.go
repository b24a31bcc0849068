package sim_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// obedient works for 40 seconds, fails once, and stops when it is told to.
func obedient(ctx context.Context, a *execute.Attempt) *lifecycle.Failure {
	work := a.Deadline.Add(-a.Definition.Timeout.Std()).Add(40 * time.Second)
	select {
	case <-ctx.Done():
		return &lifecycle.Failure{Class: lifecycle.Transient, Code: "STOPPED"}
	case <-time.After(time.Until(work)):
	}
	if a.Execution.Attempt == 1 {
		return &lifecycle.Failure{Class: lifecycle.Transient, Code: "AGAIN"}
	}
	return nil
}

// A cancel at every moment of a life of five minutes, with calls that fail
// around it: an acknowledged one ends the execution CANCELED unless the attempt
// that ran then succeeded, no attempt begins after it, and nothing is left behind.
func TestACancelAtEveryMomentOfALife(t *testing.T) {
	step := 7 * time.Second
	if prove() {
		step = 700 * time.Millisecond
	}
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{Work: obedient, Decide: func(_ string, c fault.Call) fault.Action {
			if c.N%17 == 0 {
				return faults[c.N/17%3]
			}
			return fault.Pass
		}})
		w.StartCrowd(t.Context(), 2, 1)
		begun := time.Now()
		at := begun.Add(2 * time.Minute)
		acknowledged := map[job.Ref]time.Time{}
		var refs []job.Ref
		for moment := time.Duration(0); moment < 5*time.Minute; moment += step {
			refs = append(refs, put(t, w, job.Definition{Job: fmt.Sprint("at-", moment.Milliseconds()), Schedule: job.Schedule{At: at},
				Retry: job.Retry{MaxAttempts: 3, Base: job.Duration(30 * time.Second)}}))
		}
		for i, ref := range refs {
			time.Sleep(time.Until(begun.Add(time.Duration(i) * step)))
			_, err := w.Control.Control.Cancel(t.Context(), ref, job.ScheduledKey(at), "test")
			switch {
			case err == nil:
				acknowledged[ref] = time.Now()
			case job.CodeOf(err) != job.CodeStateConflict:
				t.Errorf("after %s the cancel gave %v", time.Duration(i)*step, err)
			}
		}
		time.Sleep(10 * time.Minute)
		w.Stop()
		canceled := 0
		for _, ref := range refs {
			e, err := w.Control.Store.Execution(t.Context(), ref, job.ScheduledKey(at))
			if err != nil {
				t.Fatal(err)
			}
			when, asked := acknowledged[ref]
			if asked {
				canceled++
			}
			if !lifecycle.Terminal(e.Status) || asked && e.Status != job.Canceled && e.Status != job.Succeeded {
				t.Errorf("%s ended as %s/%s, canceled at %s", e.ID(), e.Status, e.Reason, when)
			}
			for _, run := range w.Runs() {
				if asked && run.Ref == ref && run.At.After(when) {
					t.Errorf("attempt %d of %s began at %s, after the cancel of %s was acknowledged", run.Attempt, run.ID, run.At, when)
				}
			}
		}
		if canceled < len(refs)/2 {
			t.Errorf("only %d of %d cancels came in time", canceled, len(refs))
		}
		if err := w.CheckChanges(t.Context()); err != nil {
			t.Errorf("%.1500v", err)
		}
		judgeRest(t, w)
	})
}

// Manual runs at every moment between the verbs of a job's life, with the
// scheduled second itself among them: each runs exactly as often as it was asked
// for, and stands in for no scheduled time (PB-060).
func TestAManualRunAtEveryMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		w := world(t, sim.Options{Work: flaky})
		w.StartCrowd(t.Context(), 2, 1)
		d := job.Definition{Job: "job", Schedule: job.Schedule{Cron: "* * * * *"}}
		ref := put(t, w, d)
		asked := map[job.Key]bool{}
		run := func(word string) {
			e, err := w.Control.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "test", IdempotencyKey: word})
			if err != nil {
				t.Fatal(err)
			}
			asked[e.Key] = true
		}
		service := w.Control.Control
		verbs := []func() error{
			func() error { d.Description += "."; _, err := service.Put(t.Context(), putOf(ref, d)); return err },
			func() error { _, err := service.Pause(t.Context(), ref, "test"); return err },
			func() error { _, err := service.Resume(t.Context(), ref, "test", ""); return err },
		}
		for n := range 90 {
			time.Sleep(time.Until(begun.Add(time.Duration(n)*10*time.Second + 10*time.Second)))
			run("")
			word := fmt.Sprint("word-", n)
			run(word)
			if n%5 == 0 {
				if err := verbs[n/5%3](); err != nil {
					t.Fatal(err)
				}
			}
			run(word) // the same request again
			run("")   // in the same second
		}
		upto := time.Now()
		time.Sleep(10 * time.Minute)
		w.Stop()
		if len(asked) != 270 {
			t.Errorf("90 × 4 requests, 90 of them repeated, made %d executions", len(asked))
		}
		begins := map[job.Key]int{}
		for _, r := range w.Runs() {
			if r.Attempt == 1 {
				begins[r.Key]++
			}
		}
		for key := range asked {
			if begins[key] != 1 {
				t.Errorf("%s began %d times", key, begins[key])
			}
		}
		if n := len(w.Runs()); n == 0 || upto.Before(begun) {
			t.Error("nothing ran")
		}
		pauseAll(t, w, []job.Ref{ref})
		if err := w.CheckChanges(t.Context()); err != nil {
			t.Errorf("%.1500v", err)
		}
	})
}

// An every-second job through half an hour (four in the long form) of verbs.
func TestAnEverySecondJobThroughVerbs(t *testing.T) {
	hours := 0.5
	if prove() {
		hours = 4
	}
	if testing.Short() {
		hours = 0.2
	}
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{})
		w.StartCrowd(t.Context(), 2, 1)
		d := job.Definition{Job: "job", Schedule: job.Schedule{Every: job.Duration(time.Second)}}
		ref := put(t, w, d)
		end := time.Now().Add(time.Duration(hours * float64(time.Hour)))
		for n := 0; time.Now().Before(end); n++ {
			from := time.Now()
			time.Sleep(4*time.Minute + time.Duration(n*317)*time.Millisecond)
			upto := time.Now().Add(-2 * time.Second)
			if err := w.Check(t.Context(), ref, from, upto); err != nil {
				t.Fatalf("in the span from %s: %.800v", from, err)
			}
			if lag, of := startLag(w, from, upto); lag > time.Second {
				t.Errorf("%s began %s late", of, lag)
			}
			d.Description = fmt.Sprint("edit ", n)
			if _, err := w.Control.Control.Put(t.Context(), putOf(ref, d)); err != nil {
				t.Fatal(err)
			}
			if n%3 == 0 {
				pauseAll(t, w, []job.Ref{ref})
				time.Sleep(20 * time.Second)
				if _, err := w.Control.Control.Resume(t.Context(), ref, "test", ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		pauseAll(t, w, []job.Ref{ref})
		time.Sleep(10 * time.Minute)
		w.Stop()
		judgeRest(t, w)
	})
}
