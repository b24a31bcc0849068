package execute_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

const (
	lease  = 15 * time.Second
	margin = time.Second // 2ε
)

var nightly = job.Ref{Tenant: "default", Job: "nightly"}

// bench is one worker on the real store, in a bubble whose clock stands still
// unless all wait. Each hook, where set, stands in for a call of the store.
type bench struct {
	*testing.T
	*execute.Service
	*hooks
	backend *localaws.Backend
	store   *store.Store
	begun   time.Time // when the bench was made; the execution is due then
	spread  float64

	mu       sync.Mutex
	isolated []*job.Execution
	extended map[time.Duration]time.Duration // by the time since begun
	released []time.Duration
}

// hooks are the store's executions with a place to interfere.
type hooks struct {
	*store.Store
	claim  func(job.ClaimRequest) (*job.Execution, error)
	beat   func(context.Context, *job.Execution, time.Time) (*job.Execution, error)
	settle func(context.Context, *job.Execution, lifecycle.Transition, time.Time) error
	rewake func(*job.Execution, time.Time) error
	closes func(*job.Execution, lifecycle.Transition) error
	read   func() (*job.Execution, error)
}

func (h *hooks) Claim(ctx context.Context, c job.ClaimRequest) (*job.Execution, error) {
	if h.claim != nil {
		return h.claim(c)
	}
	return h.Store.Claim(ctx, c)
}

func (h *hooks) Beat(ctx context.Context, held *job.Execution, until time.Time) (*job.Execution, error) {
	if h.beat != nil {
		return h.beat(ctx, held, until)
	}
	return h.Store.Beat(ctx, held, until)
}

func (h *hooks) Settle(ctx context.Context, held *job.Execution, t lifecycle.Transition, wakeAt time.Time) error {
	if h.settle != nil {
		return h.settle(ctx, held, t, wakeAt)
	}
	return h.Store.Settle(ctx, held, t, wakeAt)
}

func (h *hooks) Rewake(ctx context.Context, seen *job.Execution, at time.Time, redrive bool) error {
	if h.rewake != nil {
		if err := h.rewake(seen, at); err != nil {
			return err
		}
	}
	return h.Store.Rewake(ctx, seen, at, redrive)
}

func (h *hooks) Close(ctx context.Context, seen *job.Execution, t lifecycle.Transition) error {
	if h.closes != nil {
		if err := h.closes(seen, t); err != nil {
			return err
		}
	}
	return h.Store.Close(ctx, seen, t)
}

func (h *hooks) Execution(ctx context.Context, ref job.Ref, key job.Key) (*job.Execution, error) {
	if h.read != nil {
		return h.read()
	}
	return h.Store.Execution(ctx, ref, key)
}

// Isolate and Lease stand in for the dispatch plane.
func (b *bench) Isolate(_ context.Context, e *job.Execution) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.isolated = append(b.isolated, e)
	return nil
}

func (b *bench) Lease(string) time.Duration { return lease }

// inBubble runs the test with one due execution of job nightly at revision 1,
// epoch 1; change edits the job's definition first.
func inBubble(t *testing.T, change func(*job.Definition), test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		backend, err := localaws.New(localaws.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = backend.Close() }()
		db := dynamodb.NewFromConfig(backend.Config())
		if err := store.CreateTables(t.Context(), db, ""); err != nil {
			t.Fatal(err)
		}
		b := &bench{T: t, backend: backend, store: store.New(db, store.Options{Shards: 4}), begun: time.Now().UTC(), spread: 0.5, extended: map[time.Duration]time.Duration{}}
		b.hooks = &hooks{Store: b.store}
		words := 0
		b.Service = &execute.Service{Definitions: b.store, Executions: b.hooks, Isolator: b, Leases: b, Clock: clock.System{}, Owner: "w1",
			Nonce: func() string {
				b.mu.Lock()
				defer b.mu.Unlock()
				words++
				return fmt.Sprintf("nonce-%d", words)
			},
			Spread: func() float64 { b.mu.Lock(); defer b.mu.Unlock(); return b.spread }}
		d := job.Definition{Job: "nightly", Schedule: job.Schedule{Every: job.Duration(time.Hour)}, Target: job.Target{Log: &job.LogTarget{}}}
		if change != nil {
			change(&d)
		}
		b.create(d.WithDefaults())
		test(b)
	})
}

func (b *bench) create(d job.Definition) {
	b.Helper()
	head := job.Head{Ref: nightly, State: job.Enabled, Revision: 1, Epoch: 1, RunsFrom: 1, Schedule: d.Schedule, Anchor: b.begun, Misfire: *d.Misfire,
		Pool: d.Pool, CreatedAt: b.begun, UpdatedAt: b.begun, NextFireAt: b.begun.Add(time.Hour)}
	err := b.store.ChangeHead(b.Context(), job.HeadChange{New: head, Verb: "create", At: b.begun,
		Revision: &job.Revision{Ref: nightly, Number: 1, Epoch: 1, Definition: d, Anchor: b.begun, CreatedAt: b.begun}})
	if err != nil {
		b.Fatal(err)
	}
	b.put(b.begun, 1)
}

// put makes the execution for the second at, under the epoch.
func (b *bench) put(at time.Time, epoch int64) {
	b.Helper()
	if _, err := b.store.Put(b.Context(), &job.Execution{Ref: nightly, Key: job.ScheduledKey(at), Revision: 1, Epoch: epoch, Status: job.Scheduled,
		Pool: "fast-io", CreatedAt: b.begun, AvailableAt: at, Reason: lifecycle.Materialised, Schema: job.Schema}); err != nil {
		b.Fatal(err)
	}
}

// pause raises the head's epoch, as a pause does.
func (b *bench) pause() {
	b.Helper()
	head, err := b.store.Head(b.Context(), nightly)
	if err != nil {
		b.Fatal(err)
	}
	next := *head
	next.State, next.Epoch, next.RunsFrom, next.NextFireAt = job.Paused, head.Epoch+1, head.Epoch+1, time.Time{}
	if err := b.store.ChangeHead(b.Context(), job.HeadChange{Old: head, New: next, Verb: "pause", At: time.Now()}); err != nil {
		b.Fatal(err)
	}
}

// message is the execution's message as a worker first receives it.
func (b *bench) message() lifecycle.Message {
	return lifecycle.Message{Ref: nightly, Key: job.ScheduledKey(b.begun), Epoch: 1, Receives: 1}
}

// again is the message on its second way.
func (b *bench) again() lifecycle.Message {
	m := b.message()
	m.Receives = 2
	return m
}

// delivery is a message whose visibility is recorded, and which can be given up.
func (b *bench) delivery(m lifecycle.Message) execute.Delivery {
	return execute.Delivery{Message: m, NotBefore: m.Key.ScheduledAt,
		Extend: func(_ context.Context, d time.Duration) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.extended[b.since()] = d
			return nil
		},
		Release: func(context.Context) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.released = append(b.released, b.since())
			return nil
		}}
}

// since is the time since the execution was due.
func (b *bench) since() time.Duration { return time.Since(b.begun) }

// runs sets the handler.
func (b *bench) runs(handler func(ctx context.Context, a *execute.Attempt) *lifecycle.Failure) {
	b.Work = handler
}

// stored is the execution as it now is.
func (b *bench) stored() *job.Execution {
	b.Helper()
	e, err := b.store.Execution(b.Context(), nightly, job.ScheduledKey(b.begun))
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// cancel asks to cancel the running execution.
func (b *bench) cancel() {
	b.Helper()
	if err := b.store.RequestCancel(b.Context(), b.stored(), job.Cancel{At: time.Now(), By: "ada", Reason: lifecycle.CancelRequested}); err != nil {
		b.Error(err)
	}
}

// wantStatus checks what is stored.
func (b *bench) wantStatus(status job.Status, reason job.Reason) *job.Execution {
	b.Helper()
	e := b.stored()
	if e.Status != status || e.Reason != reason {
		b.Errorf("the execution is %s/%s, want %s/%s", e.Status, e.Reason, status, reason)
	}
	return e
}

// kept fails the test when the message is gone although nothing else keeps the
// execution: the one thing that must never happen.
func (b *bench) kept(d execute.Disposal) {
	b.Helper()
	e := b.stored()
	if d.Delete && e != nil && !lifecycle.Terminal(e.Status) && e.Status != job.Withdrawn && e.Wake.At.IsZero() && len(b.isolated) == 0 {
		b.Errorf("the message may be deleted, but the execution is %s without a wake-up: nothing keeps it", e.Status)
	}
}

var (
	throttled = &job.Error{Code: job.CodeThrottled, Message: "slow down"}
	down      = &job.Error{Code: job.CodeUnavailable, Message: "no answer"}
	http503   = &lifecycle.Failure{Class: lifecycle.Transient, Code: "HTTP_503", Text: "try later"}
)

// forAWhile is a handler that works for d and succeeds, or ends with its context.
func forAWhile(d time.Duration) execute.Work {
	return func(ctx context.Context, _ *execute.Attempt) *lifecycle.Failure {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return &lifecycle.Failure{Code: "ENDED", Text: context.Cause(ctx).Error()}
		}
	}
}
