package clock

import (
	"sync"
	"time"
)

// skewWindow is how long samples are held against each other: a clock may be set
// at any time.
const skewWindow = 5 * time.Minute

// Skew tells how far this machine's clock is off, by what a service says of the
// time in its answers. Such a word is exact to a second, and says when the answer
// was made: at some moment between the request and its arrival. So each sample
// bounds what is to be added to the local clock, and samples of a few minutes
// bound it closely. The zero value is ready to use, and safe for concurrent use.
type Skew struct {
	mu        sync.Mutex
	low, high time.Duration // what is to be added lies between them
	since     time.Time     // local time of the first of these samples; zero = none
}

// Sample takes one answer: when the request was sent and the answer arrived, by
// the local clock, and what the service said of the time. A sample that
// contradicts those before begins anew: the clock was set in between.
func (s *Skew) Sample(sent, received, said time.Time) {
	low, high := said.Sub(received), said.Add(time.Second).Sub(sent)
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := s.since.IsZero() || received.Sub(s.since) > skewWindow || received.Before(s.since)
	if !fresh && max(s.low, low) <= min(s.high, high) {
		s.low, s.high = max(s.low, low), min(s.high, high)
		return
	}
	s.low, s.high, s.since = low, high, received
}

// Correction is what is to be added to the local clock: zero while it may be
// right, else what brings it to the nearest time that the answers allow.
func (s *Skew) Correction() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.low > 0 {
		return s.low
	}
	return min(s.high, 0)
}

// Off is by how much the local clock is off at least; zero while no sample shows
// that it is.
func (s *Skew) Off() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.low, -s.high, 0)
}
