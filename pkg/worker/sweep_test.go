package worker_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/localaws/platform"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// TestNoFaultOfASingleCallLosesAnExecution puts every fault at every call that
// a worker makes while it carries an execution through a failed attempt and a
// long one. A second worker, without faults, is there all the time after.
func TestNoFaultOfASingleCallLosesAnExecution(t *testing.T) {
	actions := []fault.Action{fault.Throttle, fault.FailBefore, fault.LoseResponse, fault.CrashBefore, fault.CrashAfter}
	runs := fault.Sweep(actions, nil, func(trial fault.Trial) {
		t.Run(trial.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { carryThrough(t, trial.Decide, (*proc).run) })
		})
	})
	if runs < 50 {
		t.Errorf("%d runs with a fault; the sweep has lost its scenario", runs)
	}
}

// TestNoFaultOfAFunctionLosesAnExecution does the same where the first worker is
// a function that the platform invokes.
func TestNoFaultOfAFunctionLosesAnExecution(t *testing.T) {
	actions := []fault.Action{fault.FailBefore, fault.LoseResponse, fault.CrashBefore, fault.CrashAfter}
	runs := fault.Sweep(actions, nil, func(trial fault.Trial) {
		t.Run(trial.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { carryThrough(t, trial.Decide, (*proc).invoked) })
		})
	})
	if runs < 50 {
		t.Errorf("%d runs with a fault; the sweep has lost its scenario", runs)
	}
}

// TestNoOutageLosesAnExecution lets every call fail, from each call on for
// 40 s: longer than the SDK tries and than the lease.
func TestNoOutageLosesAnExecution(t *testing.T) {
	runs := fault.Sweep([]fault.Action{fault.FailBefore, fault.LoseResponse}, nil, func(trial fault.Trial) {
		t.Run(trial.Name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { carryThrough(t, outage(trial, 40*time.Second), (*proc).run) })
		})
	})
	if runs < 20 {
		t.Errorf("%d runs with an outage; the sweep has lost its scenario", runs)
	}
}

// outage goes on with a trial's fault for so long.
func outage(trial fault.Trial, length time.Duration) func(fault.Call) fault.Action {
	var since time.Time
	return func(c fault.Call) fault.Action {
		if since.IsZero() {
			action := trial.Decide(c)
			if trial.Fired() {
				since = time.Now()
			}
			return action
		}
		if time.Since(since) < length {
			return trial.Action
		}
		return fault.Pass
	}
}

// ran is one attempt that a handler saw.
type ran struct {
	owner string
	token int64
	at    time.Time
	ended bool
}

func carryThrough(t *testing.T, decide func(fault.Call) fault.Action, way func(*proc, *testing.T) func()) {
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = backend.Close() }()
	healthy := process(t, backend, nil, "worker-b")
	if err := healthy.Ensure(t.Context(), healthy.clients); err != nil {
		t.Fatal(err)
	}
	at := soon(time.Second)
	ref := job.Ref{Tenant: "default", Job: "swept"}
	definition := job.Definition{Job: "swept", Schedule: job.Schedule{At: at}, Target: job.Target{Handler: &job.HandlerTarget{Name: "work"}}}
	if _, err := healthy.Control.Put(t.Context(), control.PutRequest{Ref: ref, Definition: definition, Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var attempts []*ran
	handler := func(owner string) worker.Handler {
		return func(ctx context.Context, a *worker.Attempt) error {
			mu.Lock()
			r := &ran{owner: owner, token: a.FencingToken(), at: time.Now()}
			attempts = append(attempts, r)
			mu.Unlock()
			if a.Number() == 1 {
				return errUsual
			}
			select {
			case <-time.After(8 * time.Second):
			case <-ctx.Done():
				return ctx.Err()
			}
			mu.Lock()
			defer mu.Unlock()
			r.ended = true
			return nil
		}
	}
	faulty := process(t, backend, decide, "worker-a")
	worker.Handle(faulty.worker, "work", handler("worker-a"))
	worker.Handle(healthy.worker, "work", handler("worker-b"))
	faulty.platform = healthy.clients.SQS
	stopFaulty := way(faulty, t)
	select {
	case <-faulty.transport.Crashed():
		stopFaulty()
	case <-time.After(time.Until(at) + 20*time.Second):
	}
	stopHealthy := healthy.run(t)
	time.Sleep(4 * time.Minute)
	stopFaulty()
	stopHealthy()
	mu.Lock()
	defer mu.Unlock()
	verdict(t, healthy, ref, at, attempts)
}

// verdict wants one success under the highest token, and no message left.
func verdict(t *testing.T, p *proc, ref job.Ref, at time.Time, attempts []*ran) {
	t.Helper()
	e, err := p.Store.Execution(t.Context(), ref, job.ScheduledKey(at))
	if err != nil || e == nil || e.Status != job.Succeeded {
		t.Fatalf("%+v, %v; want SUCCEEDED", e, err)
	}
	seen := make(map[int64]bool)
	for _, r := range attempts {
		if r.at.Before(at) || seen[r.token] || r.token > e.FencingToken {
			t.Errorf("attempt %+v: early, under a token used before, or newer than the settled one (%d)", *r, e.FencingToken)
		}
		seen[r.token] = true
	}
	if last := attempts[len(attempts)-1]; !last.ended || last.token != e.FencingToken {
		t.Errorf("the last attempt %+v is not the one that settled (%d)", *last, e.FencingToken)
	}
	b := &bench{T: t, sqs: p.clients.SQS}
	for _, name := range []string{"belfry-fast-io", "belfry-fast-io-isolation", "belfry-fast-io-dlq"} {
		if visible, hidden := b.messages(name); visible+hidden != 0 {
			t.Errorf("%d visible and %d hidden messages are left on %s", visible, hidden, name)
		}
	}
}

// proc is one simulated process: its own SDK clients, planes and worker.
type proc struct {
	*assemble.Belfry
	clients   assemble.Clients
	transport *fault.Client
	worker    *worker.Worker
	platform  *sqs.Client // of what drives the process as a function
}

func process(t *testing.T, backend *localaws.Backend, decide func(fault.Call) fault.Action, owner string) *proc {
	t.Helper()
	p := &proc{transport: fault.Wrap(backend.Client(), decide)}
	config := backend.Config()
	config.HTTPClient = p.transport
	p.clients = assemble.Clients{DynamoDB: dynamodb.NewFromConfig(config), SQS: sqs.NewFromConfig(config)}
	var mu sync.Mutex
	words := 0
	p.Belfry = assemble.New(p.clients, assemble.Settings{Shards: 4, Owner: owner, Spread: func() float64 { return 0.5 },
		Pools: dispatch.Pools{{Name: "fast-io", Lease: 15 * time.Second, Ceiling: time.Hour, Slots: 4, Batch: 10}},
		Words: func() string {
			mu.Lock()
			defer mu.Unlock()
			words++
			return fmt.Sprintf("%s-%018d", owner, words)
		}})
	w, err := worker.New(worker.Options{Queue: p.Queues, Execution: p.Execute(nil), Pools: []worker.Pool{{Name: "fast-io", Lease: 15 * time.Second, Slots: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	p.worker = w
	return p
}

// run starts the worker; the function returned stops it and waits.
func (p *proc) run(t *testing.T) func() {
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := p.worker.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	return func() { stop(); <-done }
}

// invoked drives the process as a function on the pool's queue; the function
// returned stops the driver and waits.
func (p *proc) invoked(t *testing.T) func() {
	out, err := p.platform.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String("belfry-fast-io")})
	if err != nil {
		t.Fatal(err)
	}
	serve := p.worker.Lambda()
	poller := &platform.Poller{Client: p.platform, Queue: *out.QueueUrl, PartialFailures: true, Runtime: platform.Runtime{Timeout: 90 * time.Second},
		Function: func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
			response, err := serve(ctx, e)
			select {
			case <-p.transport.Crashed():
				return events.SQSEventResponse{}, fault.ErrCrashed
			default:
				return response, err
			}
		}}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := poller.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	return func() { stop(); <-done }
}
