package observe

import (
	"io"
	"slices"
	"sync"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Clock tells the time.
type Clock interface {
	// Now is the current time.
	Now() time.Time
}

// Options of an emitter. Namespace and Clock are required.
type Options struct {
	Namespace string // see Namespace
	Out       io.Writer
	Clock     Clock
	Pools     []string     // the values that the dimension pool may take
	Types     []string     // the values that the dimension type may take
	Reasons   []job.Reason // the values that the dimension reason may take
}

// Emitter writes figures. Nil is an emitter that is off. It is safe for
// concurrent use.
type Emitter struct {
	o Options
}

// New makes an emitter that writes to o.Out; nil Out gives one that is off.
func New(o Options) *Emitter {
	if o.Out == nil {
		return nil
	}
	return &Emitter{o: o}
}

// Batch begins what one invocation has to tell. Of an emitter that is off it is
// nil, which takes every call.
func (e *Emitter) Batch() *Batch {
	if e == nil {
		return nil
	}
	return &Batch{emitter: e, all: make(map[series][]int64)}
}

// series is one metric under one set of values.
type series struct {
	name string
	values
}

// values are one of each dimension; that of a dimension by which the metric is
// not split is empty.
type values struct{ pool, kind, target, reason string }

// each pairs the dimensions with the values, in the order in which both are
// written.
func (v values) each(visit func(Dimension, string)) {
	visit(Pool, v.pool)
	visit(Type, v.kind)
	visit(Target, v.target)
	visit(Reason, v.reason)
}

// Batch collects figures until it is flushed. It is safe for concurrent use.
type Batch struct {
	emitter *Emitter
	mu      sync.Mutex
	all     map[series][]int64
}

// Count adds n to what the batch counts. Zero is worth counting: it makes the
// metric exist, so that an alarm can tell none from silence.
func (b *Batch) Count(c Counter, l Labels, n int) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	of, listed := b.emitter.series(c.Name, l)
	if !listed {
		return
	}
	if there := b.all[of]; len(there) == 1 {
		there[0] += int64(n)
		return
	}
	b.all[of] = []int64{int64(n)}
}

// Observe adds a duration. One below zero, which two clocks can give, is zero.
func (b *Batch) Observe(t Timer, l Labels, d time.Duration) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if of, listed := b.emitter.series(t.Name, l); listed {
		b.all[of] = append(b.all[of], max(d, 0).Milliseconds())
	}
}

// Flush writes what was collected, in one call of the writer, and begins anew. A
// batch that collected nothing writes nothing. A write that fails is dropped:
// figures never fail what they count.
func (b *Batch) Flush() {
	if b == nil {
		return
	}
	b.mu.Lock()
	collected := b.all
	b.all = make(map[series][]int64)
	b.mu.Unlock()
	if len(collected) == 0 {
		return
	}
	_, _ = b.emitter.o.Out.Write(encode(b.emitter.o.Namespace, b.emitter.o.Clock.Now(), collected))
}

// other stands for every value that is not known beforehand, none for no value.
const (
	other = job.OtherType
	none  = job.NoType
)

// series is where a figure goes; what is not on the list goes nowhere.
func (e *Emitter) series(name string, l Labels) (s series, listed bool) {
	m := Find(name)
	if m == nil {
		return series{}, false
	}
	s.name = name
	known := func(d Dimension, value string, known []string) string {
		switch {
		case !m.by(d):
			return ""
		case slices.Contains(known, value):
			return value
		case value == "" && (d == Type || d == Target):
			return none
		}
		return other
	}
	s.values = values{known(Pool, l.Pool, e.o.Pools), known(Type, l.Type, e.o.Types), known(Target, l.Target, job.TargetKinds), ""}
	if m.by(Reason) {
		s.reason = other
		if slices.Contains(e.o.Reasons, l.Reason) {
			s.reason = string(l.Reason)
		}
	}
	return s, true
}
