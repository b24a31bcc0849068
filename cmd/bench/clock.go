package main

import (
	"context"
	"sync"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/clock"
)

// setClock stands still until it is set, so that a bench takes no heartbeat and
// no second page because the machine was slow. Waits of less than a second, in
// which requests are gathered, are waited out in real time; longer ones end when
// the clock is set that far.
type setClock struct {
	mu      sync.Mutex
	now     time.Time
	changed chan struct{} // closed and replaced when the clock is set
}

func newSetClock(at time.Time) *setClock {
	return &setClock{now: at, changed: make(chan struct{})}
}

// Now is the time that the clock was set to.
func (c *setClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// set moves the clock, never backwards.
func (c *setClock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at.After(c.now) {
		c.now = at
		close(c.changed)
		c.changed = make(chan struct{})
	}
}

// Wait returns nil once the clock stands at until or after it, or the context's
// error.
func (c *setClock) Wait(ctx context.Context, until time.Time) error {
	for {
		c.mu.Lock()
		left, changed := until.Sub(c.now), c.changed
		c.mu.Unlock()
		switch {
		case left <= 0:
			return ctx.Err()
		case left < time.Second:
			return clock.System{}.Wait(ctx, clock.System{}.Now().Add(left))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}
