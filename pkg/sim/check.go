package sim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// Stored reads every execution and range record of a job.
func (w *World) Stored(ctx context.Context, ref job.Ref) ([]job.Execution, error) {
	var all []job.Execution
	for cursor := ""; ; {
		page, next, err := w.Control.Store.ListExecutions(ctx, job.ExecutionQuery{Ref: ref, Limit: 1000, Cursor: cursor})
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if next == "" {
			return all, nil
		}
		cursor = next
	}
}

// Check judges the invariants of the design for one job whose schedule was
// never edited, over the scheduled times in (from, upto]: each has exactly one
// disposition, and nothing that ever happened broke a rule. upto must lie far
// enough back for retries to have ended.
func (w *World) Check(ctx context.Context, ref job.Ref, from, upto time.Time) error {
	return errors.Join(w.checkJob(ctx, ref, from, upto), w.CheckChanges(ctx))
}

// checkJob is Check without the changes of all executions, for worlds of many jobs.
func (w *World) checkJob(ctx context.Context, ref job.Ref, from, upto time.Time) error {
	head, err := w.Control.Store.Head(ctx, ref)
	if err != nil {
		return err
	}
	plan, err := w.Control.Control.PlanOf(ctx, head)
	if err != nil {
		return err
	}
	stored, err := w.Stored(ctx, ref)
	if err != nil {
		return err
	}
	return errors.Join(w.checkDispositions(ref, plan.Between(from, upto, 0), stored), w.checkRuns(ref, schedule.Slot(head.Schedule.Jitter, ref)), w.checkCursor(ref))
}

// checkDispositions is invariants 1 and 2: every scheduled time has ended in
// exactly one recorded way, and nothing else is stored as scheduled.
func (w *World) checkDispositions(ref job.Ref, due []time.Time, stored []job.Execution) error {
	own := map[int64]*job.Execution{}
	var ranges []job.Range
	var errs []error
	for i := range stored {
		e := &stored[i]
		if e.Range != nil {
			ranges = append(ranges, *e.Range)
			continue
		}
		if e.Kind == job.KindScheduled {
			own[e.ScheduledAt.Unix()] = e
		}
		if lifecycle.Terminal(e.Status) && len(e.Timeline) > 0 && e.Timeline[len(e.Timeline)-1].To != e.Status {
			errs = append(errs, fmt.Errorf("invariant 4: the timeline of %s does not explain %s: %v", e.ID(), e.Status, e.Timeline))
		}
	}
	for _, at := range due {
		e := own[at.Unix()]
		covered := 0
		for _, r := range ranges {
			if !at.Before(r.From) && !at.After(r.To) {
				covered++
			}
		}
		switch {
		case e != nil && lifecycle.Terminal(e.Status):
		case e != nil && e.Attempt > 0:
			errs = append(errs, fmt.Errorf("invariant 2: %s is stuck in %s: %+v", e.ID(), e.Status, e))
		case covered == 1:
		case e != nil && e.Status == job.Withdrawn:
		case e != nil:
			errs = append(errs, fmt.Errorf("invariant 2: %s is stuck in %s: %+v", e.ID(), e.Status, e))
		default:
			errs = append(errs, fmt.Errorf("invariant 2: %s at %s has no disposition (%d ranges cover it)", ref, at.Format(time.RFC3339), covered))
		}
	}
	return errors.Join(errs...)
}

// checkRuns: no attempt began early, counted from the job's slot, and no two
// attempts of one execution had the same token.
func (w *World) checkRuns(ref job.Ref, slot time.Duration) error {
	tokens := map[string]bool{}
	var errs []error
	for _, r := range w.Runs() {
		if r.Ref != ref {
			continue
		}
		if r.At.Before(r.Key.ScheduledAt.Add(slot)) {
			errs = append(errs, fmt.Errorf("%s began at %s, before its time", r.ID, r.At))
		}
		token := fmt.Sprint(r.ID, "#", r.Token)
		if tokens[token] {
			errs = append(errs, fmt.Errorf("invariant 1: %s ran twice under token %d", r.ID, r.Token))
		}
		tokens[token] = true
	}
	return errors.Join(errs...)
}

// checkCursor is invariant 6: the cursor strictly increases within an epoch.
func (w *World) checkCursor(ref job.Ref) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, m := range w.moves {
		if m.ref == ref && !m.to.IsZero() && !m.to.After(m.from) {
			errs = append(errs, fmt.Errorf("invariant 6: the cursor of %s moved from %s to %s", ref, m.from, m.to))
		}
	}
	return errors.Join(errs...)
}

// Heads reads how the jobs' heads are, for tests.
func (w *World) Heads(ctx context.Context) ([]job.Head, error) {
	heads, _, err := w.Control.Store.ListJobs(ctx, job.DefaultTenant, "", 1000)
	return heads, err
}
