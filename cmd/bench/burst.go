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
		starts, at, err := burst(ctx, n, told)
		if err != nil {
			return err
		}
		once := map[start]int{}
		last := time.Duration(0)
		for _, s := range starts {
			last = max(last, s.at.Sub(at))
			if s.at.Before(at) {
				early++
			}
			once[start{job: s.job}]++
		}
		missing += n - ranOnce(once)
		to.note(fmt.Sprintf("burst_%d_last_ms", n), millis(last), nil)
	}
	to.note("burst_early", float64(early), nil)
	to.note("burst_missing", float64(missing), nil)
	return nil
}

// burst makes n one-offs in an installation of their own and returns when they
// started.
func burst(ctx context.Context, n int, told io.Writer) (starts []start, at time.Time, err error) {
	l, err := newLive(ctx)
	if err != nil {
		return nil, at, err
	}
	at = time.Now().Add(ahead + time.Duration(n)*madeEach).Truncate(time.Second).Add(time.Second).UTC()
	fmt.Fprintf(told, "burst: making %d one-offs due at %s\n", n, at.Format(time.TimeOnly))
	if err := l.put(ctx, n, func(i int) string { return fmt.Sprintf("once-%05d", i) }, job.Definition{Schedule: job.Schedule{At: at}}); err != nil {
		return nil, at, errors.Join(err, l.end())
	}
	if left := time.Until(at); left < ahead {
		return nil, at, errors.Join(fmt.Errorf("the one-offs were made only %v before their second: the machine is too busy", left.Round(time.Second)), l.end())
	}
	const patience = 30 * time.Second
	for wait := at; time.Now().Before(at.Add(patience)) && len(starts) < n; wait = wait.Add(100 * time.Millisecond) {
		if err := (clock.System{}).Wait(ctx, wait); err != nil {
			return nil, at, errors.Join(err, l.end())
		}
		starts = l.startsIn(at, at.Add(time.Second))
	}
	// A second start of an execution would come soon after.
	if err := (clock.System{}).Wait(ctx, time.Now().Add(time.Second)); err != nil {
		return nil, at, errors.Join(err, l.end())
	}
	return l.startsIn(at, at.Add(time.Second)), at, l.end()
}
