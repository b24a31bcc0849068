package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// Calendars is what the control plane does to stored calendars.
type Calendars interface {
	// Calendar strongly reads one, also a tombstone; nil when there never was one.
	Calendar(ctx context.Context, tenant, name string) (*job.StoredCalendar, error)
	// ListCalendars pages through a tenant's calendars, tombstones included.
	ListCalendars(ctx context.Context, tenant, cursor string, limit int) ([]job.StoredCalendar, string, error)
	// SaveCalendar compares and sets one; job.ErrLost when another change came first.
	SaveCalendar(ctx context.Context, c job.CalendarChange) error
	// CalendarUsers strongly pages through the jobs that keep to one.
	CalendarUsers(ctx context.Context, tenant, calendar, cursor string, limit int) ([]job.CalendarUser, string, error)
	// CalendarUse strongly reads the version under which a job is known to keep to
	// one; 0 when it is not known to.
	CalendarUse(ctx context.Context, ref job.Ref, calendar string) (int, error)
	// MendCalendarUse writes down again that a job keeps to one; job.ErrLost when the
	// head has changed, or it is known by now.
	MendCalendarUse(ctx context.Context, seen *job.Head, calendar string, version int) error
}

// CalendarRequest makes a calendar, changes it or, when Delete is set, ends it.
type CalendarRequest struct {
	Tenant   string
	Calendar job.Calendar // with Delete, its name alone
	Actor    string
	IfMatch  int // version that must be current; 0 = any
	DryRun   bool
	Delete   bool
}

// CalendarUse tells who keeps to a calendar.
type CalendarUse struct {
	Jobs   int  // that name it, at most countedUsers
	Behind int  // of those, jobs whose revision pinned another version
	More   bool // there are more than were counted
}

// CalendarEffect is what a change of a calendar does to one job once it is applied.
type CalendarEffect struct {
	Job            string
	Appear, Vanish []time.Time
}

// CalendarResult tells what a change did, or would do.
type CalendarResult struct {
	Action   Action
	Calendar job.StoredCalendar
	Use      CalendarUse
	Effects  []CalendarEffect // of the first few jobs

	found *job.StoredCalendar // before the change
}

const (
	countedUsers  = 1000
	shownEffects  = 5
	namedUsers    = 5
	calendarsPage = 200
)

// PutCalendar makes a calendar or changes it. Jobs keep to what their revisions
// pinned until the change is applied to them.
func (s *Service) PutCalendar(ctx context.Context, r CalendarRequest) (CalendarResult, error) {
	if err := checkCalendar(r.Calendar); err != nil {
		return CalendarResult{}, err
	}
	return s.changeCalendar(ctx, r, func(old *job.StoredCalendar, next *job.StoredCalendar) (Action, error) {
		if old != nil && !old.Deleted && sameCalendar(old.Calendar, r.Calendar) {
			return Unchanged, nil
		}
		if old == nil || old.Deleted {
			return Created, nil
		}
		return Updated, nil
	})
}

// DeleteCalendar ends a calendar that no job keeps to; deleting a deleted one is no
// error.
func (s *Service) DeleteCalendar(ctx context.Context, r CalendarRequest) error {
	r.Delete = true
	result, err := s.changeCalendar(ctx, r, func(old *job.StoredCalendar, next *job.StoredCalendar) (Action, error) {
		if old == nil {
			return "", calendarNotFound(r.Calendar.Name)
		}
		if old.Deleted {
			return Unchanged, nil
		}
		next.Deleted, next.Calendar = true, job.Calendar{Name: old.Name}
		return Updated, s.refuseUsed(ctx, r.Tenant, old.Name)
	})
	if err != nil || result.Action == Unchanged {
		return err
	}
	// A job that was put at the same time may have read the calendar before: it is
	// among the users by now, or its write finds the tombstone.
	used := s.refuseUsed(ctx, r.Tenant, r.Calendar.Name)
	if used == nil {
		return nil
	}
	return errors.Join(used, s.undelete(ctx, r, result))
}

// undelete puts the content that a delete found back.
func (s *Service) undelete(ctx context.Context, r CalendarRequest, deleted CalendarResult) error {
	back := *deleted.found
	back.Version = deleted.Calendar.Version + 1
	now := s.Clock.Now().Truncate(time.Millisecond)
	return s.Calendars.SaveCalendar(ctx, job.CalendarChange{Old: &deleted.Calendar, New: back, Audit: calendarAudit(&back, "calendar-put", r.Actor, now)})
}

func (s *Service) changeCalendar(ctx context.Context, r CalendarRequest, decide func(old, next *job.StoredCalendar) (Action, error)) (CalendarResult, error) {
	if err := s.Jobs.Restored(ctx); err != nil {
		return CalendarResult{}, err
	}
	for try := 0; ; try++ {
		old, err := s.Calendars.Calendar(ctx, r.Tenant, r.Calendar.Name)
		if err != nil {
			return CalendarResult{}, err
		}
		if err := checkVersion(old, r); err != nil {
			return CalendarResult{}, err
		}
		now := s.Clock.Now().Truncate(time.Millisecond)
		next := job.StoredCalendar{Calendar: r.Calendar, Tenant: r.Tenant, Version: 1, UpdatedAt: now, ChangedBy: r.Actor}
		if old != nil {
			next.Version = old.Version + 1
		}
		result := CalendarResult{found: old}
		if result.Action, err = decide(old, &next); err != nil {
			return CalendarResult{}, err
		}
		if result.Action == Unchanged {
			next = *old
		}
		if !r.Delete {
			if err := s.effects(ctx, &result, &next, now); err != nil {
				return CalendarResult{}, err
			}
		}
		result.Calendar = next
		if r.DryRun || result.Action == Unchanged {
			return result, nil
		}
		verb := "calendar-put"
		if r.Delete {
			verb = "calendar-delete"
		}
		err = s.Calendars.SaveCalendar(ctx, job.CalendarChange{Old: old, New: next, Audit: calendarAudit(&next, verb, r.Actor, now)})
		if !errors.Is(err, job.ErrLost) || try >= maxTries {
			return result, err
		}
	}
}

func calendarAudit(c *job.StoredCalendar, verb, actor string, at time.Time) job.Audit {
	// A colon is in no job's name.
	return job.Audit{At: at, Ref: job.Ref{Tenant: c.Tenant, Job: "calendar:" + c.Name}, Verb: verb, Actor: actor, Revision: c.Version}
}

func checkCalendar(c job.Calendar) error {
	if _, err := schedule.CompileCalendar(c); err != nil {
		return err
	}
	encoded, err := json.Marshal(c)
	if err != nil || len(encoded) > job.MaxCalendarBytes {
		return &job.Error{Code: job.CodeTooLarge, Field: "calendar", Value: fmt.Sprint(len(encoded)), Bound: fmt.Sprintf("%d bytes", job.MaxCalendarBytes),
			Message: fmt.Sprintf("the calendar is %d bytes of JSON", len(encoded)), Fix: "leave out days that lie in the past, or split it in two"}
	}
	return nil
}

func checkVersion(old *job.StoredCalendar, r CalendarRequest) error {
	if old != nil && old.Schema > job.Schema {
		return &job.Error{Code: job.CodeUnavailable, Message: "the calendar was written by a newer version of Belfry", Fix: "try again once the deployment is complete"}
	}
	switch {
	case r.IfMatch == 0:
		return nil
	case old == nil || old.Deleted:
		return calendarNotFound(r.Calendar.Name)
	case old.Version != r.IfMatch:
		return &job.Error{Code: job.CodeRevisionConflict, Field: "version", Value: fmt.Sprint(r.IfMatch), Bound: fmt.Sprint(old.Version),
			Message: fmt.Sprintf("the calendar is at version %d, not %d", old.Version, r.IfMatch), Fix: "read it again and apply the change to what is there"}
	}
	return nil
}

// refuseUsed refuses while jobs keep to the calendar, and names the first of them.
func (s *Service) refuseUsed(ctx context.Context, tenant, name string) error {
	users, _, err := s.Calendars.CalendarUsers(ctx, tenant, name, "", namedUsers+1)
	if err != nil || len(users) == 0 {
		return err
	}
	names := make([]string, 0, namedUsers+1)
	for i, u := range users {
		if i == namedUsers {
			names = append(names, "…")
			break
		}
		names = append(names, u.Job)
	}
	return &job.Error{Code: job.CodeStateConflict, Field: "calendar", Value: name, Message: "jobs keep to the calendar \"" + name + "\": " + strings.Join(names, ", "),
		Fix: "take it out of their schedules, or put an empty calendar in its place"}
}

// GetCalendar reads a calendar and who keeps to it.
func (s *Service) GetCalendar(ctx context.Context, tenant, name string) (*job.StoredCalendar, CalendarUse, error) {
	c, err := s.Calendars.Calendar(ctx, tenant, name)
	if err == nil && (c == nil || c.Deleted) {
		err = calendarNotFound(name)
	}
	if err != nil {
		return nil, CalendarUse{}, err
	}
	users, use, err := s.users(ctx, tenant, name)
	for _, u := range users {
		if u.Version != c.Version {
			use.Behind++
		}
	}
	return c, use, err
}

// ListCalendars pages through a tenant's calendars by name.
func (s *Service) ListCalendars(ctx context.Context, tenant, cursor string, limit int) ([]job.StoredCalendar, string, error) {
	list, next, err := s.Calendars.ListCalendars(ctx, tenant, cursor, limit)
	return slices.DeleteFunc(list, func(c job.StoredCalendar) bool { return c.Deleted }), next, err
}

func (s *Service) users(ctx context.Context, tenant, name string) ([]job.CalendarUser, CalendarUse, error) {
	var all []job.CalendarUser
	for cursor := ""; ; {
		page, next, err := s.Calendars.CalendarUsers(ctx, tenant, name, cursor, calendarsPage)
		if err != nil {
			return nil, CalendarUse{}, err
		}
		all = append(all, page...)
		if cursor = next; next == "" || len(all) >= countedUsers {
			return all, CalendarUse{Jobs: len(all), More: next != ""}, nil
		}
	}
}

func calendarNotFound(name string) error {
	return &job.Error{Code: job.CodeNotFound, Field: "calendar", Value: job.Shorten(name), Message: "there is no calendar \"" + job.Shorten(name) + "\"",
		Fix: "list the calendars with: belfry calendars list"}
}

func sameCalendar(a, b job.Calendar) bool {
	left, errLeft := json.Marshal(a)
	right, errRight := json.Marshal(b)
	return errLeft == nil && errRight == nil && string(left) == string(right)
}

// effects tells who keeps to the calendar and, of the first few jobs, which coming
// times next adds and takes away. A version that a job pinned is not given out again,
// also when a restore took the calendar back behind it.
func (s *Service) effects(ctx context.Context, result *CalendarResult, next *job.StoredCalendar, now time.Time) error {
	users, use, err := s.users(ctx, next.Tenant, next.Name)
	if err != nil {
		return err
	}
	if result.Action != Unchanged {
		for _, u := range users {
			next.Version = max(next.Version, u.Version+1)
		}
	}
	for _, u := range users {
		if u.Version != next.Version {
			use.Behind++
		}
	}
	result.Use = use
	for _, u := range users[:min(shownEffects, len(users))] {
		effect, err := s.effect(ctx, job.Ref{Tenant: next.Tenant, Job: u.Job}, *next, now)
		if err != nil {
			return err
		}
		result.Effects = append(result.Effects, effect)
	}
	return nil
}

func (s *Service) effect(ctx context.Context, ref job.Ref, next job.StoredCalendar, now time.Time) (CalendarEffect, error) {
	none := CalendarEffect{Job: ref.Job}
	head, err := s.Jobs.Head(ctx, ref)
	if err != nil || head == nil || head.State == job.Deleted {
		return none, err
	}
	rev, err := s.Jobs.Revision(ctx, ref, head.Revision)
	if err != nil || rev == nil {
		return none, err
	}
	pinned := slices.Clone(rev.Calendars)
	for i := range pinned {
		if pinned[i].Name == next.Name {
			pinned[i] = job.PinnedCalendar{Calendar: next.Calendar, Version: next.Version}
		}
	}
	before, err := s.Zones.OfRevision(rev)
	if err != nil {
		return none, nil //nolint:nilerr // of what cannot be evaluated nothing is compared
	}
	after, err := s.Zones.CompileUnder(head.Schedule, head.Anchor, pinned)
	if err != nil {
		return none, nil //nolint:nilerr // as above
	}
	head.State = head.StateAt(now)
	none.Appear, none.Vanish = compared(running(head, schedule.Course{{Plan: before}}), running(head, schedule.Course{{Plan: after}}), now)
	return none, nil
}
