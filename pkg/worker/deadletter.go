package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/belfry-scheduler/belfry/pkg/queue"
)

// deadLetterVisibility is how long a message of a dead-letter queue is hidden
// while it is looked at.
const deadLetterVisibility = time.Minute

// redriveAll consumes one pool's dead-letter queue until ctx ends.
func (w *Worker) redriveAll(ctx context.Context, pool Pool) {
	q := w.queue.Queue(w.queue.Names.DeadLetter(pool.Name))
	for failures := 0; ctx.Err() == nil; {
		received, err := q.Receive(ctx, receiveMost, longPoll, deadLetterVisibility)
		if err != nil {
			failures++
			if ctx.Err() == nil {
				w.log.Warn("receive failed", slog.String("queue", q.Name()), slog.Any("error", err))
				_ = w.clock.Wait(ctx, w.clock.Now().Add(w.backoff(failures)))
			}
			continue
		}
		failures = 0
		w.redriveBatch(context.WithoutCancel(ctx), q, received, true)
	}
}

// redriveBatch carries out the dead-letter table for each message and returns
// the ids of those that stay in the queue. delete is false where the platform
// deletes what is not returned.
func (w *Worker) redriveBatch(ctx context.Context, q *queue.Queue, received []queue.Received, deletes bool) []string {
	stays := make([]bool, len(received))
	var all sync.WaitGroup
	for i, m := range received {
		all.Go(func() {
			p := &parcel{w: w, queue: q, received: m}
			stays[i] = !w.redrive(ctx, p)
			if !stays[i] && deletes {
				p.delete(ctx)
			}
		})
	}
	all.Wait()
	var kept []string
	for i, m := range received {
		if stays[i] {
			kept = append(kept, m.ID)
		}
	}
	return kept
}

// redrive reports whether the message may be deleted; else it has been hidden.
func (w *Worker) redrive(ctx context.Context, p *parcel) bool {
	work, err := queue.Open(p.received.Body)
	if err != nil {
		// Nothing dead-letters a message of this queue again: it waits, hidden, for
		// a newer build or a person.
		level := slog.LevelError
		if errors.Is(err, queue.ErrNewerSchema) {
			level = slog.LevelWarn
		}
		w.log.Log(ctx, level, "dead letter kept", slog.String("queue", p.queue.Name()), slog.Any("error", err))
		p.hide(ctx, malformedHide)
		return false
	}
	work.Message.Receives = p.received.Receives
	disposal := w.service.Redrive(ctx, work.Message)
	if disposal.Err != nil {
		w.log.Warn("dead letter not carried through", slog.String("queue", p.queue.Name()), slog.String("job", work.Message.Ref.String()),
			slog.String("key", work.Message.Key.String()), slog.Any("error", disposal.Err))
	}
	if !disposal.Delete {
		p.hide(ctx, disposal.Hide)
	}
	return disposal.Delete
}

// DeadLetter is the handler of the function behind the dead-letter queues. What
// is over is dropped, what is used up ends, and all else is woken again.
func (w *Worker) DeadLetter() func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
	return func(ctx context.Context, e events.SQSEvent) (events.SQSEventResponse, error) {
		response := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
		for name, received := range byQueue(e) {
			for _, id := range w.redriveBatch(ctx, w.queue.Queue(name), received, false) {
				response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: id})
			}
		}
		return response, nil
	}
}
