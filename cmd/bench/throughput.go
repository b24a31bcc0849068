package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

const (
	millJobs   = 2_000
	millRounds = 5
	millShards = 16
)

// mill is an installation in which one process scans and one container worker
// works off what is due, as fast as they can. Its clock is set from one due
// time to the next.
type mill struct {
	*town
	tape   *tape
	rounds int // begun so far
	ran    atomic.Int64
	more   chan struct{} // told now and then that something ran
}

func newMill(ctx context.Context, record bool) (*mill, error) {
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		return nil, err
	}
	m := &mill{town: &town{clock: newSetClock(begin), units: newTally(), billed: newTally()}, more: make(chan struct{}, 1)}
	m.settings = assemble.Settings{Shards: millShards, Clock: m.clock}
	config := backend.Config()
	if record {
		m.tape = newTape(config.HTTPClient)
		config.HTTPClient = m.tape
		config.APIOptions = append(config.APIOptions, m.tape.listen)
	}
	return m, m.open(ctx, backend, config)
}

// fill makes jobs that fall due together.
func (m *mill) fill(ctx context.Context, jobs int) error {
	for n := range jobs {
		if err := m.put(ctx, fmt.Sprintf("meter-reading-%05d", n), job.Definition{Schedule: job.Schedule{Every: job.Duration(period)}}); err != nil {
			return err
		}
	}
	m.forget()
	return nil
}

func (m *mill) handle(context.Context, *worker.Attempt) error {
	m.ran.Add(1)
	select {
	case m.more <- struct{}{}:
	default:
	}
	return nil
}

// grind lets the jobs fall due once more, and returns what it took until every
// execution was settled and its message deleted.
func (m *mill) grind(ctx context.Context, jobs int) (w watched, err error) {
	pool, _ := dispatch.Pools(dispatch.DefaultPools()).Find(job.DefaultPool)
	hands, err := worker.New(worker.Options{Queue: m.Queues, Execution: m.Execute(nil), Drain: time.Minute,
		Pools: []worker.Pool{{Name: pool.Name, Lease: pool.Lease, Slots: pool.Slots}}})
	if err != nil {
		return w, err
	}
	worker.Handle(hands, handlerName, m.handle)
	working, stop := context.WithCancel(ctx)
	defer stop()
	spell := watch()
	var workers sync.WaitGroup
	var failure error
	workers.Go(func() { failure = hands.Run(working) })
	err = m.round(ctx, jobs)
	stop()
	workers.Wait()
	return spell.end(), errors.Join(err, failure)
}

// round sets the clock to the jobs' next time, scans, and returns when as many
// handlers have run.
func (m *mill) round(ctx context.Context, jobs int) error {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	m.rounds++
	m.clock.set(begin.Add(time.Duration(m.rounds) * period))
	if err := m.scan(ctx); err != nil {
		return err
	}
	for m.ran.Load() < int64(m.rounds*jobs) {
		select {
		case <-m.more:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d executions ran: %w", m.ran.Load(), m.rounds*jobs, ctx.Err())
		}
	}
	return nil
}

// measureThroughput compares what scan and worker reach together with what the
// SDK alone reaches when the same calls are answered at once. The two take
// turns, so that other work on the machine disturbs both alike.
func measureThroughput(ctx context.Context, to *report, told io.Writer) error {
	fmt.Fprintf(told, "throughput: recording the calls of %d executions\n", millJobs)
	recorded, err := record(ctx)
	if err != nil {
		return err
	}
	m, err := newMill(ctx, false)
	if err != nil {
		return err
	}
	defer m.close()
	if err := m.fill(ctx, millJobs); err != nil {
		return err
	}
	var whole, stub watched
	played := 0
	for round := range millRounds {
		fmt.Fprintf(told, "throughput: %d executions, then their calls on a stub, round %d of %d\n", millJobs, round+1, millRounds)
		took, err := m.grind(ctx, millJobs)
		if err != nil {
			return err
		}
		whole = whole.and(took)
		spell := watch()
		n, err := recorded.replay(ctx)
		if err != nil {
			return err
		}
		played += n
		stub = stub.and(spell.end())
	}
	calls := m.calls.take(tables)
	for operation, n := range m.calls.take(queues) {
		calls[operation] += n
	}
	const executions = millJobs * millRounds
	reached, floor := calls.sum()/whole.took.Seconds(), float64(played)/stub.took.Seconds()
	to.note("throughput_floor_ratio", reached/floor, nil)
	to.note("throughput_cpu_ratio", (stub.own/float64(played))/(whole.own/calls.sum()), nil)
	to.note("throughput_busy", whole.busy(), parts{"this process": whole.busy(), "others": whole.beside(), "this process on the stub": stub.busy()})
	to.note("throughput_executions", executions/whole.took.Seconds(), nil)
	to.note("throughput_calls", reached, calls.per(executions))
	to.note("throughput_floor", floor, nil)
	return nil
}

// record is the tape of one round.
func record(ctx context.Context) (*tape, error) {
	m, err := newMill(ctx, true)
	if err != nil {
		return nil, err
	}
	defer m.close()
	if err := m.fill(ctx, millJobs); err != nil {
		return nil, err
	}
	m.tape.rewind()
	_, err = m.grind(ctx, millJobs)
	return m.tape, err
}
