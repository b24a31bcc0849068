package sim_test

import (
	"context"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// between does something once, between a read of a calendar or of its users and what
// is done with the answer.
type between struct {
	control.Calendars
	calendar, users func()
}

func once(f *func()) {
	if do := *f; do != nil {
		*f = nil
		do()
	}
}

func (b *between) Calendar(ctx context.Context, tenant, name string) (*job.StoredCalendar, error) {
	c, err := b.Calendars.Calendar(ctx, tenant, name)
	once(&b.calendar)
	return c, err
}

func (b *between) CalendarUsers(ctx context.Context, tenant, calendar, cursor string, limit int) ([]job.CalendarUser, string, error) {
	users, next, err := b.Calendars.CalendarUsers(ctx, tenant, calendar, cursor, limit)
	once(&b.users)
	return users, next, err
}

// Two verbs at a time: no job comes to keep to a calendar that is gone, none to
// content that was old when it was put, and no calendar goes that a job has just named.
func TestVerbsOnACalendarAndOnItsJobsAtOneTime(t *testing.T) {
	onStage(t, job.Definition{Schedule: job.Schedule{Cron: "0 12 1 1 *"}}, func(s *stage) {
		calendar := job.Calendar{Name: "a", Weekly: []job.Window{{Days: "*", From: "00:20", To: "00:30"}}}
		request := control.CalendarRequest{Tenant: job.DefaultTenant, Calendar: job.Calendar{Name: "a"}, Actor: "test"}
		definition := job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *", Exclude: []string{"a"}}}
		s.ref.Job = "kept"
		racing := *s.planes().Control
		put := func() error { _, err := racing.Put(s.Context(), putOf(s.ref, definition)); return err }

		putCalendar(s.T, s.w, calendar)
		racing.Calendars = &between{Calendars: s.planes().Store, calendar: func() { s.must(s.planes().Control.DeleteCalendar(s.Context(), request)) }}
		if err := put(); job.CodeOf(err) != job.CodeInvalid {
			s.Errorf("put while the calendar was deleted: %v", err)
		}

		putCalendar(s.T, s.w, calendar)
		calendar.Weekly[0].To = "00:40"
		racing.Calendars = &between{Calendars: s.planes().Store, calendar: func() { putCalendar(s.T, s.w, calendar) }}
		s.must(put())
		rev, err := s.planes().Store.Revision(s.Context(), s.ref, 1)
		s.must(err)
		if rev.Calendars[0].Weekly[0].To != "00:40" {
			s.Errorf("the job pinned %+v", rev.Calendars)
		}

		_, err = s.planes().Control.Delete(s.Context(), s.ref, "test", 0)
		s.must(err)
		racing.Calendars = &between{Calendars: s.planes().Store, users: func() { s.apply(definition) }}
		if err := racing.DeleteCalendar(s.Context(), request); job.CodeOf(err) != job.CodeStateConflict {
			s.Errorf("deleted while a job was put: %v", err)
		}
		time.Sleep(time.Second)
		if c, use, err := racing.GetCalendar(s.Context(), job.DefaultTenant, "a"); err != nil || use.Jobs != 1 || c.Weekly[0].To != "00:40" {
			s.Errorf("it is %+v, used by %+v, %v", c, use, err)
		}
	})
}
