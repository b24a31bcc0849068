package platform

import (
	"context"
	"sync"
	"time"
)

const (
	rampStart = 5                 // invocations at once when a backlog begins
	rampStep  = time.Minute / 300 // for one more
)

// slots bound how many invocations run at once.
type slots struct {
	limit int
	ramp  bool

	mu      sync.Mutex
	used    int
	backlog bool          // the last receive brought something
	busy    time.Time     // since when
	changed chan struct{} // closed and replaced when a slot comes free
}

func newSlots(limit int, ramp bool) *slots {
	return &slots{limit: limit, ramp: ramp, changed: make(chan struct{})}
}

// take waits for a slot and tells whether it got one before ctx ended.
func (s *slots) take(ctx context.Context) bool {
	for ctx.Err() == nil {
		changed, grows, ok := s.try(time.Now())
		if ok {
			return true
		}
		var timer *time.Timer
		var grown <-chan time.Time
		if grows > 0 {
			timer = time.NewTimer(grows)
			grown = timer.C
		}
		select {
		case <-changed:
		case <-grown:
		case <-ctx.Done():
		}
		if timer != nil {
			timer.Stop()
		}
	}
	return false
}

// try takes a slot if there is one. Otherwise it returns what to wait for: a
// slot that comes free, or, while the ramp grows, the time to the next one.
func (s *slots) try(now time.Time) (changed <-chan struct{}, grows time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used < s.allowed(now) {
		s.used++
		return nil, 0, true
	}
	if s.ramp && s.backlog && s.used < s.limit {
		grows = rampStep - now.Sub(s.busy)%rampStep
	}
	return s.changed, grows, false
}

func (s *slots) allowed(now time.Time) int {
	if !s.ramp {
		return s.limit
	}
	if !s.backlog {
		return min(s.limit, rampStart)
	}
	return min(s.limit, rampStart+int(now.Sub(s.busy)/rampStep))
}

func (s *slots) free() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
	close(s.changed)
	s.changed = make(chan struct{})
}

// received tells whether a receive brought anything: a ramp begins with the
// first batch and ends when the queue is found empty.
func (s *slots) received(something bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if something && !s.backlog {
		s.busy = time.Now()
	}
	s.backlog = something
}
