package control

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// Applied tells how far the change of a calendar has been applied.
type Applied struct {
	Changed int    // jobs that got a new revision
	Found   int    // jobs that name it without having been known to, as after a restore
	PutOff  int    // jobs that cannot be changed right now, as while they switch over
	Next    string // where the next call goes on; empty: every job was looked at
}

const (
	// applyAtOnce bounds the jobs that one call of ApplyCalendar changes.
	applyAtOnce = 100
	// applyFor bounds how long it goes on: it must end within the API's time.
	applyFor = 8 * time.Second
)

// searching begins a cursor that goes through all jobs; no job's name begins so.
const searching = "~"

// ApplyCalendar gives the jobs that keep to another version of a calendar a new
// revision with what it holds now: an edit of each. Then it looks through all jobs for
// those that name it and are not known to. It goes on from start (empty = the first)
// and ends after a number of jobs or some seconds; repeated from the first it changes
// only what is still behind.
func (s *Service) ApplyCalendar(ctx context.Context, tenant, name, actor, start string) (a Applied, err error) {
	begun := s.Clock.Now()
	c, err := s.Calendars.Calendar(ctx, tenant, name)
	if err == nil && (c == nil || c.Deleted) {
		err = calendarNotFound(name)
	}
	if err != nil {
		return a, err
	}
	enough := func() bool { return a.Changed+a.PutOff >= applyAtOnce || s.Clock.Now().Sub(begun) > applyFor }
	for a.Next = start; !strings.HasPrefix(a.Next, searching); {
		users, next, err := s.Calendars.CalendarUsers(ctx, tenant, name, a.Next, calendarsPage)
		if err != nil {
			return a, err
		}
		for _, u := range users {
			if u.Version != c.Version {
				if err := s.repin(ctx, job.Ref{Tenant: tenant, Job: u.Job}, actor, &a); err != nil {
					return a, err
				}
			}
			if a.Next = u.Job; enough() {
				return a, nil
			}
		}
		if a.Next = next; next == "" {
			a.Next = searching
		}
	}
	for !enough() {
		next, err := s.searchPage(ctx, c, actor, &a)
		if err != nil {
			return a, err
		}
		if a.Next = ""; next == "" {
			return a, nil
		}
		a.Next = searching + next
	}
	return a, nil
}

// searchPage looks through one page of all jobs for those that name a calendar and
// are not known to, and gives them what it holds.
func (s *Service) searchPage(ctx context.Context, c *job.StoredCalendar, actor string, a *Applied) (next string, err error) {
	heads, next, err := s.Jobs.ListJobs(ctx, c.Tenant, strings.TrimPrefix(a.Next, searching), applyAtOnce)
	if err != nil {
		return "", err
	}
	for i := range heads {
		if !slices.Contains(heads[i].Uses(), c.Name) {
			continue
		}
		version, err := s.mendUse(ctx, &heads[i], c.Name)
		if err != nil {
			return "", err
		}
		if version == 0 {
			continue
		}
		if a.Found++; version != c.Version {
			if err := s.repin(ctx, heads[i].Ref, actor, a); err != nil {
				return "", err
			}
		}
	}
	return next, nil
}

// errPinned ends a repin of a job that keeps to what its calendars hold.
var errPinned = errors.New("the job keeps to its calendars as they are")

func (s *Service) repin(ctx context.Context, ref job.Ref, actor string, a *Applied) error {
	_, err := s.onHead(ctx, ref, actor, func(head *job.Head, now time.Time) (plan, error) {
		if len(head.Uses()) == 0 {
			return plan{}, errPinned
		}
		return s.decideRepin(ctx, head, actor, now)
	})
	switch code := job.CodeOf(err); {
	case err == nil:
		a.Changed++
	case errors.Is(err, errPinned):
	case code == job.CodeStateConflict || code.Class() == job.ClassRefused:
		a.PutOff++ // of this job alone: it stays behind and is told as such
	default:
		return err
	}
	return nil
}

// decideRepin makes the revision that differs from the current one in the content
// of its calendars alone; a definition that waits goes on waiting, with the new content.
func (s *Service) decideRepin(ctx context.Context, head *job.Head, actor string, now time.Time) (plan, error) {
	old, err := s.Jobs.Revision(ctx, head.Ref, head.Revision)
	if err != nil {
		return plan{}, err
	}
	if old == nil {
		return plan{}, stateConflict(head, "change", "its revision is not there: put the job anew")
	}
	if now.Before(head.SwitchedAt) {
		return plan{}, switchesSoon(head, "change")
	}
	pinned, err := s.pin(ctx, head.Tenant, head.Schedule)
	if err != nil {
		return plan{}, err
	}
	compiled, err := s.Zones.CompileUnder(head.Schedule, head.Anchor, pinned)
	if err != nil {
		return plan{}, err
	}
	next := lifecycle.Raised(*head, actor, now, false)
	next.Revision++
	p := plan{verb: "apply-calendar", fresh: pinned}
	rev := *old
	rev.Number, rev.Epoch, rev.CreatedAt, rev.CreatedBy, rev.Calendars, rev.CarryUntil = next.Revision, next.Epoch, now, actor, pinned, carryBound(head, now)
	p.revision = &rev
	same := samePins(old.Calendars, pinned)
	if !head.SwitchAt.IsZero() {
		waits, err := s.repinWaiting(ctx, head, &p)
		if err != nil {
			return plan{}, err
		}
		same = same && waits
	}
	if same {
		return plan{}, errPinned
	}
	next.Reason = head.Reason
	if head.State == job.Enabled || head.State == job.Completed {
		next.State, next.NextFireAt = job.Enabled, cursorAfter(&next, compiled, now)
		if next.NextFireAt.IsZero() {
			next.State = job.Completed
		}
	}
	lifecycle.PassOver(&next, head, now, lifecycle.JobEdited)
	p.next = next
	return p, nil
}

// repinWaiting gives the definition that waits the content of its calendars too, and
// reports whether it has it already.
func (s *Service) repinWaiting(ctx context.Context, head *job.Head, p *plan) (bool, error) {
	waiting, err := s.Jobs.Waiting(ctx, head.Ref)
	if err != nil {
		return false, err
	}
	if waiting == nil || !waiting.CarryUntil.Equal(head.SwitchAt) {
		return false, job.ErrLost // this head is out of date
	}
	pinned, err := s.pin(ctx, head.Tenant, waiting.Definition.Schedule)
	if err != nil {
		return false, err
	}
	again := *waiting
	again.Calendars = pinned
	p.waiting = &again
	for _, c := range pinned {
		if !slices.ContainsFunc(p.fresh, func(have job.PinnedCalendar) bool { return have.Name == c.Name }) {
			p.fresh = append(p.fresh, c)
		}
	}
	return samePins(waiting.Calendars, pinned), nil
}
