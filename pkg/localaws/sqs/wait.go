package sqs

import (
	"container/list"
	"time"
)

// waiter is one long poll. Its channel is closed once, by whoever takes it out
// of the queue's list.
type waiter struct {
	woken chan struct{}
	place *list.Element
}

// wait adds a long poll to the queue. The caller must hold the lock, release
// it while it waits, and call leave when it gives up.
func (q *queue) wait() *waiter {
	w := &waiter{woken: make(chan struct{})}
	w.place = q.waiters.PushBack(w)
	return w
}

// leave takes the attempt's poll off the list, if it is one. A poll that was
// woken and does not stay to receive hands its turn on.
func (s *Service) leave(try attempt) {
	if try.waiter == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-try.waiter.woken:
		s.settle(try.queue, clock())
	default:
		try.queue.waiters.Remove(try.waiter.place)
	}
}

// settle ends every change of a queue: it wakes one long poll if there is
// something for it, and sets the timer for the next message that time alone
// makes visible. A woken poll settles the queue again after it has taken what
// it wanted, so that the next poll gets the rest.
func (s *Service) settle(q *queue, now int64) {
	s.expire(q, now)
	if q.waiters.Len() > 0 && q.counts[ready] > 0 && q.counts[inFlight] < s.options.MaxInFlight {
		w := q.waiters.Remove(q.waiters.Front()).(*waiter)
		close(w.woken)
	}
	q.arm(now, func() { s.timerEnded(q) })
}

// expire advances the queue and marks what has expired as gone.
func (s *Service) expire(q *queue, now int64) {
	for _, m := range q.advance(now) {
		s.pending.drop(q, m)
	}
}

func (s *Service) timerEnded(q *queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle(q, clock())
}

// arm keeps one timer per queue that somebody waits on, and none otherwise.
func (q *queue) arm(now int64, ended func()) {
	next := q.timed.first()
	if q.waiters.Len() == 0 || next == nil {
		if q.timer != nil {
			q.timer.Stop()
		}
		return
	}
	left := time.Duration(next.visibleAt - now)
	if q.timer == nil {
		q.timer = time.AfterFunc(left, ended)
		return
	}
	q.timer.Reset(left)
}

// dismissWaiters wakes every long poll, which then finds the queue or the
// service gone.
func (q *queue) dismissWaiters() {
	for q.waiters.Len() > 0 {
		w := q.waiters.Remove(q.waiters.Front()).(*waiter)
		close(w.woken)
	}
	if q.timer != nil {
		q.timer.Stop()
	}
}

// clock is this server's clock.
func clock() int64 { return time.Now().UnixNano() }
