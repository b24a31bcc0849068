package worker

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

const (
	// windDown is what a function keeps of its time for handlers to return after
	// their context has ended (5 s), and for settling.
	windDown = 7 * time.Second
	// deleteEarly is how long a settled message waits for its batch to end: the
	// platform deletes it then. Later it would come back first.
	deleteEarly = 5 * time.Second
)

// Lambda is the handler of a function behind work queues. It carries the
// batch's messages through side by side, answers which of them stay in the
// queue, and returns only when every handler has returned or been given up, as
// nothing runs between two invocations. When the function's time runs out it
// gives back what has not begun and cancels the rest; once a handler has ignored
// its context it gives back what has not begun.
func (w *Worker) Lambda() func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
	return func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
		response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
		if err := w.Check(); err != nil {
			return response, err
		}
		w.stuck.Store(false) // of an earlier invocation
		ctx, stop := w.untilWindDown(ctx)
		defer stop()
		figures := w.metrics.Batch()
		defer figures.Flush()
		var batches []*batch
		for name, received := range byQueue(e) {
			b, err := w.newBatch(name, received, figures)
			if err != nil {
				return response, err
			}
			batches = append(batches, b)
		}
		var all sync.WaitGroup
		for _, b := range batches {
			all.Go(func() { b.run(ctx) })
		}
		all.Wait()
		for _, b := range batches {
			response.BatchItemFailures = append(response.BatchItemFailures, b.failures()...)
		}
		return response, nil
	}
}

// untilWindDown ends before the function does. A function with little time
// keeps a third of it.
func (w *Worker) untilWindDown(ctx context.Context) (context.Context, context.CancelFunc) {
	end, bounded := ctx.Deadline()
	if !bounded {
		return context.WithCancel(ctx)
	}
	left := end.Sub(w.clock.Now())
	return context.WithTimeoutCause(ctx, left-min(windDown, left/3), errStopped)
}

// byQueue sorts an event's records by the queue they came from, in order.
func byQueue(e events.SQSEvent) map[string][]queue.Received {
	sorted := make(map[string][]queue.Received)
	for _, r := range e.Records {
		name := r.EventSourceARN[strings.LastIndexByte(r.EventSourceARN, ':')+1:]
		receives, _ := strconv.Atoi(r.Attributes["ApproximateReceiveCount"])
		sorted[name] = append(sorted[name], queue.Received{ID: r.MessageId, Handle: r.ReceiptHandle, Body: r.Body,
			Group: r.Attributes["MessageGroupId"], Receives: max(receives, 1)})
	}
	return sorted
}

// batch is the messages of one queue in one invocation.
type batch struct {
	w         *Worker
	pool      string
	isolated  bool
	queue     *queue.Queue
	parcels   []*parcel
	stays     []bool
	shortened chan struct{} // closed once every message is hidden for its lease only
	ended     context.Context
	end       context.CancelFunc
}

func (w *Worker) newBatch(name string, received []queue.Received, figures *observe.Batch) (*batch, error) {
	pools := make([]string, len(w.pools))
	for i, p := range w.pools {
		pools[i] = p.Name
	}
	pool, isolated, known := w.queue.Names.Of(name, pools)
	if !known {
		return nil, fmt.Errorf("the function received from queue %q, which belongs to none of its pools: %s", name, strings.Join(pools, ", "))
	}
	b := &batch{w: w, pool: pool, isolated: isolated, queue: w.queue.Queue(name), stays: make([]bool, len(received)), shortened: make(chan struct{})}
	b.ended, b.end = context.WithCancel(context.Background())
	for _, m := range received {
		b.parcels = append(b.parcels, &parcel{w: w, queue: b.queue, received: m, isolated: isolated, pool: pool, figures: figures})
	}
	return b, nil
}

// run carries every message through. The queue's own visibility is six times
// the function's timeout, far too long for a takeover: it is shortened for all
// at once while the first reads are under way.
func (b *batch) run(ctx context.Context) {
	settle := context.WithoutCancel(ctx)
	var carried, joined sync.WaitGroup
	joined.Go(func() { b.shorten(settle) })
	for i, p := range b.parcels {
		carried.Add(1)
		joined.Go(func() {
			deletes := b.carry(ctx, settle, p)
			b.stays[i] = !deletes
			carried.Done()
			if deletes && b.w.clock.Wait(b.ended, b.w.clock.Now().Add(deleteEarly)) == nil {
				p.delete(settle)
			}
		})
	}
	carried.Wait()
	b.end()
	joined.Wait()
}

func (b *batch) shorten(ctx context.Context) {
	defer close(b.shortened)
	handles := make([]string, len(b.parcels))
	for i, p := range b.parcels {
		handles[i] = p.received.Handle
	}
	for _, err := range b.queue.HideAll(ctx, handles, b.w.visibility(b.pool)) {
		if err != nil {
			b.w.log.Warn("visibility not shortened; a takeover would come late", slog.String("queue", b.queue.Name()), slog.Any("error", err))
		}
	}
}

// carry reports whether the message may be deleted; else it has been hidden.
func (b *batch) carry(ctx, settle context.Context, p *parcel) bool {
	work, err := queue.Open(p.received.Body)
	if err != nil {
		<-b.shortened
		p.unreadable(settle, err)
		return false
	}
	p.work = work
	disposal := p.process(ctx, func(ctx context.Context, _ *job.Execution) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if b.w.stuck.Load() {
			return errStopped
		}
		return nil
	})
	if disposal.Delete {
		return true
	}
	if ctx.Err() != nil && disposal.Err != nil {
		disposal.Hide = 0
	}
	<-b.shortened
	p.hide(settle, disposal.Hide)
	return false
}

// failures names the messages that stay in the queue, in their order.
func (b *batch) failures() []events.SQSBatchItemFailure {
	var failures []events.SQSBatchItemFailure
	for i, p := range b.parcels {
		if b.stays[i] {
			failures = append(failures, events.SQSBatchItemFailure{ItemIdentifier: p.received.ID})
		}
	}
	return failures
}
