package sim_test

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	sqslocal "github.com/belfry-scheduler/belfry/pkg/localaws/sqs"
)

// decide has a call in a hundred go wrong, and one in some thousands be its process's
// last.
func (s *soak) decide(process string, c fault.Call) fault.Action {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.N == 1 {
		s.lives[process]++
	}
	if s.doomed[process]--; s.doomed[process] == 0 {
		return s.struck(process, fault.CrashBefore)
	}
	if !time.Now().Before(s.until) {
		return fault.Pass
	}
	switch x := s.roll("fault", process, s.lives[process], c.N); {
	case x < 0.003:
		return s.struck(process, fault.Throttle)
	case x < 0.005:
		return s.struck(process, fault.FailBefore)
	case x < 0.010:
		return s.struck(process, fault.LoseResponse)
	case x < 0.0105:
		return s.struck(process, fault.CrashBefore)
	case x < 0.0110:
		return s.struck(process, fault.CrashAfter)
	case x < 0.0120:
		return s.struck(process, fault.Conflict)
	}
	return fault.Pass
}

// struck notes the fault; the lock is held.
func (s *soak) struck(process string, a fault.Action) fault.Action {
	s.trouble[process] = append(s.trouble[process], time.Now())
	name, _, _ := strings.Cut(a.String(), " before")
	name, _, _ = strings.Cut(name, " after")
	s.tally[name]++
	return a
}

// disturb has some messages come late, and some twice.
func (s *soak) disturb(m sqslocal.Sending) (d sqslocal.Disturbance) {
	if !time.Now().Before(s.until) {
		return d
	}
	if x := s.roll("late", m.Queue, m.N); x < 0.03 {
		d.Late = time.Duration(x / 0.03 * float64(100*time.Second))
		s.count("late")
	}
	if s.roll("copy", m.Queue, m.N) < 0.03 {
		d.Copies = 1
		s.count("copy")
	}
	return d
}

// freeze has processes stand still, workers most of all, longer than their leases and
// shorter.
func (s *soak) freeze(ctx context.Context) {
	processes := []string{"worker-fast-ioa", "worker-fast-iob", "worker-slowa", "worker-slowb", "isolation-fast-io", "isolation-slow", "worker-fast-ioa", "worker-slowa", "scan", "tick", "deadletter-slow"}
	for n := 0; ; n++ {
		if (clock.System{}).Wait(ctx, time.Now().Add(time.Duration(10+50*s.roll("pause", n))*time.Second)) != nil {
			return
		}
		process := processes[int(s.roll("who", n)*float64(len(processes)))]
		s.note(func() { s.freezeFor(process, time.Duration(3+87*s.roll("how long", n))*time.Second) })
	}
}

// freezeFor has a process stand still from now on; the lock is held.
func (s *soak) freezeFor(process string, d time.Duration) {
	if now := time.Now(); !now.Before(s.thaws[process]) && now.Before(s.until) {
		s.thawed[process], s.thaws[process] = s.thaws[process], now.Add(d)
		s.trouble[process] = append(s.trouble[process], now, s.thaws[process])
		s.tally["freeze"]++
	}
}

// freezeBeforeCall has a process stand still when it is just about to make its next call,
// mostly longer than its lease.
func (s *soak) freezeBeforeCall(run *soakRun, of float64) {
	if s.chance(run, "freeze "+time.Now().String(), of) {
		s.note(func() { s.armed[run.process] = true })
	}
}

// sprung has the process stand still that was to before this call.
func (s *soak) sprung(process string) {
	s.note(func() {
		if s.armed[process] {
			delete(s.armed, process)
			s.freezeFor(process, time.Duration(20+160*s.roll("sprung", process, time.Now().UnixNano()))*time.Second)
			s.tally["freeze before a call"]++
		}
	})
}

// stand waits until the process goes on, when it stands still.
func (s *soak) stand(process string) {
	s.mu.Lock()
	wait := time.Until(s.thaws[process])
	s.mu.Unlock()
	time.Sleep(wait)
}

// justThawed reports whether the process went on at this very moment: then its parts
// have not heard of what they missed. It may have been stopped again in the same moment.
// The lock is held.
func (s *soak) justThawed(process string) bool {
	now := time.Now()
	return now.Equal(s.thaws[process]) || now.Equal(s.thawed[process])
}

// freezingClock is the clock of a process that may stand still: nothing that waits goes
// on before the process does.
type freezingClock struct {
	clock.System
	soak    *soak
	process string
}

// Wait waits until the time, and until the process goes on.
func (c freezingClock) Wait(ctx context.Context, until time.Time) error {
	err := c.System.Wait(ctx, until)
	c.soak.stand(c.process)
	return err
}

// standing is the transport of a process that may stand still: what it was about to
// send goes out when it goes on, whatever has become of its contexts meanwhile.
type standing struct {
	soak *soak
	next aws.HTTPClient
}

func (s *soak) around(next aws.HTTPClient) aws.HTTPClient { return standing{s, next} }

// Do implements aws.HTTPClient.
func (f standing) Do(request *http.Request) (*http.Response, error) {
	_, process, _ := strings.Cut(request.Header.Get("User-Agent"), "app/")
	process, _, _ = strings.Cut(process, " ")
	if strings.HasSuffix(request.Header.Get("X-Amz-Target"), "ReceiveMessage") {
		return f.next.Do(request)
	}
	f.soak.sprung(process)
	f.soak.stand(process)
	response, err := f.next.Do(request.WithContext(context.WithoutCancel(request.Context())))
	f.soak.stand(process)
	return response, err
}

// doom has the process end at a call that it is soon to make.
func (s *soak) doom(process string, calls int) {
	s.note(func() {
		if time.Now().Before(s.until) {
			s.doomed[process] = calls
			s.tally["kill"]++
		}
	})
}

// troubled reports whether the process had any trouble between the times.
func (s *soak) troubled(process string, from, to time.Time) bool {
	for _, at := range s.trouble[process] {
		if !at.Before(from) && !at.After(to) {
			return true
		}
	}
	return false
}
