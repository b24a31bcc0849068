package worker

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

const (
	longPoll = 20 * time.Second
	// mostPolls bounds the receives that one lane has under way at once.
	mostPolls = 8
)

// lane takes the messages of one queue and carries each through. A pool has
// two: its queue, and its isolation queue with a quarter of the slots.
type lane struct {
	w        *Worker
	pool     string
	queue    *queue.Queue
	isolated bool
	places   *places
	figures  *observe.Batch
	polls    int // receives that may be under way at once

	stopping context.Context // ends when the worker was told to stop
	working  context.Context // ends when running attempts are canceled
	pollers  *sync.WaitGroup
	hands    *sync.WaitGroup

	mu     sync.Mutex
	active int // receives under way or about to be
}

// poll receives until the worker stops, or until it finds nothing and others
// still poll. A full answer calls another one to help, so that a burst meets
// many and an idle queue costs one long poll.
func (l *lane) poll() {
	for failures := 0; ; {
		n := l.places.ask(l.stopping)
		l.figures.Flush()
		if n == 0 {
			l.retire(true)
			return
		}
		received, err := l.queue.Receive(l.stopping, n, longPoll, l.w.visibility(l.pool))
		l.take(n, received)
		if err != nil {
			failures++
			if l.stopping.Err() == nil {
				l.w.log.Warn("receive failed", slog.String("queue", l.queue.Name()), slog.Any("error", err))
				_ = l.w.clock.Wait(l.stopping, l.w.clock.Now().Add(l.w.backoff(failures)))
			}
			continue
		}
		failures = 0
		switch {
		case len(received) == n:
			l.help()
		case len(received) == 0 && l.retire(false):
			return
		}
	}
}

// help starts one more poll, up to the bound.
func (l *lane) help() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active < l.polls {
		l.active++
		l.pollers.Go(l.poll)
	}
}

// retire takes the calling poll out of the count unless it is the last; always
// when forced.
func (l *lane) retire(forced bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.active > 1 || forced {
		l.active--
		return true
	}
	return false
}

// backoff is the wait after the n-th failure in a row: from 100 ms to 10 s,
// spread so that workers do not come back together.
func (w *Worker) backoff(n int) time.Duration {
	wait := math.Min(float64(100*time.Millisecond)*math.Pow(2, float64(min(n, 20)-1)), float64(10*time.Second))
	return time.Duration(wait * (0.5 + w.service.Spread()))
}

// take turns a receive's answer into places held, and carries each message.
func (l *lane) take(asked int, received []queue.Received) {
	now := l.w.clock.Now()
	var came [stages]int
	stageOf := make([]stage, len(received))
	parcels := make([]*parcel, len(received))
	opened := make([]error, len(received))
	for i, m := range received {
		parcels[i] = &parcel{w: l.w, queue: l.queue, received: m, isolated: l.isolated, pool: l.pool, figures: l.figures}
		parcels[i].work, opened[i] = queue.Open(m.Body)
		stageOf[i] = due
		if ahead := parcels[i].work.NotBefore.Sub(now); opened[i] == nil && ahead > 0 && ahead <= aheadHere {
			stageOf[i] = early
		}
		came[stageOf[i]]++
	}
	l.places.took(asked, came)
	for i, p := range parcels {
		l.hands.Go(func() { l.carry(p, stageOf[i], opened[i]) })
	}
}

// carry takes one message to its end: deleted, or hidden until its next try.
func (l *lane) carry(p *parcel, at stage, opened error) {
	settle := context.WithoutCancel(l.working)
	h := &place{places: l.places, patience: patience, isolated: l.isolated, at: at}
	if opened != nil {
		p.unreadable(settle, opened)
		h.leave()
		return
	}
	ctx, cancel := context.WithCancelCause(l.working)
	defer cancel(nil)
	h.hold = context.AfterFunc(l.stopping, func() { cancel(errStopped) })
	defer h.hold() // else each message that never began would be remembered until the stop
	disposal := p.process(ctx, h.begin)
	h.leave()
	if disposal.Delete {
		p.delete(settle)
		return
	}
	if errors.Is(context.Cause(ctx), errStopped) && disposal.Err != nil {
		disposal.Hide = 0
	}
	p.hide(settle, disposal.Hide)
}
