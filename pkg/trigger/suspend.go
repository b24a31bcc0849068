package trigger

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// byBelfry is the actor of what nobody asked for.
const byBelfry = "belfry"

// suspend stops a job that has failed too often in a row, and reports whether
// it did. Only executions of the current life count: a resume begins anew, and
// what was missed, skipped or canceled says nothing.
//
// It is a verb like a pause: the epoch is raised, so nothing that has been made
// ahead begins, and times that are due already are recorded.
func (w *work) suspend(ctx context.Context) (bool, error) {
	if w.head.Suspend == 0 {
		return false, nil
	}
	ended, err := w.Executions.LastEnded(ctx, w.head.Ref, w.head.RunsFrom, w.now, w.head.Suspend)
	if err != nil || len(ended) < w.head.Suspend {
		return false, err
	}
	for _, status := range ended {
		if !lifecycle.DeadLetter(status) {
			return false, nil
		}
	}
	next := lifecycle.Raised(*w.head, byBelfry, w.now, true)
	next.State, next.Reason, next.StoppedAt, next.NextFireAt = job.Suspended, lifecycle.JobSuspended, w.now, time.Time{}
	lifecycle.PassOver(&next, w.head, w.now, lifecycle.JobSuspended)
	if err := w.Cursors.ChangeHead(ctx, job.HeadChange{Old: w.head, New: next, Verb: "suspend", Actor: byBelfry, At: w.now}); err != nil {
		return true, err
	}
	w.log().Error("job suspended: it failed too often in a row", slog.String("job", w.head.Ref.String()), slog.Int("failures", w.head.Suspend))
	w.head = &next
	return true, w.withdrawAhead(ctx)
}

// withdrawAhead voids what was made ahead under the life before. The claim would
// refuse it anyway; people see it at once.
func (w *work) withdrawAhead(ctx context.Context) error {
	ahead, err := w.Executions.Unsettled(ctx, w.head.Ref, w.head.SettledUpto, w.upto, true)
	if err != nil {
		return err
	}
	for i := range ahead {
		e := &ahead[i]
		if e.Kind != job.KindScheduled || e.Status != job.Scheduled || e.Attempt > 0 || e.Epoch >= w.head.Epoch {
			continue
		}
		err := w.Executions.Close(ctx, e, lifecycle.WithdrawnBy(w.Clock.Now(), byBelfry, lifecycle.JobSuspended))
		if err != nil && !errors.Is(err, job.ErrLost) {
			return err
		}
	}
	return nil
}
