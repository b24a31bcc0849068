package workertest

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// Facts are what an attempt tells its handler. What is left out takes the
// value named.
type Facts struct {
	Tenant       string          // default
	Job          string          // test
	ScheduledAt  time.Time       // 2026-07-12 01:30 UTC
	CreatedAt    time.Time       // five minutes before ScheduledAt
	Revision     int             // 1
	Number       int             // 1
	FencingToken int64           // 1
	Deadline     time.Time       // a minute after ScheduledAt
	ReplayOf     string          // none
	Payload      string          // none
	Target       job.Target      // none
	Canceled     <-chan struct{} // never closed
	Log          *slog.Logger    // silent
}

// Attempt makes the attempt.
func Attempt(f Facts) *worker.Attempt {
	if f.ScheduledAt.IsZero() {
		f.ScheduledAt = time.Date(2026, 7, 12, 1, 30, 0, 0, time.UTC)
	}
	if f.Deadline.IsZero() {
		f.Deadline = f.ScheduledAt.Add(time.Minute)
	}
	if f.CreatedAt.IsZero() {
		f.CreatedAt = f.ScheduledAt.Add(-5 * time.Minute)
	}
	ref := job.Ref{Tenant: cmp.Or(f.Tenant, job.DefaultTenant), Job: cmp.Or(f.Job, "test")}
	e := &job.Execution{Ref: ref, Key: job.ScheduledKey(f.ScheduledAt), Revision: cmp.Or(f.Revision, 1), Status: job.Running, CreatedAt: f.CreatedAt,
		Attempt: cmp.Or(f.Number, 1), FencingToken: cmp.Or(f.FencingToken, 1), ReplayOf: f.ReplayOf}
	definition := job.Definition{Job: ref.Job, Target: f.Target, Payload: json.RawMessage(f.Payload)}
	return worker.NewAttempt(&execute.Attempt{Execution: e, Definition: definition, Deadline: f.Deadline, Canceled: f.Canceled}, f.Log)
}
