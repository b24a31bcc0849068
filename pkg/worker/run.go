package worker

import (
	"context"
	"log/slog"
	"sync"
)

// Run serves the pools until ctx ends, then drains: it takes no more messages,
// gives back those that have not begun, lets running attempts finish for as
// long as Options.Drain allows, and cancels the rest, which are retried
// elsewhere. It returns once every attempt has been settled: nil, or the
// refusal of a registration.
//
// A handler that ignores its context ends the worker, too: it takes no more
// messages, lets all others run to their end, and returns ErrStuck.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.Check(); err != nil {
		return err
	}
	working, stopWork := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stopWork(nil)
	taking, stopTaking := context.WithCancel(ctx)
	defer stopTaking()
	var pollers, hands, watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-w.condemned:
			w.log.Error("a handler ignored its context; the worker takes no more work and ends once the others have")
			stopTaking()
		case <-taking.Done():
		}
	})
	defer watch.Wait()
	defer stopTaking()
	every := lane{w: w, stopping: taking, working: working, pollers: &pollers, hands: &hands}
	for _, pool := range w.pools {
		every.start(pool)
		if w.deadLetters {
			pollers.Go(func() { w.redriveAll(taking, pool) })
		}
	}
	pollers.Wait()
	w.drainHands(ctx, &hands, stopWork)
	if w.stuck.Load() {
		return ErrStuck
	}
	return nil
}

// start begins to serve the pool's own queue and its isolation queue, with what
// l says about every lane. The isolation queue has a quarter of the slots: after a
// crash all that ran comes back there, and must not wait for one another.
func (l *lane) start(p Pool) {
	names := l.w.queue.Names
	apart := max(p.Slots/4, 1)
	lanes := []*lane{
		{queue: l.w.queue.Queue(names.Work(p.Name)), places: newPlaces(p.Slots, p.Waiting), polls: min((p.Slots+receiveMost-1)/receiveMost, mostPolls)},
		{queue: l.w.queue.Queue(names.Isolation(p.Name)), places: newPlaces(apart, apart), polls: min((apart+receiveMost-1)/receiveMost, mostPolls), isolated: true},
	}
	for _, each := range lanes {
		each.w, each.pool, each.stopping, each.working, each.pollers, each.hands = l.w, p.Name, l.stopping, l.working, l.pollers, l.hands
		each.figures = l.w.metrics.Batch()
		each.help()
	}
}

// drainHands waits for what is in hand, and cancels it once the drain's time is up,
// which begins when the worker is told to stop.
func (w *Worker) drainHands(ctx context.Context, hands *sync.WaitGroup, stopWork context.CancelCauseFunc) {
	drain, drained := context.WithCancel(context.Background())
	defer drained()
	done := make(chan struct{})
	go func() {
		hands.Wait()
		close(done)
		drained()
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	if w.clock.Wait(drain, w.clock.Now().Add(w.drain)) == nil {
		w.log.Warn("attempts still run at the end of the drain; they are canceled and retried elsewhere", slog.Duration("drain", w.drain))
		stopWork(errStopped)
	}
	<-done
}
