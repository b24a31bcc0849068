package control

import (
	"context"
	"slices"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// JobView is a job as people read it: its head, its current definition, and the one
// that waits to take over.
type JobView struct {
	Head       job.Head
	Definition job.Definition
	Waiting    *job.Definition // nil = none waits
}

// Get reads a job. A deleted one is not found.
func (s *Service) Get(ctx context.Context, ref job.Ref) (*JobView, error) {
	head, err := s.Jobs.Head(ctx, ref)
	if err != nil {
		return nil, err
	}
	if head == nil || head.State == job.Deleted {
		return nil, notFound(ref)
	}
	rev, err := s.Jobs.Revision(ctx, ref, head.Revision)
	if err != nil {
		return nil, err
	}
	view := &JobView{Head: *head}
	view.Head.State = head.StateAt(s.Clock.Now())
	if rev != nil {
		view.Definition = rev.Definition
	}
	waiting, err := s.waitingFor(ctx, head)
	if waiting != nil {
		view.Waiting = &waiting.Definition
	}
	return view, err
}

// List pages through a tenant's jobs in no promised order; deleted ones are
// left out. The cursor of the last page is empty.
func (s *Service) List(ctx context.Context, tenant, cursor string, limit int) ([]job.Head, string, error) {
	heads, next, err := s.Jobs.ListJobs(ctx, tenant, cursor, limit)
	if err != nil {
		return nil, "", err
	}
	kept := heads[:0]
	now := s.Clock.Now()
	for _, h := range heads {
		h.State = h.StateAt(now)
		if h.State != job.Deleted {
			kept = append(kept, h)
		}
	}
	return kept, next, nil
}

// PlanOf is the plan of a job as it is now, under the calendars that its revision
// pinned.
func (s *Service) PlanOf(ctx context.Context, head *job.Head) (*schedule.Plan, error) {
	return s.Zones.OfHead(head, func() (*job.Revision, error) { return s.Jobs.Revision(ctx, head.Ref, head.Revision) })
}

// NextFires previews the coming scheduled times of a job after a time (zero =
// now). A job that is not enabled has none.
func (s *Service) NextFires(ctx context.Context, ref job.Ref, after time.Time, count int) ([]schedule.Fire, error) {
	view, err := s.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	if view.Head.State != job.Enabled {
		return nil, nil
	}
	course, err := s.CourseOf(ctx, &view.Head)
	if err != nil {
		return nil, err
	}
	if after.IsZero() {
		after = s.Clock.Now()
	}
	return course.Preview(after, count, ref), nil
}

// ExecutionView is an execution with its whole timeline: what it carries and
// what fell out of it into history items.
type ExecutionView struct {
	Execution job.Execution
	Timeline  []job.Entry
	FanOut    *job.FanOut // nil = it has no children
}

// keptEntries is how many of a timeline's first entries stay with their
// execution for good.
const keptEntries = 2

// GetExecution reads one execution by key. The id of another revision finds
// the stored execution too, since the revision is no part of the key.
func (s *Service) GetExecution(ctx context.Context, ref job.Ref, key job.Key) (*ExecutionView, error) {
	e, err := s.Executions.Execution(ctx, ref, key)
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, executionNotFound(ref, key)
	}
	view := &ExecutionView{Execution: *e, Timeline: e.Timeline}
	if e.FannedOut {
		if view.FanOut, err = s.Families.FanOut(ctx, ref, key); err != nil {
			return nil, err
		}
	}
	if e.Dropped == 0 {
		return view, nil
	}
	older, err := s.Lists.History(ctx, ref, key)
	if err != nil {
		return nil, err
	}
	// What fell out lay behind the first two entries. Times do not order entries:
	// several can be of one millisecond. What the item still carried when it was
	// read is not taken from the history as well.
	first := min(keptEntries, len(e.Timeline))
	view.Timeline = slices.Concat(e.Timeline[:first], older[:min(len(older), e.Dropped)], e.Timeline[first:])
	return view, nil
}

// ListExecutions pages through executions, newest scheduled time first: of one
// job, or of the whole tenant when no job is named. Times that have not come are
// left out unless upcoming is set or a status asks for them. A deleted job keeps
// its list until it is purged; a job that was never made is not found.
func (s *Service) ListExecutions(ctx context.Context, q ExecutionQuery, upcoming bool) ([]job.Execution, string, error) {
	now := s.Clock.Now()
	if !upcoming && q.Before.IsZero() && !asksScheduled(q.Statuses) {
		q.Before = now
	}
	if q.Ref.Job == "" {
		if q.Before.IsZero() {
			q.Before = now.Add(2 * s.Horizon)
		}
		return s.Lists.Recent(ctx, q.Ref.Tenant, q)
	}
	found, next, err := s.Lists.ListExecutions(ctx, q)
	if err == nil && len(found) == 0 && q.Cursor == "" {
		head, headErr := s.Jobs.Head(ctx, q.Ref)
		if headErr == nil && (head == nil || !head.PurgedAt.IsZero()) {
			headErr = notFound(q.Ref)
		}
		err = headErr
	}
	return found, next, err
}

func asksScheduled(statuses []job.Status) bool {
	for _, s := range statuses {
		if s == job.Scheduled {
			return true
		}
	}
	return false
}
