package sim

import (
	"context"
	"fmt"
	"time"

	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// StartCrowd starts what Start does, and more scanners and platform ticks beside.
func (w *World) StartCrowd(ctx context.Context, scanners, ticks int) {
	ctx, end := context.WithCancel(ctx)
	w.Start(ctx)
	stop := w.stop
	w.stop = func() { stop(); end() }
	for i := 1; i < scanners; i++ {
		w.process(ctx, fmt.Sprint("scan-", i), w.scanMessages)
	}
	for i := 1; i < ticks; i++ {
		w.process(ctx, fmt.Sprint("tick-", i), w.tickEachMinute)
	}
}

// StartWithoutWorkers starts the schedulers alone, and gives back what starts the
// workers and their dead-letter consumers.
func (w *World) StartWithoutWorkers(ctx context.Context) (startWorkers func()) {
	ctx, w.stop = context.WithCancel(ctx)
	w.startSchedulers(ctx)
	return func() { w.startWorkers(ctx) }
}

// Assembled is a further installation view over the same backend, with settings
// of its own.
func (w *World) Assembled(s assemble.Settings) *assemble.Belfry {
	s.Words, s.Spread, s.Pools = w.word, func() float64 { return 0.5 }, w.Options.Pools
	return assemble.New(w.clients(s.Owner, nil), s)
}

// StartContainers starts the platform's tick, a scanner and so many container
// workers, each serving its pool's queue and isolation queue in one process.
func (w *World) StartContainers(ctx context.Context, containers int, register func(name string, w *worker.Worker)) {
	ctx, w.stop = context.WithCancel(ctx)
	w.process(ctx, "tick", w.tickEachMinute, w.tickMessages)
	w.process(ctx, "scan", w.scanMessages)
	for n := range containers {
		w.process(ctx, fmt.Sprint("container-", n), func(ctx context.Context, i *incarnation) {
			service := *i.execute
			service.Work = nil
			var pools []worker.Pool
			for _, p := range w.Options.Pools {
				pools = append(pools, worker.Pool{Name: p.Name, Lease: p.Lease, Slots: p.Slots})
			}
			made, err := worker.New(worker.Options{Queue: i.planes.Queues, Execution: &service, Pools: pools, Drain: time.Second})
			if err != nil {
				panic(err)
			}
			register(i.name, made)
			_ = made.Run(ctx)
		})
	}
}

// CheckJob is Check without the changes of all executions.
func (w *World) CheckJob(ctx context.Context, ref job.Ref, from, upto time.Time) error {
	return w.checkJob(ctx, ref, from, upto)
}

// Changes shows every change that the executions table has ever seen.
func (w *World) Changes(ctx context.Context, see func(before, after *job.Execution)) error {
	return w.changes(ctx, func(_ *streamtypes.StreamRecord, before, after *job.Execution) {
		if after != nil {
			see(before, after)
		}
	})
}
