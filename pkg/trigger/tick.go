package trigger

import (
	"context"
	"log/slog"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/observe"
)

// Tick fans out the scan of the current minute, unless another tick of the
// same minute did, and sends the next tick to itself. It reports whether this
// one fanned out.
//
// After a restore nothing is fanned out until it is repaired.
//
// The next tick is sent first: a crash after it costs nothing, a crash before
// it is made good by the platform's own schedule.
func (s *Service) Tick(ctx context.Context) (bool, error) {
	if restored, err := s.restored(ctx); !restored {
		return false, err
	}
	layouts, err := s.Signals.Layouts(ctx) // read first: its answer tells how late it is
	if err != nil {
		return false, err
	}
	if err := s.trusted(); err != nil {
		return false, err
	}
	now := s.Clock.Now()
	minute := now.Truncate(time.Minute)
	won, err := s.Signals.WinTick(ctx, minute, s.Token())
	if err != nil || !won {
		return false, err
	}
	if err := s.Signals.SendTick(ctx, minute.Add(time.Minute), 60*time.Second); err != nil {
		s.log().Warn("next tick not sent; the platform's schedule remains", "error", err)
	}
	var ranges []job.ShardRange
	for _, layout := range layouts {
		ranges = append(ranges, s.divide(layout)...)
	}
	if err := s.Signals.SendScans(ctx, minute, ranges); err != nil {
		return true, err
	}
	figures := s.Metrics.Batch()
	figures.Count(observe.Ticks, observe.Labels{}, 1)
	figures.Count(observe.ScansSent, observe.Labels{}, len(ranges))
	figures.Flush()
	return true, nil
}

// restored reports whether anything may become due. While a restore waits for
// its repair that is no fault of the tick or scan, which would only be repeated.
func (s *Service) restored(ctx context.Context) (bool, error) {
	err := s.Signals.Restored(ctx)
	if job.CodeOf(err) == job.CodeRestorePending {
		s.log().Warn("nothing becomes due until the restore is repaired", slog.Any("error", err))
		return false, nil
	}
	return err == nil, err
}

// trusted refuses to decide what is due by a clock that is known to be wrong.
func (s *Service) trusted() error {
	return lifecycle.Trusted(s.Off)
}

// divide cuts a layout into ranges of about equal size.
func (s *Service) divide(layout job.Layout) []job.ShardRange {
	messages := s.ScanMessages
	if messages == 0 {
		messages = 16
	}
	size := (layout.Shards + messages - 1) / messages
	var ranges []job.ShardRange
	for from := 0; from < layout.Shards; from += size {
		ranges = append(ranges, job.ShardRange{Generation: layout.Generation, From: from, To: min(from+size, layout.Shards)})
	}
	return ranges
}
