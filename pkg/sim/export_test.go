package sim

import (
	"context"
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
)

// StartCrowd starts what Start does, and more scanners and platform ticks beside.
func (w *World) StartCrowd(ctx context.Context, scanners, ticks int) {
	ctx, end := context.WithCancel(ctx)
	w.Start(ctx)
	stop := w.stop
	w.stop = func() { stop(); end() }
	for i := 1; i < scanners; i++ {
		w.process(ctx, fmt.Sprint("scan-", i), w.scanMessages)
	}
	for i := 1; i < ticks; i++ {
		w.process(ctx, fmt.Sprint("tick-", i), w.tickEachMinute)
	}
}

// Assembled is a further installation view over the same backend, with settings
// of its own.
func (w *World) Assembled(s assemble.Settings) *assemble.Belfry {
	s.Words, s.Spread, s.Pools = w.word, func() float64 { return 0.5 }, w.Options.Pools
	return assemble.New(w.clients(s.Owner, nil), s)
}
