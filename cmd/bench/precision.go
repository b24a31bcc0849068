package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

const (
	pulses        = 200
	pulseSeconds  = 20
	settleSeconds = 3 // between the last creation and the first second that counts
)

// measurePrecision lets 200 jobs run each second and looks at how late they
// start. The seconds that count have a minute's beginning among them, since a
// tick and its scans are what disturbs most.
func measurePrecision(ctx context.Context, to *report, told io.Writer) error {
	l, err := newLive(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(told, "precision: making %d jobs\n", pulses)
	err = l.put(ctx, pulses, func(n int) string { return fmt.Sprintf("pulse-%03d", n) }, job.Definition{Schedule: job.Schedule{Every: job.Duration(time.Second)}})
	if err != nil {
		return errors.Join(err, l.end())
	}
	from := windowAround(time.Now().Add(settleSeconds * time.Second))
	until := from.Add(pulseSeconds * time.Second)
	fmt.Fprintf(told, "precision: measuring from %s to %s\n", from.Format(time.TimeOnly), until.Format(time.TimeOnly))
	if err := (clock.System{}).Wait(ctx, from); err != nil {
		return errors.Join(err, l.end())
	}
	spell := watch()
	if err := (clock.System{}).Wait(ctx, until); err != nil {
		return errors.Join(err, l.end())
	}
	w := spell.end()
	to.note("precision_busy", w.busy(), parts{"this process": w.busy(), "others": w.beside()})
	if err := (clock.System{}).Wait(ctx, until.Add(2*time.Second)); err != nil {
		return errors.Join(err, l.end())
	}
	starts := l.startsIn(from, until)
	notePrecision(to, starts, pulses*pulseSeconds)
	tellSeconds(told, starts)
	return l.end()
}

// tellSeconds writes a line for each second, since one slow moment is another
// finding than a slow worker.
func tellSeconds(told io.Writer, starts []start) {
	seconds := map[time.Time][]time.Duration{}
	for _, s := range starts {
		seconds[s.scheduled] = append(seconds[s.scheduled], s.lag())
	}
	for _, at := range slices.SortedFunc(maps.Keys(seconds), time.Time.Compare) {
		lags := slices.Sorted(slices.Values(seconds[at]))
		fmt.Fprintf(told, "precision: %s median %v, last %v\n", at.Format(time.TimeOnly), quantile(lags, 0.5).Round(time.Millisecond),
			quantile(lags, 1).Round(time.Millisecond))
	}
}

// windowAround is the beginning of the next window after ready that has a
// minute's beginning in its middle.
func windowAround(ready time.Time) time.Time {
	const half = pulseSeconds / 2 * time.Second
	from := ready.Truncate(time.Minute).Add(time.Minute - half)
	if from.Before(ready) {
		from = from.Add(time.Minute)
	}
	return from.UTC()
}

func notePrecision(to *report, starts []start, wanted int) {
	lags := make([]time.Duration, len(starts))
	once := map[start]int{}
	early := 0
	for i, s := range starts {
		lags[i] = s.lag()
		if lags[i] < 0 {
			early++
		}
		once[start{job: s.job, scheduled: s.scheduled}]++
	}
	slices.Sort(lags)
	to.note("precision_p50_ms", millis(quantile(lags, 0.50)), nil)
	to.note("precision_p99_ms", millis(quantile(lags, 0.99)), nil)
	to.note("precision_max_ms", millis(quantile(lags, 1)), nil)
	to.note("precision_early", float64(early), nil)
	to.note("precision_missing", float64(wanted-ranOnce(once)), nil)
}

// ranOnce counts those that ran exactly once.
func ranOnce(runs map[start]int) int {
	once := 0
	for _, n := range runs {
		if n == 1 {
			once++
		}
	}
	return once
}

// quantile of durations in ascending order: the smallest that so large a part
// of them does not exceed; zero when there are none.
func quantile(ascending []time.Duration, part float64) time.Duration {
	if len(ascending) == 0 {
		return 0
	}
	at := int(float64(len(ascending))*part+0.999999) - 1
	return ascending[min(max(at, 0), len(ascending)-1)]
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
