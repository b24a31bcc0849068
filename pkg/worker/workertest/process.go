package workertest

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// process is one worker's process.
type process struct {
	name string
	stop context.CancelFunc
	done chan error // Run's answer

	mu     sync.Mutex
	frozen chan struct{} // closed once it thaws; nil: it is not frozen
	dead   bool
}

// next starts a worker in a process of its own, beside those before.
func (b *Bench) next() {
	p := &process{name: fmt.Sprintf("worker-%d", len(b.all)+1), done: make(chan error, 1)}
	c := b.clients(transport{p, b.backend.Client()})
	planes := b.assemble(p.name, c, processClock{p})
	service := planes.Execute(nil)
	service.Executions = noting{service.Executions, b.notes}
	w, err := worker.New(worker.Options{Queue: planes.Queues, Execution: service, Drain: Drain, DeadLetters: true, Log: b.log,
		Pools: []worker.Pool{{Name: Pool, Lease: Lease, Slots: 16}}})
	b.must("make a worker", err)
	b.register(w)
	b.must("register the handlers", w.Check())
	ctx, stop := context.WithCancel(b.ctx)
	p.stop = stop
	b.current, b.all = p, append(b.all, p)
	go func() {
		p.done <- w.Run(ctx)
		close(p.done)
	}()
}

// Crash ends the worker's process at once: nothing that it does from now on reaches
// Belfry, and another worker takes its place, which takes over what it ran once its
// leases have passed. A goroutine cannot be killed: the context of a handler that runs
// there ends when its lease does.
func (b *Bench) Crash() {
	b.current.kill()
	b.current.stop()
	b.next()
}

// Freeze stops the worker's process as it stands, as a paused machine or a long
// collection of garbage does, and starts another worker beside it. Handlers that run
// there are not stopped, but their calls of Belfry are until Thaw.
func (b *Bench) Freeze() {
	b.current.freeze()
	b.next()
}

// Thaw lets every frozen process go on as if nothing had happened. Its handlers have
// lost their leases if those passed meanwhile.
func (b *Bench) Thaw() {
	for _, p := range b.all {
		p.thaw()
	}
	b.Advance(0)
}

// Stop tells the worker to stop, as SIGTERM does, and starts another one beside it:
// what runs may go on for Drain, and is then canceled and retried.
func (b *Bench) Stop() {
	b.current.stop()
	b.next()
}

func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
}

func (p *process) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen == nil {
		p.frozen = make(chan struct{})
	}
}

func (p *process) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen != nil {
		close(p.frozen)
		p.frozen = nil
	}
}

// pass returns once the process is not frozen, and reports whether it lives.
func (p *process) pass() bool {
	for {
		p.mu.Lock()
		frozen, dead := p.frozen, p.dead
		p.mu.Unlock()
		if frozen == nil || dead {
			return !dead
		}
		<-frozen
	}
}

// transport is how the calls of a process leave it.
type transport struct {
	process *process
	next    aws.HTTPClient
}

// Do implements aws.HTTPClient. What a frozen process was about to send goes out when
// it thaws, whatever has become of its contexts meanwhile.
func (t transport) Do(request *http.Request) (*http.Response, error) {
	since := time.Now() //nolint:forbidigo // virtual time
	if !t.process.pass() {
		return nil, fault.ErrCrashed
	}
	if time.Since(since) > 0 { //nolint:forbidigo // virtual time
		request = request.WithContext(context.WithoutCancel(request.Context()))
	}
	answer, err := t.next.Do(request)
	if !t.process.pass() {
		return nil, fault.ErrCrashed
	}
	return answer, err
}

// processClock stands still with its process.
type processClock struct{ process *process }

// Now is the current time, once the process goes on.
func (c processClock) Now() time.Time {
	c.process.pass()
	return clock.System{}.Now()
}

// Wait waits as long as the system's clock does, and until the process goes on.
func (c processClock) Wait(ctx context.Context, until time.Time) error {
	err := clock.System{}.Wait(ctx, until)
	c.process.pass()
	return err
}
