package worker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// resource is a system outside that handlers call; each call is noted.
type resource struct {
	mu    sync.Mutex
	down  error // nil: it answers
	takes time.Duration
	calls []time.Time
	most  int // calls at once
	now   int
}

func (r *resource) call(context.Context, *worker.Attempt) error {
	r.mu.Lock()
	r.calls = append(r.calls, time.Now())
	r.now++
	r.most = max(r.most, r.now)
	takes := r.takes
	r.mu.Unlock()
	time.Sleep(takes)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now--
	return r.down
}

func (r *resource) set(down error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
}

// since counts the calls at or after a moment.
func (r *resource) since(at time.Time) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.calls {
		if !c.Before(at) {
			n++
		}
	}
	return n
}

// guarded is a bench whose workers have breakers, and handler work a resource.
func guarded(t *testing.T, r *resource, change func(*worker.Options)) *bench {
	t.Helper()
	b := setup(t, func(o *worker.Options) {
		if change != nil {
			change(o)
		}
	})
	b.worker = b.another(change)
	worker.Handle(b.worker, "work", r.call, worker.Resource("payments-db"))
	return b
}

// another is one more worker process on the same store and queues.
func (b *bench) another(change func(*worker.Options)) *worker.Worker {
	b.Helper()
	service := *b.Execute(nil)
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(7, uint64(b.count("ReceiveMessage"))))
	service.Spread = func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return random.Float64()
	}
	o := worker.Options{Queue: b.Queues, Execution: &service, Breakers: b.Store, Pools: []worker.Pool{{Name: "fast-io", Lease: 15 * time.Second, Slots: 4, Waiting: 8}}}
	o.Breakers = &counted{Breakers: b.Store, calls: b.breakerCalls}
	if change != nil {
		change(&o)
	}
	w, err := worker.New(o)
	if err != nil {
		b.Fatal(err)
	}
	return w
}

// alongside runs a worker beside the bench's own until the test's end.
func (b *bench) alongside(w *worker.Worker) (stop func()) {
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			b.Errorf("Run: %v", err)
		}
	}
}

// many makes jobs of one execution each at a second to come.
func (b *bench) many(n int, at time.Time, change func(*job.Definition)) []job.Ref {
	b.Helper()
	refs := make([]job.Ref, n)
	for i := range refs {
		refs[i] = b.oneOff(fmt.Sprintf("job-%d", i), at, change)
	}
	return refs
}

// breaker is what is stored of the resource.
func (b *bench) breaker() *job.Breaker {
	b.Helper()
	stored, err := b.Store.Breaker(b.Context(), "default", "payments-db")
	if err != nil {
		b.Fatal(err)
	}
	return stored
}

var errDown = worker.WithCode("DB_DOWN", errors.New("connection refused"))

// patient lets a job fail often, so that what is left of its attempts shows.
func patient(d *job.Definition) {
	d.Retry = job.Retry{MaxAttempts: 3, Base: job.Duration(time.Second), Max: job.Duration(2 * time.Second)}
}

// counted counts the calls about breakers, by method.
type counted struct {
	worker.Breakers
	calls *tally
}

// tally counts by name.
type tally struct {
	mu    sync.Mutex
	times map[string]int
}

func (t *tally) add(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.times == nil {
		t.times = map[string]int{}
	}
	t.times[name]++
}

func (t *tally) of(name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.times[name]
}

func (c *counted) Breaker(ctx context.Context, tenant, resource string) (*job.Breaker, error) {
	c.calls.add("read")
	return c.Breakers.Breaker(ctx, tenant, resource)
}

func (c *counted) NoteFailure(ctx context.Context, f job.BreakerFailure) (*job.Breaker, error) {
	c.calls.add("note")
	return c.Breakers.NoteFailure(ctx, f)
}

func (c *counted) OpenBreaker(ctx context.Context, seen *job.Breaker, o job.BreakerOpening) (*job.Breaker, error) {
	c.calls.add("open")
	return c.Breakers.OpenBreaker(ctx, seen, o)
}

func (c *counted) LeaseProbe(ctx context.Context, seen *job.Breaker, most int, at, until time.Time) (*job.Breaker, error) {
	c.calls.add("probe")
	return c.Breakers.LeaseProbe(ctx, seen, most, at, until)
}

func (c *counted) PassProbe(ctx context.Context, seen *job.Breaker) (*job.Breaker, error) {
	c.calls.add("pass")
	return c.Breakers.PassProbe(ctx, seen)
}

func (c *counted) CloseBreaker(ctx context.Context, seen *job.Breaker, at time.Time) (*job.Breaker, error) {
	c.calls.add("close")
	return c.Breakers.CloseBreaker(ctx, seen, at)
}
