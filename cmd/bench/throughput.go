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
	tape *tape
	ran  atomic.Int64
	more chan struct{} // told now and then that something ran
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

// grind lets the jobs fall due so many times, and returns once every execution
// has been settled and its message deleted.
func (m *mill) grind(ctx context.Context, jobs, rounds int) (watched spell, err error) {
	pool, _ := dispatch.Pools(dispatch.DefaultPools()).Find(job.DefaultPool)
	w, err := worker.New(worker.Options{Queue: m.Queues, Execution: m.Execute(nil), Drain: time.Minute,
		Pools: []worker.Pool{{Name: pool.Name, Lease: pool.Lease, Slots: pool.Slots}}})
	if err != nil {
		return spell{}, err
	}
	worker.Handle(w, handlerName, m.handle)
	working, stop := context.WithCancel(ctx)
	defer stop()
	watched = watch()
	var workers sync.WaitGroup
	workers.Go(func() { err = w.Run(working) })
	failure := m.rounds(ctx, jobs, rounds)
	stop()
	workers.Wait()
	return watched, errors.Join(err, failure)
}

func (m *mill) rounds(ctx context.Context, jobs, rounds int) error {
	ctx, stop := context.WithTimeout(ctx, 2*time.Minute)
	defer stop()
	for round := 1; round <= rounds; round++ {
		m.clock.set(begin.Add(time.Duration(round) * period))
		if err := m.scan(ctx); err != nil {
			return err
		}
		for m.ran.Load() < int64(round*jobs) {
			select {
			case <-m.more:
			case <-ctx.Done():
				return fmt.Errorf("%d of %d executions ran: %w", m.ran.Load(), round*jobs, ctx.Err())
			}
		}
	}
	return nil
}

// measureThroughput compares what scan and worker reach together with what the
// SDK alone reaches when the same calls are answered at once.
func measureThroughput(ctx context.Context, to *report, told io.Writer) error {
	fmt.Fprintf(told, "throughput: %d executions of %d jobs\n", millJobs*millRounds, millJobs)
	m, err := newMill(ctx, false)
	if err != nil {
		return err
	}
	defer m.close()
	if err := m.fill(ctx, millJobs); err != nil {
		return err
	}
	watched, err := m.grind(ctx, millJobs, millRounds)
	if err != nil {
		return err
	}
	took, own, others := watched.end()
	calls := m.calls.take(tables)
	for operation, n := range m.calls.take(queues) {
		calls[operation] += n
	}
	floor, floorOwn, err := measureFloor(ctx, told)
	if err != nil {
		return err
	}
	reached := calls.sum() / took.Seconds()
	to.note("throughput_executions", millJobs*millRounds/took.Seconds(), nil)
	to.note("throughput_calls", reached, calls.per(millJobs*millRounds))
	to.note("throughput_floor", floor, nil)
	to.note("throughput_floor_ratio", reached/floor, nil)
	to.note("throughput_cpu_ratio", (reached/own)/(floor/floorOwn), nil)
	to.note("throughput_busy", own, parts{"this process": own, "others": others, "this process on the stub": floorOwn})
	return nil
}

// measureFloor records the calls of one round and makes them again, through
// the SDK, with their recorded answers.
func measureFloor(ctx context.Context, told io.Writer) (callsEachSecond, own float64, err error) {
	m, err := newMill(ctx, true)
	if err != nil {
		return 0, 0, err
	}
	defer m.close()
	if err := m.fill(ctx, millJobs); err != nil {
		return 0, 0, err
	}
	m.tape.rewind()
	if _, err := m.grind(ctx, millJobs, 1); err != nil {
		return 0, 0, err
	}
	fmt.Fprintf(told, "throughput: the same calls on a stub, %d of them %d times\n", m.tape.length(), millRounds)
	watched := watch()
	callsEachSecond, err = m.tape.replay(ctx, millRounds)
	_, own, _ = watched.end()
	return callsEachSecond, own, err
}
