package sim_test

import (
	"context"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// PB-108: workers that are told to stop, by a deployment say, give their attempts
// back; those are none of the attempts that the job allows.
func TestAnAttemptThatAWorkerGaveBackUsesNoneUp(t *testing.T) {
	d, at := soon()
	d.Retry = job.Retry{MaxAttempts: 2, Base: job.Duration(time.Second)}
	onStage(t, d, func(s *stage) {
		time.Sleep(2 * time.Minute)
		next := func(do execute.Work) {
			b := s.receive(work)
			e := s.worker("w", do)
			if d := e.Process(s.Context(), execute.Delivery{Message: b.message}); d.Delete {
				s.drop(b)
			} else {
				s.must(b.queue.Hide(s.Context(), b.Handle, d.Hide))
			}
		}
		answers := func(class lifecycle.Class) execute.Work {
			return func(context.Context, *execute.Attempt) *lifecycle.Failure {
				return &lifecycle.Failure{Class: class, Code: "X"}
			}
		}
		for range 3 {
			next(answers(lifecycle.StoppedClass))
			s.status(at, job.RetryWait)
		}
		next(answers(lifecycle.Transient))
		s.status(at, job.RetryWait)
		next(answers(lifecycle.Transient))
		if e := s.execution(at); e.Status != job.Dead || e.Attempt != 5 || e.Released != 3 {
			s.Errorf("it ended %s after %d attempts, %d of them given back", e.Status, e.Attempt, e.Released)
		}
	})
}
