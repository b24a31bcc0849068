package dispatch

import (
	"time"
)

// Pool is a named set of workers with a queue of its own.
type Pool struct {
	Name    string
	Lease   time.Duration // of a fresh attempt
	Ceiling time.Duration // longest timeout of a job in it
	Slots   int           // executions at a time in one container worker
	Batch   int           // messages that a function takes at a time
}

// DefaultPools ship with every installation.
func DefaultPools() []Pool {
	return []Pool{
		{Name: "fast-io", Lease: 15 * time.Second, Ceiling: 15 * time.Minute, Slots: 256, Batch: 10},
		{Name: "external-api", Lease: 30 * time.Second, Ceiling: 15 * time.Minute, Slots: 64, Batch: 10},
		{Name: "cpu-heavy", Lease: 30 * time.Second, Ceiling: 15 * time.Minute, Slots: 2, Batch: 1},
		{Name: "long-running", Lease: 30 * time.Second, Ceiling: 12 * time.Hour, Slots: 16, Batch: 1},
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
