package trigger

import (
	"context"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe"
)

// Tick fans out the scan of the current minute, unless another tick of the
// same minute did, and sends the next tick to itself. It reports whether this
// one fanned out.
//
// The next tick is sent first: a crash after it costs nothing, a crash before
// it is made good by the platform's own schedule.
func (s *Service) Tick(ctx context.Context) (bool, error) {
	now := s.Clock.Now()
	minute := now.Truncate(time.Minute)
	won, err := s.Signals.WinTick(ctx, minute, s.Token())
	if err != nil || !won {
		return false, err
	}
	if err := s.Signals.SendTick(ctx, minute.Add(time.Minute), 60*time.Second); err != nil {
		s.log().Warn("next tick not sent; the platform's schedule remains", "error", err)
	}
	layouts, err := s.Signals.Layouts(ctx)
	if err != nil {
		return false, err
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
