package sim

import (
	"context"
	"strconv"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

// restartAfter is how long a crashed process is away.
const restartAfter = time.Second

// incarnation is one life of a process.
type incarnation struct {
	world   *World
	name    string
	planes  *assemble.Belfry
	execute *execute.Service
}

// Start starts every process: the platform's minute schedule with the tick
// function, a tick consumer, a scanner, and per pool its workers, an isolation
// worker and a dead-letter consumer.
func (w *World) Start(ctx context.Context) {
	ctx, w.stop = context.WithCancel(ctx)
	w.startSchedulers(ctx)
	w.startWorkers(ctx)
}

func (w *World) startSchedulers(ctx context.Context) {
	w.process(ctx, "tick", w.tickEachMinute, w.tickMessages)
	w.process(ctx, "scan", w.scanMessages)
	for n := 2; n <= w.Options.Scanners; n++ {
		w.process(ctx, "scan-"+strconv.Itoa(n), w.scanMessages)
	}
}

func (w *World) startWorkers(ctx context.Context) {
	for _, pool := range w.Options.Pools {
		names := queue.Names{}
		for i := range w.Options.Workers {
			w.process(ctx, "worker-"+pool.Name+string(rune('a'+i)), w.work(names.Work(pool.Name), pool.Slots, false))
		}
		w.process(ctx, "isolation-"+pool.Name, w.work(names.Isolation(pool.Name), 1, true))
		w.process(ctx, "deadletter-"+pool.Name, w.deadLetters(names.DeadLetter(pool.Name)))
	}
}

// Stop ends every process and waits for them. What is stored can still be read.
func (w *World) Stop() {
	w.stop()
	w.done.Wait()
	// Requests that gather messages for a few milliseconds are on their way still.
	now := clock.System{}.Now()
	_ = clock.System{}.Wait(context.Background(), now.Add(time.Second)) // cannot fail: the context never ends
}

// process runs loops under one fault client, and again after each crash.
func (w *World) process(ctx context.Context, name string, loops ...func(context.Context, *incarnation)) {
	w.done.Add(1)
	go func() {
		defer w.done.Done()
		for ctx.Err() == nil {
			w.live(ctx, name, loops)
			_ = clock.System{}.Wait(ctx, clock.System{}.Now().Add(restartAfter)) // ends early only with ctx
		}
	}()
}

// live is one incarnation, until it crashes or the world stops.
func (w *World) live(ctx context.Context, name string, loops []func(context.Context, *incarnation)) {
	next := w.Backend.Client()
	if w.Options.Client != nil {
		next = w.Options.Client(next)
	}
	transport := fault.Wrap(next, func(c fault.Call) fault.Action {
		if w.Options.Decide == nil || c.Operation == "ReceiveMessage" {
			return fault.Pass
		}
		return w.Options.Decide(name, c)
	})
	i := &incarnation{world: w, name: name, planes: w.assemble(name, w.clients(name, transport))}
	i.execute = i.planes.Execute(w.recorded(name))
	w.watchCursor(i.planes)
	if w.Options.Mutate != nil {
		w.Options.Mutate(i.planes, i.execute)
	}
	lifeCtx, end := context.WithCancel(ctx)
	defer end()
	ended := make(chan struct{}, len(loops))
	for _, loop := range loops {
		w.done.Add(1)
		go func() {
			defer w.done.Done()
			loop(lifeCtx, i)
			ended <- struct{}{}
		}()
	}
	select {
	case <-transport.Crashed():
	case <-ctx.Done():
	}
}

func (w *World) tickEachMinute(ctx context.Context, i *incarnation) {
	for {
		now := clock.System{}.Now()
		at := now.Truncate(time.Minute).Add(time.Duration(w.Options.Second) * time.Second)
		if !at.After(now) {
			at = at.Add(time.Minute)
		}
		if (clock.System{}).Wait(ctx, at) != nil {
			return
		}
		_, _ = i.planes.Tick(ctx) // a failed tick is made good by the next
	}
}

// consume receives from a queue until ctx ends and hands each message over.
func (i *incarnation) consume(ctx context.Context, name string, most int, visibility time.Duration, handle func(*queue.Queue, queue.Received)) {
	q := i.planes.Queues.Queue(name)
	for ctx.Err() == nil {
		messages, err := q.Receive(ctx, most, 20*time.Second, visibility)
		if err != nil {
			if (clock.System{}).Wait(ctx, clock.System{}.Now().Add(time.Second)) != nil {
				return
			}
			continue
		}
		for _, m := range messages {
			handle(q, m)
		}
	}
}

func (w *World) tickMessages(ctx context.Context, i *incarnation) {
	i.consume(ctx, queue.Names{}.Tick(), 1, 30*time.Second, func(q *queue.Queue, m queue.Received) {
		if _, err := i.planes.Tick(ctx); err == nil {
			_ = q.Delete(ctx, m.Handle) // else it comes again: the guard sees through it
		}
	})
}

func (w *World) scanMessages(ctx context.Context, i *incarnation) {
	i.consume(ctx, queue.Names{}.Scan(), 10, 55*time.Second, func(q *queue.Queue, m queue.Received) {
		scan, err := queue.OpenScan(m.Body)
		if err != nil {
			return
		}
		r := job.ShardRange{Generation: scan.Generation, From: scan.From, To: scan.To + 1}
		if i.planes.Trigger.Scan(ctx, r, scan.SentAt) == nil {
			_ = q.Delete(ctx, m.Handle) // else it is scanned twice
		}
	})
}

// work is a worker with so many places.
func (w *World) work(name string, slots int, isolated bool) func(context.Context, *incarnation) {
	return func(ctx context.Context, i *incarnation) {
		free := make(chan struct{}, slots)
		i.consume(ctx, name, min(slots, 10), 20*time.Second, func(q *queue.Queue, m queue.Received) {
			free <- struct{}{}
			w.done.Add(1)
			go func() {
				defer w.done.Done()
				defer func() { <-free }()
				i.carry(ctx, q, m, isolated)
			}()
		})
	}
}

func (i *incarnation) carry(ctx context.Context, q *queue.Queue, m queue.Received, isolated bool) {
	work, err := queue.Open(m.Body)
	if err != nil {
		return
	}
	work.Message.Receives, work.Message.Isolated = m.Receives, isolated
	i.dispose(ctx, q, m, i.execute.Process(ctx, execute.Delivery{Message: work.Message, NotBefore: work.NotBefore,
		Extend:  func(ctx context.Context, d time.Duration) error { return q.Hide(ctx, m.Handle, d) },
		Release: func(ctx context.Context) error { return q.Delete(ctx, m.Handle) }}))
}

func (i *incarnation) dispose(ctx context.Context, q *queue.Queue, m queue.Received, d execute.Disposal) {
	if d.Delete {
		_ = q.Delete(ctx, m.Handle) // else it comes again and is seen to be over
		return
	}
	_ = q.Hide(ctx, m.Handle, d.Hide) // else its visibility ends by itself
}

func (w *World) deadLetters(name string) func(context.Context, *incarnation) {
	return func(ctx context.Context, i *incarnation) {
		i.consume(ctx, name, 10, 30*time.Second, func(q *queue.Queue, m queue.Received) {
			if work, err := queue.Open(m.Body); err == nil {
				i.dispose(ctx, q, m, i.execute.Redrive(ctx, work.Message))
			}
		})
	}
}
