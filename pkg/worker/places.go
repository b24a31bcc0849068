package worker

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// errNoPlace gives a message back that could not begin soon after it was due:
// another worker may have room for it.
var errNoPlace = errors.New("no slot became free in time")

// errStopped gives a message back because the worker was told to stop.
var errStopped = errors.New("the worker was told to stop")

// stage is where a message in this worker's hands is.
type stage int

const (
	early   stage = iota // waits for the second in which it is due
	due                  // waits for a slot, or is being read
	running              // holds a slot
	stages
)

// places counts what one lane of a worker holds, so that it never takes more
// than it has room for.
type places struct {
	slots   int
	waiting int
	slot    *semaphore.Weighted // hands slots out in order

	mu      sync.Mutex
	changed *sync.Cond
	asked   int // places promised to receives that are under way
	held    [stages]int
}

func newPlaces(slots, waiting int) *places {
	p := &places{slots: slots, waiting: waiting, slot: semaphore.NewWeighted(int64(slots))}
	p.changed = sync.NewCond(&p.mu)
	return p
}

// room is how many more messages may be taken, whether they turn out early or
// due. The caller holds the lock.
func (p *places) room() int {
	return min(p.slots-p.held[running]-p.held[due], p.waiting-p.held[early]) - p.asked
}

// least is the room below which no receive is worth its request.
func (p *places) least() int { return min(max(p.slots/16, 1), p.waiting, receiveMost) }

// receiveMost is the most that one receive can bring.
const receiveMost = 10

// ask waits for room and promises it to a receive; 0 when the context ends.
func (p *places) ask(ctx context.Context) int {
	stop := context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.changed.Broadcast()
	})
	defer stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.room() < p.least() {
		if ctx.Err() != nil {
			return 0
		}
		p.changed.Wait()
	}
	if ctx.Err() != nil {
		return 0
	}
	n := min(p.room(), receiveMost)
	p.asked += n
	return n
}

// took turns what was promised into what came.
func (p *places) took(asked int, came [stages]int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked -= asked
	for s, n := range came {
		p.held[s] += n
	}
	p.changed.Broadcast()
}

// move lets a message that held one place hold n of another stage.
func (p *places) move(from, to stage, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[from]--
	p.held[to] += n
	p.changed.Broadcast()
}

func (p *places) drop(from stage, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[from] -= n
	p.changed.Broadcast()
}

// place is one message's way through the stages.
type place struct {
	places   *places
	patience time.Duration
	isolated bool // the lane is an isolation queue's
	mu       sync.Mutex
	at       stage
	slots    int         // held while running: one, or all
	hold     func() bool // ends the watch for a stop; false when the stop came first
}

// need is how many slots an attempt takes. On the isolation queue executions
// that have cost one worker run side by side: most of them only stood beside the
// one that did it. One that has cost a second worker runs alone.
func (h *place) need(seen *job.Execution) int {
	if h.isolated && seen != nil && seen.Status == job.Running && seen.Lost > 0 {
		return h.places.slots
	}
	return 1
}

// begin waits for a slot, at most for the patience. Once it has returned nil a
// stop no longer ends the message's context.
func (h *place) begin(ctx context.Context, seen *job.Execution) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at == running {
		return nil
	}
	if h.at == early {
		h.places.move(early, due, 1)
		h.at = due
	}
	bounded, stop := context.WithTimeoutCause(ctx, h.patience, errNoPlace)
	defer stop()
	h.slots = h.need(seen)
	if h.places.slot.Acquire(bounded, int64(h.slots)) != nil {
		return context.Cause(bounded)
	}
	h.places.move(due, running, h.slots)
	h.at = running
	if !h.hold() {
		return errStopped
	}
	return nil
}

// leave gives up whatever the message holds.
func (h *place) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.at != running {
		h.places.drop(h.at, 1)
		return
	}
	h.places.slot.Release(int64(h.slots))
	h.places.drop(running, h.slots)
}
