package dispatch

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Bounds of a pool. A function lives for a quarter of an hour; what its ceiling
// lacks of that is kept for handlers to return and for settling.
const (
	LongestFunction = 14 * time.Minute
	longestWorker   = 12 * time.Hour // the longest timeout of any job
	shortestLease   = 5 * time.Second
	longestLease    = 5 * time.Minute
)

// Check refuses pools that cannot be deployed. The error joins one *job.Error
// for each fault, which names pool, key, value and bound.
func (p Pools) Check() error {
	var faults []error
	seen := map[string]bool{}
	for i, pool := range p {
		c := poolCheck{field: "pools[" + strconv.Itoa(i) + "]"}
		c.pool(pool)
		if seen[pool.Name] {
			c.refuse("name", pool.Name, "a name of its own", "two pools have this name")
		}
		seen[pool.Name] = true
		faults = append(faults, c.faults...)
	}
	if !seen[job.DefaultPool] {
		faults = append(faults, &job.Error{Code: job.CodeInvalid, Field: "pools", Value: job.Shorten(fmt.Sprint(p.Names())), Bound: "at least " + job.DefaultPool,
			Message: "there is no pool " + job.DefaultPool + ", where a job goes that names none", Fix: "add it"})
	}
	return errors.Join(faults...)
}

type poolCheck struct {
	field  string
	faults []error
}

func (c *poolCheck) refuse(key, value, bound, why string) {
	c.faults = append(c.faults, &job.Error{Code: job.CodeInvalid, Field: c.field + "." + key, Value: job.Shorten(value), Bound: bound, Message: why,
		Fix: "change the key, or leave it out"})
}

func (c *poolCheck) number(key string, value, least, most int) {
	if value < least || value > most {
		c.refuse(key, strconv.Itoa(value), fmt.Sprintf("%d to %d", least, most), fmt.Sprintf("%d is out of bounds", value))
	}
}

func (c *poolCheck) duration(key string, value, least, most time.Duration) {
	text := job.Duration(value).String()
	if value < least || value > most || value%time.Second != 0 {
		c.refuse(key, text, fmt.Sprintf("%s to %s, whole seconds", job.Duration(least), job.Duration(most)), text+" is out of bounds")
	}
}

func (c *poolCheck) pool(p Pool) {
	if err := job.CheckName(c.field+".name", p.Name); err != nil {
		c.faults = append(c.faults, err)
	}
	c.duration("lease", p.Lease, shortestLease, longestLease)
	c.number("slots", p.Slots, 1, 1024)
	c.number("batch", p.Batch, 1, 10)
	switch p.Kind {
	case "", KindLambda:
		c.duration("ceiling", p.Ceiling, time.Second, LongestFunction)
		c.number("memory_mb", p.MemoryMB, 128, 10240)
		c.number("max_concurrency", p.MaxConcurrency, 2, 1000)
		c.number("isolation", p.Isolation, 2, 1000)
		if p.CPU != 0 {
			c.refuse("cpu", strconv.Itoa(p.CPU), "absent in a pool of kind lambda", "a function's processor share follows from its memory")
		}
	case KindECS:
		c.duration("ceiling", p.Ceiling, time.Second, longestWorker)
		c.number("max_concurrency", p.MaxConcurrency, 1, 1000)
		c.number("isolation", p.Isolation, 1, 1)
		c.size(p)
	default:
		c.refuse("kind", string(p.Kind), "lambda or ecs", fmt.Sprintf("%q is no kind of pool", job.Shorten(string(p.Kind))))
	}
}

// size is of a container worker, which exists in certain sizes only.
func (c *poolCheck) size(p Pool) {
	memory, known := workerSizes[p.CPU]
	if !known {
		c.refuse("cpu", strconv.Itoa(p.CPU), "256, 512, 1024, 2048, 4096, 8192 or 16384", "no container has this share")
		return
	}
	if p.CPU == 256 && p.MemoryMB == 512 {
		return
	}
	if p.MemoryMB < memory.least || p.MemoryMB > memory.most || p.MemoryMB%memory.step != 0 {
		c.refuse("memory_mb", strconv.Itoa(p.MemoryMB), fmt.Sprintf("%d to %d in steps of %d with cpu %d", memory.least, memory.most, memory.step, p.CPU),
			"no container has this size")
	}
}

// workerSizes are Fargate's: the memory in MB that each share of processor has.
var workerSizes = map[int]struct{ least, most, step int }{
	256: {1024, 2048, 1024}, 512: {1024, 4096, 1024}, 1024: {2048, 8192, 1024}, 2048: {4096, 16384, 1024},
	4096: {8192, 30720, 1024}, 8192: {16384, 61440, 4096}, 16384: {32768, 122880, 8192},
}

// Of returns the pools of that kind, in their configured order.
func (p Pools) Of(kind Kind) Pools {
	return slices.DeleteFunc(slices.Clone(p), func(pool Pool) bool {
		own := pool.Kind
		if own == "" {
			own = KindLambda
		}
		return own != kind
	})
}
