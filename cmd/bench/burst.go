package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

const (
	// ahead is how long before their second one-offs must have been made.
	ahead = 20 * time.Second
	// madeEach is what making a one-off may take on a busy machine.
	madeEach = 5 * time.Millisecond
)

// measureBurst has many one-offs due on one second, made well before it.
func measureBurst(ctx context.Context, to *report, told io.Writer) error {
	early, missing := 0, 0
	for _, n := range []int{1_000, 10_000} {
		b, err := burst(ctx, n, told)
		if err != nil {
			return err
		}
		once := map[start]int{}
		last := time.Duration(0)
		for _, s := range b.starts {
			last = max(last, s.lag())
			if s.lag() < 0 {
				early++
			}
			once[start{job: s.job}]++
		}
		missing += n - ranOnce(once)
		to.note(fmt.Sprintf("burst_%d_last_ms", n), millis(last), nil)
		if n == 10_000 {
			to.note("burst_10000_cpu_ms", b.own*1000, nil)
			to.note("burst_busy", b.busy(), parts{"this process": b.busy(), "others": b.beside()})
		}
	}
	to.note("burst_early", float64(early), nil)
	to.note("burst_missing", float64(missing), nil)
	return nil
}

// bang is one burst: its starts, and the spell until the last of them.
type bang struct {
	watched
	starts []start
}

// burst makes n one-offs in an installation of their own and lets them fall
// due.
func burst(ctx context.Context, n int, told io.Writer) (b bang, err error) {
	l, err := newLive(ctx)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, l.end()) }()
	at := time.Now().Add(ahead + time.Duration(n)*madeEach).Truncate(time.Second).Add(time.Second).UTC()
	fmt.Fprintf(told, "burst: making %d one-offs due at %s\n", n, at.Format(time.TimeOnly))
	if err := l.put(ctx, n, func(i int) string { return fmt.Sprintf("once-%05d", i) }, job.Definition{Schedule: job.Schedule{At: at}}); err != nil {
		return b, err
	}
	if left := time.Until(at); left < ahead {
		return b, fmt.Errorf("the one-offs were made only %v before their second: the machine is too busy", left.Round(time.Second))
	}
	if err := (clock.System{}).Wait(ctx, at); err != nil {
		return b, err
	}
	spell := watch()
	const patience = 30 * time.Second
	for time.Since(at) < patience && len(l.startsIn(at, at.Add(time.Second))) < n {
		if err := (clock.System{}).Wait(ctx, time.Now().Add(50*time.Millisecond)); err != nil {
			return b, err
		}
	}
	b.watched = spell.end()
	// A second start of an execution would come soon after.
	err = clock.System{}.Wait(ctx, time.Now().Add(time.Second))
	b.starts = l.startsIn(at, at.Add(time.Second))
	return b, err
}
