package worker

import (
	"fmt"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job/template"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// CodeTemplateInvalid is the failure of an attempt whose templates give nothing
// that its target can be called with.
const CodeTemplateInvalid = "TEMPLATE_INVALID"

// rendered is what a handler is told: the attempt with the templates of its
// payload and its target filled in. The stored definition stays as it is.
func (w *Worker) rendered(run *execute.Attempt) (*Attempt, error) {
	a := NewAttempt(run, w.log)
	if !run.Definition.Template {
		return a, nil
	}
	filled, err := run.Definition.Rendered(a.facts())
	if err == nil {
		err = filled.CheckRendered()
	}
	if err != nil {
		return nil, WithCode(CodeTemplateInvalid, Permanent(fmt.Errorf("fill in the templates of job %s: %w", a.Job(), err)))
	}
	told := *run
	told.Definition = filled
	return NewAttempt(&told, w.log), nil
}

// facts are what templates can ask for.
func (a *Attempt) facts() template.Facts {
	start, end := a.Interval()
	f := template.Facts{ExecutionID: a.ExecutionID(), IdempotencyKey: a.IdempotencyKey(), Tenant: a.Tenant(), Job: a.Job(), Revision: a.Revision(), Attempt: a.Number(),
		FencingToken: a.FencingToken(), ScheduledTime: a.ScheduledAt(), IntervalStart: start, IntervalEnd: end, Deadline: a.Deadline(), Zone: time.UTC}
	if plan, err := schedule.CompileUnder(a.run.Definition.Schedule, a.run.Anchor, a.run.Calendars); err == nil {
		f.Zone = plan.Location()
	}
	return f
}
