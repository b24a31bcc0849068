package dispatch

import (
	"context"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Queue sends parcels. pkg/queue satisfies it. Each call answers per parcel:
// nil once the queue has it.
type Queue interface {
	// Send puts each parcel into its pool's queue, hidden until it is due.
	Send(ctx context.Context, parcels []job.Parcel) []error
}

// Service is the dispatch plane.
type Service struct {
	Queue        Queue
	RestoreEpoch int64
}

// Admit sends executions to the queues of their pools; the answer has one
// error or nil for each.
func (s *Service) Admit(ctx context.Context, executions []*job.Execution) []error {
	parcels := make([]job.Parcel, len(executions))
	for i, e := range executions {
		parcels[i] = s.parcel(e, false)
	}
	return s.Queue.Send(ctx, parcels)
}

// Send admits one execution.
func (s *Service) Send(ctx context.Context, e *job.Execution) error {
	return s.Queue.Send(ctx, []job.Parcel{s.parcel(e, false)})[0]
}

// Isolate sends a successor message to the pool's isolation queue, whose
// worker runs one execution at a time: one that killed its last worker must
// not take neighbours with it.
func (s *Service) Isolate(ctx context.Context, e *job.Execution) error {
	return s.Queue.Send(ctx, []job.Parcel{s.parcel(e, true)})[0]
}

func (s *Service) parcel(e *job.Execution, isolated bool) job.Parcel {
	return job.Parcel{Ref: e.Ref, Key: e.Key, Epoch: e.Epoch, RestoreEpoch: s.RestoreEpoch, Pool: e.Pool, NotBefore: e.AvailableAt, Isolated: isolated}
}
