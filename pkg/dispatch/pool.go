package dispatch

import (
	"time"
)

// Kind says what runs a pool's executions.
type Kind string

// The kinds. The zero value is a function.
const (
	KindLambda Kind = "lambda" // a function, for what ends within its quarter of an hour
	KindECS    Kind = "ecs"    // container workers, for what does not
)

// Pool is a named set of workers with a queue of its own. Of a pool that is not
// to be deployed only the first five fields need to be set.
type Pool struct {
	Name    string
	Lease   time.Duration // of a fresh attempt
	Ceiling time.Duration // longest timeout of a job in it
	Slots   int           // executions at a time in one container worker
	Batch   int           // messages that a function takes at a time

	Kind     Kind // empty = lambda
	MemoryMB int  // of one function or one container worker
	CPU      int  // of one container worker, in 1/1024 of a processor; a function's follows from its memory
	// MaxConcurrency is how many batches are worked off at a time by functions,
	// or how many container workers run at most.
	MaxConcurrency int
	// Isolation is how many executions at a time the isolation queue is worked
	// off with by functions; a container worker has one lane for it.
	Isolation int
}

// DefaultPools ship with every installation.
func DefaultPools() []Pool {
	return []Pool{
		{Name: "fast-io", Lease: 15 * time.Second, Ceiling: 14 * time.Minute, Slots: 256, Batch: 10,
			Kind: KindLambda, MemoryMB: 512, MaxConcurrency: 200, Isolation: 2},
		{Name: "external-api", Lease: 30 * time.Second, Ceiling: 14 * time.Minute, Slots: 64, Batch: 10,
			Kind: KindLambda, MemoryMB: 512, MaxConcurrency: 10, Isolation: 2},
		{Name: "cpu-heavy", Lease: 30 * time.Second, Ceiling: 14 * time.Minute, Slots: 2, Batch: 1,
			Kind: KindLambda, MemoryMB: 3538, MaxConcurrency: 50, Isolation: 2},
		{Name: "long-running", Lease: 30 * time.Second, Ceiling: 12 * time.Hour, Slots: 16, Batch: 1,
			Kind: KindECS, MemoryMB: 2048, CPU: 1024, MaxConcurrency: 10, Isolation: 1},
	}
}

// Pools is the set of pools of an installation.
type Pools []Pool

// Find returns the pool of that name.
func (p Pools) Find(name string) (Pool, bool) {
	for _, pool := range p {
		if pool.Name == name {
			return pool, true
		}
	}
	return Pool{}, false
}

// Ceiling is the longest timeout that the pool allows; false when there is no
// such pool.
func (p Pools) Ceiling(name string) (time.Duration, bool) {
	pool, known := p.Find(name)
	return pool.Ceiling, known
}

// Lease is the length of a fresh lease in the pool; 30 s in one that is no
// longer configured, so that its executions can still end.
func (p Pools) Lease(name string) time.Duration {
	if pool, known := p.Find(name); known {
		return pool.Lease
	}
	return 30 * time.Second
}

// Names lists the pools in their configured order.
func (p Pools) Names() []string {
	names := make([]string, len(p))
	for i, pool := range p {
		names[i] = pool.Name
	}
	return names
}
