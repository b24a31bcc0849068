package worker

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// Attempt is what a handler is told. It is safe for concurrent use.
type Attempt struct {
	run     *execute.Attempt
	log     *slog.Logger
	payload payload // that lies elsewhere
}

// NewAttempt makes what a handler is told out of what the plane runs; log may
// be nil. Workers call it; tests of handlers use workertest.Attempt.
func NewAttempt(run *execute.Attempt, log *slog.Logger) *Attempt {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Attempt{run: run, log: log}
}

// ExecutionID is the readable id, such as nightly~20260712T013000Z~v3.
func (a *Attempt) ExecutionID() string { return a.run.Execution.ID() }

// IdempotencyKey names the business action: the same for every attempt, for a
// replay, and whatever revision of the job runs. Hand it to outside systems
// that recognise a repeated request.
func (a *Attempt) IdempotencyKey() string {
	e := a.run.Execution
	if name, key, _, err := job.ParseID(e.ReplayOf); err == nil {
		return job.IdempotencyKey(job.Ref{Tenant: e.Tenant, Job: name}, key)
	}
	return job.IdempotencyKey(e.Ref, e.Key)
}

// Tenant is who owns the job.
func (a *Attempt) Tenant() string { return a.run.Execution.Tenant }

// Job is the job's name.
func (a *Attempt) Job() string { return a.run.Execution.Job }

// Revision is the number of the definition that runs.
func (a *Attempt) Revision() int { return a.run.Execution.Revision }

// ScheduledAt is the time that the execution stands for; of a replay, that of what
// it repeats; of a manual run, the second in which it was asked for.
func (a *Attempt) ScheduledAt() time.Time { return a.run.Execution.Stands().ScheduledAt }

// Interval is the span of data that the execution is to work on: from the
// scheduled time before this one, under the same revision, to ScheduledAt.
// One that stands for a range of times that were missed (COALESCE) begins where the
// last one that succeeded ended. Start is zero where there is no time before, and for manual runs.
func (a *Attempt) Interval() (start, end time.Time) {
	end = a.ScheduledAt()
	if covers := a.run.Execution.Covers; !covers.IsZero() {
		return covers, end
	}
	if a.run.Execution.Stands().Parent().Kind != job.KindScheduled {
		return time.Time{}, end
	}
	plan, err := schedule.CompileUnder(a.run.Definition.Schedule, a.run.Anchor, a.run.Calendars)
	if err != nil {
		return time.Time{}, end
	}
	start, _ = plan.Prev(end)
	return start, end
}

// Number counts the attempts of this execution from 1, lost ones included.
func (a *Attempt) Number() int { return a.run.Execution.Attempt }

// FencingToken grows with every attempt of this execution, and begins anew with
// the next one. An outside system that keeps the highest token seen for the
// execution can refuse an attempt that was taken over; see Fence for what more
// than one execution writes.
func (a *Attempt) FencingToken() int64 { return a.run.Execution.FencingToken }

// Deadline is when the attempt times out.
func (a *Attempt) Deadline() time.Time { return a.run.Deadline }

// Canceled is closed when a person asked to cancel the execution.
func (a *Attempt) Canceled() <-chan struct{} { return a.run.Canceled }

// Decode reads the payload into v; an absent one leaves v as it is. The error
// is permanent, with code PAYLOAD_INVALID: return it.
func (a *Attempt) Decode(v any) error {
	if len(a.Payload()) == 0 {
		return nil
	}
	if err := json.Unmarshal(a.Payload(), v); err != nil {
		return WithCode(CodePayloadInvalid, Permanent(fmt.Errorf("read the payload of job %s: %w", a.Job(), err)))
	}
	return nil
}

// Target is what the job says about where its work goes.
func (a *Attempt) Target() job.Target { return a.run.Definition.Target }

// Labels are the job's labels; they must not be changed.
func (a *Attempt) Labels() map[string]string { return a.run.Definition.Labels }

// Log is a logger that names the execution and the attempt in every line.
func (a *Attempt) Log() *slog.Logger {
	return a.log.With(slog.String("job", a.run.Execution.Ref.String()), slog.String("execution", a.ExecutionID()), slog.Int("attempt", a.Number()))
}

// Traceparent is the W3C trace context to hand on: that of the handler's span,
// which the handler's context carries, too. Where nothing is traced it is that of
// the attempt, whose ids follow from the execution's, and says sampled.
func (a *Attempt) Traceparent() string {
	if a.run.Traceparent != "" {
		return a.run.Traceparent
	}
	return observe.TraceparentOf(a.run.Execution)
}
