package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/dynamo"
)

// process is a worker with clients of its own; while frozen is set nothing that
// it sends arrives before a minute has passed, as when the machine stands still.
type process struct {
	*assemble.Belfry
	frozen atomic.Bool
	worker *worker.Worker
}

func (b *bench) process(name string) *process {
	b.Helper()
	p := &process{}
	config := b.backend.Config()
	config.HTTPClient = fault.Wrap(b.backend.Client(), func(fault.Call) fault.Action {
		if p.frozen.Load() {
			return fault.Delay(time.Minute)
		}
		return fault.Pass
	})
	words := 0
	clients := assemble.Clients{DynamoDB: dynamodb.NewFromConfig(config), SQS: sqs.NewFromConfig(config)}
	p.Belfry = assemble.New(clients, assemble.Settings{Shards: 4, Owner: name, Spread: func() float64 { return 0.5 },
		Pools: dispatch.Pools{{Name: "fast-io", Lease: 15 * time.Second, Ceiling: 12 * time.Hour, Slots: 4, Batch: 10}},
		Words: func() string { words++; return fmt.Sprintf("%s-%018d", name, words) }})
	if err := p.Ensure(b.Context(), clients); err != nil {
		b.Fatal(err)
	}
	var err error
	if p.worker, err = worker.New(worker.Options{Queue: p.Queues, Execution: p.Execute(nil), Pools: []worker.Pool{{Name: "fast-io", Lease: 15 * time.Second, Slots: 4, Waiting: 8}}}); err != nil {
		b.Fatal(err)
	}
	return p
}

// run runs the worker until the function returned is called. How it ends is not
// asked here: a worker whose handler does not look at its context gives up.
func (b *bench) run(p *process) (quit func()) {
	ctx, stop := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- p.worker.Run(ctx) }()
	return func() {
		stop()
		if err := <-done; err != nil {
			b.Logf("it ended with: %v", err)
		}
	}
}

// The whole way: a worker freezes past its lease within its handler, a second
// takes over and writes, the first thaws and writes. Its context has ended, its
// write at the outside is refused by the fence, and its settle by the table.
func TestAWorkerFrozenPastItsLeaseWritesNothingOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t)
		first, second := b.process("first"), b.process("second")
		began, told := make(chan struct{}), make(chan error, 1)
		worker.Handle(first.worker, "work", func(ctx context.Context, a *worker.Attempt) error {
			first.frozen.Store(true)
			close(began)
			time.Sleep(50 * time.Second) // it does not look at its context, as a handler that stands still cannot
			if ctx.Err() == nil {
				t.Error("its context has not ended")
			}
			_, err := dynamo.Update(context.WithoutCancel(ctx), b.client, setStatus("report", "old"), idempotent.FenceOf(a))
			first.frozen.Store(false)
			told <- err
			return err
		})
		worker.Handle(second.worker, "work", func(ctx context.Context, a *worker.Attempt) error {
			_, err := dynamo.Update(ctx, b.client, setStatus("report", "new"), idempotent.FenceOf(a))
			return err
		})
		at := time.Now().UTC().Add(2 * time.Second).Truncate(time.Second)
		ref := job.Ref{Tenant: "default", Job: "report"}
		d := job.Definition{Job: "report", Schedule: job.Schedule{At: at}, Target: job.Target{Handler: &job.HandlerTarget{Name: "work"}}, Timeout: job.Duration(10 * time.Minute)}
		if _, err := first.Control.Put(t.Context(), control.PutRequest{Ref: ref, Definition: d, Actor: "test"}); err != nil {
			t.Fatal(err)
		}
		defer b.run(first)()
		<-began
		defer b.run(second)()
		if err := <-told; !errors.Is(err, idempotent.ErrFenced) {
			t.Errorf("the thawed worker was told %v", err)
		}
		time.Sleep(5 * time.Minute)
		b.wantText("report", "status", "new")
		e, err := second.Store.Execution(t.Context(), ref, job.ScheduledKey(at))
		if err != nil || e.Status != job.Succeeded || e.Attempt != 2 || e.Lost != 1 {
			t.Errorf("the execution is %+v, %v", e, err)
		}
	})
}
