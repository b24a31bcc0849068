package trigger

import (
	"context"
	"log/slog"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

const (
	// overdueAfter is how long after it became available an execution that
	// nobody runs is taken for forgotten. A longer backlog only costs duplicate
	// messages, which the claim sees through.
	overdueAfter = 10 * time.Minute
	// mostResent bounds what one look-back sends.
	mostResent = 100
)

// lookBack makes good what a queue has lost: after the advance the message is
// the only keeper of an execution. It reads back from settled_upto, sends what
// is overdue again and returns the new settled_upto.
func (w *work) lookBack(ctx context.Context) (time.Time, error) {
	cut := w.now.Add(-overdueAfter).Truncate(time.Second)
	if !cut.After(w.head.SettledUpto) {
		return time.Time{}, nil
	}
	unsettled, err := w.Executions.Unsettled(ctx, w.head.Ref, w.head.SettledUpto, cut, false)
	if err != nil {
		return time.Time{}, err
	}
	settled := cut
	var resend []*job.Execution
	for i := range unsettled {
		e := &unsettled[i]
		if e.ScheduledAt.Add(-time.Second).Before(settled) {
			settled = e.ScheduledAt.Add(-time.Second)
		}
		if forgotten(e, cut) && len(resend) < mostResent {
			resend = append(resend, e)
		}
	}
	if len(resend) > 0 {
		w.log().Warn("executions found without a message; sent again", slog.String("job", w.head.Ref.String()), slog.Int("count", len(resend)))
		for _, err := range w.Admission.Admit(ctx, resend) {
			if err != nil {
				return time.Time{}, err
			}
		}
	}
	if !settled.After(w.head.SettledUpto) {
		return time.Time{}, nil
	}
	return settled, nil
}

// forgotten reports whether an execution was available before cut, and neither
// a lease nor a wake-up keeps it.
func forgotten(e *job.Execution, cut time.Time) bool {
	return e.AvailableAt.Before(cut) && e.Wake.At.IsZero() && !e.Lease.Until.After(cut)
}

// reconcileFor bounds one call of Reconcile: it must end within the API's time.
const reconcileFor = 8 * time.Second

// Reconcile looks through stored executions from start on and sends what is
// overdue, unleased and without a wake-up again: for one-off jobs, which have no
// later advance to look back. It returns after some seconds with where the next
// call goes on; empty when everything was looked through.
func (s *Service) Reconcile(ctx context.Context, start string) (r job.Reconciled, err error) {
	if err := s.Signals.Restored(ctx); err != nil {
		return r, err
	}
	begun := s.Clock.Now()
	cut := begun.Add(-overdueAfter)
	for r.Next = start; ; {
		found, scanned, next, err := s.Executions.Overdue(ctx, cut, r.Next)
		if err != nil {
			return r, err
		}
		r.Scanned += scanned
		for _, err := range s.Admission.Admit(ctx, found) {
			if err != nil {
				return r, err
			}
			r.Sent++
		}
		r.Next = next
		if next == "" || s.Clock.Now().Sub(begun) >= reconcileFor {
			return r, nil
		}
	}
}
