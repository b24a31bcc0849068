package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// Breakers is what all workers together know of the resources that attempts call.
// The store satisfies it.
type Breakers interface {
	// Breaker reads one; nil when nothing is known. It may be a moment old.
	Breaker(ctx context.Context, tenant, resource string) (*job.Breaker, error)
	// NoteFailure counts a failure, and returns what is there then.
	NoteFailure(ctx context.Context, f job.BreakerFailure) (*job.Breaker, error)
	// OpenBreaker opens the one seen, or keeps it open for longer; job.ErrLost and
	// what is there when another worker was first.
	OpenBreaker(ctx context.Context, seen *job.Breaker, o job.BreakerOpening) (*job.Breaker, error)
	// LeaseProbe takes a probe of the half-open one seen; job.ErrLost and what is
	// there when none is free any more.
	LeaseProbe(ctx context.Context, seen *job.Breaker, most int, at, until time.Time) (*job.Breaker, error)
	// PassProbe counts an answered probe; job.ErrLost when the turn is over.
	PassProbe(ctx context.Context, seen *job.Breaker) (*job.Breaker, error)
	// CloseBreaker closes the one seen; job.ErrLost when another worker was first.
	CloseBreaker(ctx context.Context, seen *job.Breaker, at time.Time) (*job.Breaker, error)
}

const (
	// breakerFresh is how long a worker goes by what it has read.
	breakerFresh = 3 * time.Second
	// breakerCall bounds a call about a breaker: without an answer the attempt begins,
	// as if there were none.
	breakerCall = time.Second
	// mostResources bounds how many resources a worker remembers.
	mostResources = 4096
	// forgetAfter is after how long without a use one makes room.
	forgetAfter = time.Minute
)

// breakers is what one worker knows of the resources that its attempts call.
type breakers struct {
	stored Breakers
	rules  lifecycle.BreakerRules
	clock  execute.Clock
	spread func() float64
	log    *slog.Logger

	mu  sync.Mutex
	all map[resourceKey]*known
}

// resourceKey names a resource.
type resourceKey struct{ tenant, resource string }

// known is one resource. reading holds one while somebody reads it: unlike a lock it
// is given up with the context.
type known struct {
	resourceKey
	reading chan struct{}

	mu       sync.Mutex
	breaker  *job.Breaker // nil: nothing is known
	readAt   time.Time    // zero: never
	answered bool         // since the last failure that was told
}

// leave is the leave to begin that an attempt was given.
type leave struct {
	of    *known
	ref   job.Ref
	probe *job.Breaker // as leased; nil: the attempt is no probe
}

func (k *breakers) of(tenant, resource string, now time.Time) *known {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := resourceKey{tenant, resource}
	if one, there := k.all[p]; there {
		return one
	}
	if len(k.all) >= mostResources {
		for old, one := range k.all {
			if now.Sub(one.lastRead()) > forgetAfter {
				delete(k.all, old)
			}
		}
	}
	one := &known{resourceKey: p, reading: make(chan struct{}, 1)}
	if len(k.all) < mostResources {
		k.all[p] = one
	}
	return one
}

func (n *known) lastRead() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.readAt
}

// learn keeps what was read or written, unless a later turn is known by now.
func (n *known) learn(b *job.Breaker, at time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.breaker != nil && at.Sub(n.readAt) < forgetAfter && (b == nil || b.Turn < n.breaker.Turn) {
		b = n.breaker // an answer may be older than the one before it
	}
	n.breaker, n.readAt = b, at
}

func (n *known) current() (b *job.Breaker, readAt time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.breaker, n.readAt
}

// look is the breaker, read anew unless that was done moments ago.
func (k *breakers) look(ctx context.Context, n *known) *job.Breaker {
	fresh := func() (*job.Breaker, bool) {
		b, at := n.current()
		age := k.clock.Now().Sub(at)
		return b, !at.IsZero() && age >= 0 && age < breakerFresh
	}
	if b, is := fresh(); is {
		return b
	}
	select {
	case n.reading <- struct{}{}:
	case <-ctx.Done():
		b, _ := n.current()
		return b
	}
	defer func() { <-n.reading }()
	if b, is := fresh(); is { // another attempt has read it meanwhile
		return b
	}
	bounded, stop := context.WithTimeout(ctx, breakerCall)
	defer stop()
	b, err := k.stored.Breaker(bounded, n.tenant, n.resource)
	if err != nil {
		k.unanswered(n, "read", err)
		b, _ = n.current() // what is no longer open by its own time lets probes begin
	}
	n.learn(b, k.clock.Now())
	return b
}

func (k *breakers) unanswered(n *known, doing string, err error) {
	if !errors.Is(err, context.Canceled) {
		k.log.Warn("breaker not kept", slog.String("doing", doing), slog.String("tenant", n.tenant), slog.String("resource", n.resource), slog.Any("error", err))
	}
}

// admit says whether an attempt of a job that calls the resource may begin, or until
// when it is to wait.
func (k *breakers) admit(ctx context.Context, ref job.Ref, resource string, timeout time.Duration) (given *leave, until time.Time, ok bool) {
	now := k.clock.Now()
	n := k.of(ref.Tenant, resource, now)
	for b := k.look(ctx, n); ; {
		now = k.clock.Now()
		if b.State(now) == job.BreakerClosed || !b.Holds(ref.Job) {
			return &leave{of: n, ref: ref}, time.Time{}, true
		}
		leasedTo, free := k.rules.Probe(b, timeout, now)
		if !free {
			return nil, k.rules.HeldUntil(b, now, k.spread()), false
		}
		bounded, stop := context.WithTimeout(ctx, breakerCall)
		leased, err := k.stored.LeaseProbe(bounded, b, k.rules.Probes, now, leasedTo)
		stop()
		switch {
		case err == nil:
			n.learn(leased, now)
			return &leave{of: n, ref: ref, probe: leased}, time.Time{}, true
		case !errors.Is(err, job.ErrLost):
			k.unanswered(n, "probe", err)
			return nil, k.rules.HeldUntil(b, now, k.spread()), false
		}
		if n.learn(leased, now); leased != nil && leased.Turn == b.Turn && leased.Probes == b.Probes && leased.LeasedTo.Equal(b.LeasedTo) {
			return nil, k.rules.HeldUntil(leased, now, k.spread()), false
		}
		b = leased
	}
}

// ended takes note of what an attempt's end says about its resource. It is spared
// when it failed although, or because, the breaker was open already.
func (k *breakers) ended(ctx context.Context, given *leave, f *lifecycle.Failure) (spared bool) {
	// What was learnt counts although the attempt's time is over or it was canceled.
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), breakerCall)
	defer stop()
	switch lifecycle.BearingOf(f) {
	case lifecycle.Answered:
		k.pass(ctx, given)
	case lifecycle.FailedThere:
		return k.fail(ctx, given, f)
	case lifecycle.SaysNothing: // a probe that says nothing lapses with its lease
	}
	return false
}

// pass costs nothing unless the attempt was a probe.
func (k *breakers) pass(ctx context.Context, given *leave) {
	n := given.of
	n.mu.Lock()
	n.answered = true
	n.mu.Unlock()
	if given.probe == nil {
		return
	}
	b, err := k.stored.PassProbe(ctx, given.probe)
	if err == nil && k.rules.Closes(b) {
		if b, err = k.stored.CloseBreaker(ctx, b, k.clock.Now()); err == nil {
			k.log.Info("breaker closed: the resource answers again", slog.String("tenant", n.tenant), slog.String("resource", n.resource))
		}
	}
	k.take(n, b, err, "close")
}

// fail counts a failure and opens the breaker when that is enough. While it is known
// to be open for the job, a failure of what began before costs nothing.
func (k *breakers) fail(ctx context.Context, given *leave, f *lifecycle.Failure) (spared bool) {
	n, now := given.of, k.clock.Now().Truncate(time.Millisecond)
	if given.probe != nil {
		b, err := k.stored.OpenBreaker(ctx, given.probe, k.rules.Reopens(given.probe, given.ref, f, now))
		k.take(n, b, err, "open anew")
		return true
	}
	n.mu.Lock()
	b, anew := n.breaker, n.answered
	n.answered = false
	n.mu.Unlock()
	var err error
	if b.State(now) == job.BreakerClosed || !b.Holds(given.ref.Job) {
		b, err = k.stored.NoteFailure(ctx, job.BreakerFailure{Ref: given.ref, Resource: n.resource, At: now, Code: f.Code, Within: k.rules.Within, Anew: anew,
			Begins: b == nil || b.Failures == 0 || now.Sub(b.LastAt) > k.rules.Within})
		if k.take(n, b, err, "count a failure"); err != nil || b == nil {
			return false
		}
	}
	was := b.State(now)
	spared = was != job.BreakerClosed && b.Holds(given.ref.Job)
	o, opens := k.rules.Opens(b, given.ref, f, now)
	if !opens {
		return spared
	}
	if b, err = k.stored.OpenBreaker(ctx, b, o); err == nil && was == job.BreakerClosed {
		k.log.Warn("breaker opened: attempts that call the resource wait", slog.String("tenant", n.tenant), slog.String("resource", n.resource),
			slog.Int("failures", b.Failures), slog.String("error_code", f.Code), slog.Time("until", b.Until))
	}
	k.take(n, b, err, "open")
	return spared
}

// take learns what a write found or made of the breaker.
func (k *breakers) take(n *known, b *job.Breaker, err error, doing string) {
	if err != nil && !errors.Is(err, job.ErrLost) {
		k.unanswered(n, doing, err)
		return
	}
	n.learn(b, k.clock.Now())
}
