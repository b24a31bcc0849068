package sim_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/queue"
	"github.com/belfry-scheduler/belfry/pkg/sim"
	"github.com/belfry-scheduler/belfry/pkg/trigger"
)

// stage is a world without processes: a test plays every part itself, step by
// step, as the traces of the protocol's model check go.
type stage struct {
	*testing.T
	w   *sim.World
	ref job.Ref
}

// errCrash ends a played process at the step where it is returned.
var errCrash = errors.New("the played process crashes here")

func onStage(t *testing.T, d job.Definition, play func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{T: t, w: world(t, sim.Options{Shards: 1}), ref: job.Ref{Tenant: job.DefaultTenant, Job: "job"}}
		s.apply(d)
		play(s)
		time.Sleep(time.Second) // requests that gather messages are on their way still
	})
}

func (s *stage) apply(d job.Definition) *job.Head {
	s.Helper()
	result, err := s.w.Control.Control.Put(s.Context(), putOf(s.ref, d))
	s.must(err)
	return result.Head
}

func putOf(ref job.Ref, d job.Definition) control.PutRequest {
	d.Job, d.Target = ref.Job, job.Target{Log: &job.LogTarget{}}
	return control.PutRequest{Ref: ref, Definition: d, Actor: "test"}
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// scanner is a trigger plane of its own whose steps a test can cut in on.
func (s *stage) scanner(h hooks) *trigger.Service {
	own := *s.w.Control.Trigger
	h.Executions, h.admission, h.Cursors = own.Executions, own.Admission, own.Cursors
	own.Executions, own.Admission, own.Cursors = hookedExecutions{own.Executions, h}, hookedAdmission{h}, hookedCursors{own.Cursors, h}
	own.Parallel = 1
	return &own
}

// hooks cut in on a scanner: each is called before the step, and an error ends
// the scanner there.
type hooks struct {
	trigger.Executions
	trigger.Cursors
	admission     trigger.Admission
	beforePut     func() error
	beforeSend    func() error
	beforeAdvance func() error
	afterRange    func() error
}

func call(f func() error) error {
	if f == nil {
		return nil
	}
	return f()
}

type hookedExecutions struct {
	trigger.Executions
	h hooks
}

func (x hookedExecutions) Put(ctx context.Context, e *job.Execution) (*job.Execution, error) {
	if err := call(x.h.beforePut); err != nil {
		return nil, err
	}
	return x.Executions.Put(ctx, e)
}

func (x hookedExecutions) PutRange(ctx context.Context, r job.RangeRecord) error {
	if err := x.Executions.PutRange(ctx, r); err != nil {
		return err
	}
	return call(x.h.afterRange)
}

type hookedAdmission struct{ h hooks }

func (x hookedAdmission) Admit(ctx context.Context, executions []*job.Execution) []error {
	if err := call(x.h.beforeSend); err != nil {
		errs := make([]error, len(executions))
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	return x.h.admission.Admit(ctx, executions)
}

type hookedCursors struct {
	trigger.Cursors
	h hooks
}

func (x hookedCursors) Advance(ctx context.Context, a job.Advance) error {
	if err := call(x.h.beforeAdvance); err != nil {
		return err
	}
	return x.Cursors.Advance(ctx, a)
}

// scan runs a whole scan; a played crash is no failure of the test.
func (s *stage) scan(service *trigger.Service) {
	s.Helper()
	s.must(service.Scan(s.Context(), job.ShardRange{Generation: 1, From: 0, To: 1}, time.Time{}))
}

// bearer is a message in the hands of a played worker.
type bearer struct {
	queue.Received
	queue   *queue.Queue
	message lifecycle.Message
}

// receive takes the next message of a queue, or fails the test.
func (s *stage) receive(name string) bearer {
	s.Helper()
	b, ok := s.poll(name, 20*time.Second)
	if !ok {
		s.Fatalf("no message on %s", name)
	}
	return b
}

func (s *stage) poll(name string, wait time.Duration) (bearer, bool) {
	s.Helper()
	q := s.w.Control.Queues.Queue(name)
	messages, err := q.Receive(s.Context(), 1, wait, 20*time.Second)
	s.must(err)
	if len(messages) == 0 {
		return bearer{}, false
	}
	work, err := queue.Open(messages[0].Body)
	s.must(err)
	work.Message.Receives = messages[0].Receives
	work.Message.Isolated = name == isolation
	return bearer{Received: messages[0], queue: q, message: work.Message}, true
}

func (s *stage) drop(b bearer) { s.must(b.queue.Delete(s.Context(), b.Handle)) }

const (
	work      = "belfry-fast-io"
	isolation = "belfry-fast-io-isolation"
)

// worker is an execution plane of its own.
func (s *stage) worker(owner string, do execute.Work) *execute.Service {
	b := *s.w.Control
	b.Settings.Owner = owner
	if do == nil {
		do = func(context.Context, *execute.Attempt) *lifecycle.Failure { return nil }
	}
	return b.Execute(do)
}

func (s *stage) process(e *execute.Service, b bearer) execute.Disposal {
	return e.Process(s.Context(), execute.Delivery{Message: b.message})
}

func (s *stage) execution(at time.Time) *job.Execution {
	s.Helper()
	e, err := s.w.Control.Store.Execution(s.Context(), s.ref, job.ScheduledKey(at))
	s.must(err)
	return e
}

func (s *stage) status(at time.Time, want job.Status) {
	s.Helper()
	if e := s.execution(at); e == nil || e.Status != want {
		s.Fatalf("the execution of %s is %+v, not %s", at.Format(time.TimeOnly), e, want)
	}
}

func (s *stage) planes() *assemble.Belfry { return s.w.Control }

// soon is a job that is due once, in two minutes of the bubble's first moment.
func soon() (job.Definition, time.Time) {
	at := time.Date(2000, 1, 1, 0, 2, 0, 0, time.UTC)
	return job.Definition{Schedule: job.Schedule{At: at}}, at
}

// later is a job whose first time lies outside the horizon, so that only a
// scan materialises it.
func later() (job.Definition, time.Time) {
	return job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *"}}, time.Date(2000, 1, 1, 0, 10, 0, 0, time.UTC)
}
