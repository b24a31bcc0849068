package worker

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/queue"
)

// Handler runs one attempt. Nil is success; how an error is retried is said by
// Retry, RetryAfter and Permanent, any other error is retried. The context ends
// at the attempt's deadline, when the execution is canceled, when the lease is
// lost and when the worker stops: return soon after.
type Handler func(ctx context.Context, a *Attempt) error

// Pool is one pool that the worker serves.
type Pool struct {
	Name string
	// Lease is how long a fresh attempt is kept without a heartbeat; zero = 30 s.
	Lease time.Duration
	// Slots is how many attempts run at once in this process; zero = 16.
	Slots int
	// Waiting is how many messages may wait here, without a slot, for the second
	// in which they are due; zero = twice the slots.
	Waiting int
}

// Options say what a worker is made of.
type Options struct {
	Queue *queue.Client // required
	// Execution is the execution plane; required. The worker runs a copy of it,
	// whose Work it fills in, and also Isolator, Leases and Clock when they are
	// nil. Definitions, Executions, Owner, Nonce and Spread are required.
	Execution *execute.Service
	Pools     []Pool // at least one
	// Drain is how long running attempts may go on once the worker was told to
	// stop; zero = 30 s. What then still runs is canceled and retried elsewhere.
	Drain time.Duration
	// DeadLetters makes Run consume the pools' dead-letter queues too. Where a
	// function does that it stays false.
	DeadLetters bool
	// Breakers keeps the circuit breakers of the resources that handlers name; nil:
	// there are none. BreakerRules say when they open; zero = the defaults.
	Breakers     Breakers
	BreakerRules lifecycle.BreakerRules
	Metrics      *observe.Emitter // nil: off
	Log          *slog.Logger     // nil: silent
}

// Worker serves pools with registered handlers. Register first, then call Run
// or use Lambda.
type Worker struct {
	queue       *queue.Client
	service     *execute.Service
	pools       []Pool
	drain       time.Duration
	deadLetters bool
	log         *slog.Logger
	clock       execute.Clock
	breakers    *breakers // nil: there are none
	metrics     *observe.Emitter
	handlers    map[string]handling
	around      []Middleware
	refusal     error // of the first registration that was refused
	running     atomic.Int64
	stuck       atomic.Bool
	condemned   chan struct{} // closed once a handler has ignored its context
	condemn     sync.Once
}

// New makes a worker. The error names the option that is missing or out of
// bounds.
func New(o Options) (*Worker, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	w := &Worker{queue: o.Queue, drain: o.Drain, deadLetters: o.DeadLetters, log: o.Log, handlers: make(map[string]handling), condemned: make(chan struct{})}
	if w.drain == 0 {
		w.drain = 30 * time.Second
	}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	for _, p := range o.Pools {
		w.pools = append(w.pools, p.withDefaults())
	}
	service := *o.Execution
	if service.Clock == nil {
		service.Clock = clock.System{}
	}
	if service.Leases == nil {
		service.Leases = leases(w.pools)
	}
	if service.Isolator == nil {
		service.Isolator = isolator{queue: o.Queue, restoreEpoch: service.RestoreEpoch}
	}
	if service.Log == nil {
		service.Log = w.log
	}
	service.Work, service.Stuck, service.Uncancelable = w.work, w.ignored, w.uncancelable
	w.service, w.clock = &service, service.Clock
	w.breakers, w.metrics = newBreakers(o, w), o.Metrics
	return w, nil
}

func (o Options) check() error {
	missing := func(field string) error {
		return &job.Error{Code: job.CodeInvalid, Field: "worker." + field, Message: "it is required", Fix: "set it in worker.Options"}
	}
	e := o.Execution
	switch {
	case o.Queue == nil:
		return missing("Queue")
	case e == nil:
		return missing("Execution")
	case e.Definitions == nil:
		return missing("Execution.Definitions")
	case e.Executions == nil:
		return missing("Execution.Executions")
	case e.Owner == "":
		return missing("Execution.Owner")
	case e.Nonce == nil:
		return missing("Execution.Nonce")
	case e.Spread == nil:
		return missing("Execution.Spread")
	case e.Work != nil:
		return &job.Error{Code: job.CodeInvalid, Field: "worker.Execution.Work", Message: "the worker fills it in", Fix: "register handlers instead"}
	case len(o.Pools) == 0:
		return missing("Pools")
	case o.Drain < 0:
		return outOfBounds("Drain", o.Drain, "not negative")
	}
	return checkPools(o.Queue.Names, o.Pools)
}

func checkPools(names queue.Names, pools []Pool) error {
	var all []string
	for _, p := range pools {
		if err := job.CheckName("worker.Pools.Name", p.Name); err != nil {
			return err
		}
		switch {
		case p.Slots < 0:
			return outOfBounds("Pools.Slots", p.Slots, "0 or more")
		case p.Waiting < 0:
			return outOfBounds("Pools.Waiting", p.Waiting, "0 or more")
		case p.Lease != 0 && p.Lease < time.Second:
			return outOfBounds("Pools.Lease", p.Lease, "1s or more")
		}
		all = append(all, p.Name)
	}
	return names.Check(all)
}

func outOfBounds(field string, value any, bound string) error {
	text := fmt.Sprint(value)
	return &job.Error{Code: job.CodeInvalid, Field: "worker." + field, Value: text, Bound: bound, Message: text + " is out of bounds"}
}

func (p Pool) withDefaults() Pool {
	if p.Lease == 0 {
		p.Lease = defaultLease
	}
	if p.Slots == 0 {
		p.Slots = 16
	}
	if p.Waiting == 0 {
		p.Waiting = 2 * p.Slots
	}
	return p
}

const defaultLease = 30 * time.Second

// leases tells the lease of each pool served.
type leases []Pool

// Lease implements execute.Leases.
func (l leases) Lease(pool string) time.Duration {
	for _, p := range l {
		if p.Name == pool {
			return p.Lease
		}
	}
	return defaultLease
}

// isolator sends successors itself, for a worker that is built without a
// dispatch plane.
type isolator struct {
	queue        *queue.Client
	restoreEpoch int64
}

// Isolate implements execute.Isolator.
func (i isolator) Isolate(ctx context.Context, e *job.Execution) error {
	return i.queue.Send(ctx, []job.Parcel{{Ref: e.Ref, Key: e.Key, Epoch: e.Epoch, RestoreEpoch: i.restoreEpoch, Pool: e.Pool,
		NotBefore: e.AvailableAt, Isolated: true}})[0]
}
