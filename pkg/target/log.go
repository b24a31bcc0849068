package target

import (
	"context"
	"log/slog"

	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// logger is the target that only says that it ran.
type logger struct{ clock Clock }

// handle writes one line: which execution, for what time, how late, and how
// large its payload is. The payload itself may be secret.
func (l logger) handle(ctx context.Context, a *worker.Attempt) error {
	message := "execution ran"
	if target := a.Target().Log; target != nil && target.Message != "" {
		message = target.Message
	}
	a.Log().LogAttrs(ctx, slog.LevelInfo, message, slog.Time("scheduled_at", a.ScheduledAt()),
		slog.Duration("lag", l.clock.Now().Sub(a.ScheduledAt())), slog.Int("payload_bytes", len(a.Payload())))
	return nil
}
