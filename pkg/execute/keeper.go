package execute

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

const (
	// handOffAfter is the age at which an attempt gives its message up: SQS
	// bounds how long and how many messages may be in flight.
	handOffAfter = 15 * time.Minute
	// longestLease is what a lease grows to; an old attempt beats seldom.
	longestLease = 5 * time.Minute
)

// keeper keeps the lease of one attempt, and the message hidden, while its
// work runs.
type keeper struct {
	p        *passage
	pool     string
	begun    time.Time
	canceled chan struct{}
	told     sync.Once // closes canceled
	cancel   context.CancelCauseFunc
	quit     context.CancelFunc
	done     chan struct{}

	mu       sync.Mutex
	held     *job.Execution
	released bool
	fans     bool
}

func newKeeper(p *passage, item *job.Execution, sentAt time.Time) *keeper {
	return &keeper{p: p, pool: item.Pool, held: item, begun: sentAt, canceled: make(chan struct{}), done: make(chan struct{})}
}

// current is the execution as this worker last saw it.
func (k *keeper) current() *job.Execution {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.held
}

// adopt replaces what this worker last saw by a newer reading.
func (k *keeper) adopt(next *job.Execution) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hold(next)
}

// mark notes that the attempt has begun to make children, which was written beside
// the heartbeats.
func (k *keeper) mark() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fans = true
	k.hold(k.held)
}

// hold, under the lock, keeps a reading: one from before the mark does not take it away.
func (k *keeper) hold(next *job.Execution) {
	k.held = next
	if k.fans && !next.FannedOut {
		marked := *next
		marked.FannedOut = true
		k.held = &marked
	}
}

func (k *keeper) isReleased() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.released
}

func (k *keeper) start(ctx context.Context, cancel context.CancelCauseFunc) {
	k.cancel = cancel
	beatCtx, quit := context.WithCancel(context.WithoutCancel(ctx))
	k.quit = quit
	go func() {
		defer close(k.done)
		var watch sync.WaitGroup
		watch.Go(func() { k.watch(beatCtx) })
		k.keep(beatCtx)
		watch.Wait()
	}()
}

// watch tells the work that the lease is over even while a heartbeat, or the queue, does
// not answer: as after a freeze, which may have come in the middle of a call.
func (k *keeper) watch(ctx context.Context) {
	for {
		over := k.current().Lease.Until.Add(-k.margin())
		if k.p.Clock.Wait(ctx, over) != nil {
			return
		}
		if !k.p.Clock.Now().Before(k.current().Lease.Until.Add(-k.margin())) {
			k.end(ErrLeaseLost)
			return
		}
	}
}

// stop ends the heartbeats and waits until none is under way.
func (k *keeper) stop() {
	k.quit()
	<-k.done
}

// lease is how long the lease is for an attempt of this age: a third of its
// age, within the pool's lease and five minutes.
func (k *keeper) lease(now time.Time) time.Duration {
	pool := k.p.Leases.Lease(k.pool)
	return min(max(pool, now.Sub(k.begun)/3), max(pool, longestLease))
}

// margin is how long before its end a lease is given up: another clock may be
// ahead of this one.
func (k *keeper) margin() time.Duration { return 2 * k.p.epsilon() }

// visibility is how long a message is hidden behind a lease: a taker may not
// claim before the lease and the clocks' difference have passed.
func (k *keeper) visibility(lease time.Duration) time.Duration {
	return lease + k.margin() + time.Second
}

func (k *keeper) keep(ctx context.Context) {
	for {
		now := k.p.Clock.Now()
		remaining := k.current().Lease.Until.Sub(now)
		third := k.lease(now) / 3
		pause := time.Duration(float64(third) * (0.9 + 0.2*k.p.Spread()))
		pause = min(pause, remaining/2, remaining-k.margin())
		if k.p.Clock.Wait(ctx, now.Add(pause)) != nil {
			return
		}
		if !k.beat(ctx) {
			return
		}
	}
}

// beat extends lease and visibility; false ends the keeping. An attempt whose
// lease can no longer be extended is told so before the lease ends.
func (k *keeper) beat(ctx context.Context) bool {
	held := k.current()
	now := k.p.Clock.Now()
	margin := k.margin()
	if !now.Add(margin).Before(held.Lease.Until) {
		k.end(ErrLeaseLost)
		return false
	}
	bounded, stop := context.WithTimeout(ctx, held.Lease.Until.Sub(now)-margin)
	defer stop()
	lease := k.lease(now)
	next, err := k.p.Executions.Beat(bounded, held, now.Add(lease))
	switch {
	case errors.Is(err, job.ErrLost):
		if ctx.Err() == nil {
			k.end(ErrLeaseLost)
		}
		return false
	case err != nil:
		k.p.log().Warn("heartbeat failed", slog.String("execution", held.ID()), slog.Any("error", err))
		return ctx.Err() == nil
	}
	k.adopt(next)
	if next.Cancel != nil {
		k.hearCancel(ctx, next)
	}
	k.hide(ctx, next, now, lease)
	return true
}

// hearCancel ends the work, or notes that it cannot be.
func (k *keeper) hearCancel(ctx context.Context, held *job.Execution) {
	if k.p.Uncancelable == nil || !k.p.Uncancelable(k.p.revision.Definition) {
		k.end(ErrCanceled)
		return
	}
	k.told.Do(func() { close(k.canceled) })
	if held.Cancel.Declined {
		return
	}
	if err := k.p.Executions.DeclineCancel(ctx, held); err != nil && !errors.Is(err, job.ErrLost) {
		k.p.log().Warn("a cancel request could not be declined; the next heartbeat tries again", slog.String("execution", held.ID()), slog.Any("error", err))
	}
}

// end tells the work to stop, and why; only the first cause counts.
func (k *keeper) end(cause error) {
	k.told.Do(func() { close(k.canceled) })
	k.cancel(cause)
}

// hide keeps the message hidden as long as the lease, or hands the attempt off
// to a wake-up once it has grown old. A queue that does not answer must not keep
// the next heartbeat waiting.
func (k *keeper) hide(ctx context.Context, held *job.Execution, now time.Time, lease time.Duration) {
	if k.isReleased() {
		return
	}
	ctx, stop := context.WithTimeout(ctx, lease/3)
	defer stop()
	d := k.p.delivery
	if now.Sub(k.begun) > handOffAfter && d.Release != nil && k.handOff(ctx, held) {
		return
	}
	if d.Extend != nil {
		if err := d.Extend(ctx, k.visibility(lease)); err != nil && !errors.Is(err, context.Canceled) {
			k.p.log().Warn("message not kept hidden", slog.String("execution", held.ID()), slog.Any("error", err))
		}
	}
}

// handOff writes the wake-up first and deletes the message after: the wake
// scan finds a living lease and looks again later. False: the message stays,
// and the next heartbeat tries again.
func (k *keeper) handOff(ctx context.Context, held *job.Execution) bool {
	if k.p.Executions.Rewake(ctx, held, held.Lease.Until.Add(k.margin()+time.Second), false) != nil {
		return false
	}
	if k.p.delivery.Release(ctx) != nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.released = true
	return true
}
