package sim_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

func putCalendar(t *testing.T, w *sim.World, c job.Calendar) control.CalendarResult {
	t.Helper()
	result, err := w.Control.Control.PutCalendar(t.Context(), control.CalendarRequest{Tenant: job.DefaultTenant, Calendar: c, Actor: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// applyAll applies a calendar page by page until every job was looked at.
func applyAll(t *testing.T, w *sim.World, name string) (changed, calls int) {
	t.Helper()
	for cursor := ""; ; {
		done, err := w.Control.Control.ApplyCalendar(t.Context(), job.DefaultTenant, name, "test", cursor)
		if err != nil {
			t.Fatal(err)
		}
		changed, calls = changed+done.Changed, calls+1
		if cursor = done.Next; cursor == "" {
			return changed, calls
		}
	}
}

// began tells when the executions of a job began, as "01-03 06:00".
func began(w *sim.World, ref job.Ref) (list []string) {
	for _, r := range w.Runs() {
		if r.Ref == ref {
			list = append(list, r.Key.ScheduledAt.Format("01-02 15:04"))
		}
	}
	slices.Sort(list)
	return list
}

var (
	simHolidays = job.Calendar{Name: "holidays", Zone: "UTC", Dates: []string{"2000-01-04"}}
	simWeekend  = job.Calendar{Name: "weekend", Zone: "UTC", Weekly: []job.Window{{Days: "sat,sun"}}}
	simMornings = job.Calendar{Name: "mornings", Zone: "UTC", Weekly: []job.Window{{Days: "*", From: "05:00", To: "09:00"}}}
)

// Five days, from Saturday 1 January 2000, with every process of the installation:
// the 4th is a holiday.
func TestJobsKeepToTheirCalendars(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of simulated days; part of make test")
	}
	t.Parallel()
	rows := map[string]struct {
		schedule job.Schedule
		want     string
	}{
		"holidays-are-left-out":   {job.Schedule{Cron: "0 6 * * *", Exclude: []string{"holidays"}}, "01-01 06:00 01-02 06:00 01-03 06:00 01-05 06:00"},
		"or-move-forward":         {job.Schedule{Cron: "0 6 4 * *", Exclude: []string{"holidays"}, OnExcluded: job.ExcludedNext}, "01-05 06:00"},
		"or-back":                 {job.Schedule{Cron: "0 6 4 * *", Exclude: []string{"holidays"}, OnExcluded: job.ExcludedPrevious}, "01-03 06:00"},
		"several-calendars":       {job.Schedule{Cron: "0 6 * * *", Exclude: []string{"holidays", "weekend"}}, "01-03 06:00 01-05 06:00"},
		"within-one-not-in-other": {job.Schedule{Cron: "0 6,12 * * *", Include: []string{"mornings"}, Exclude: []string{"weekend", "holidays"}}, "01-03 06:00 01-05 06:00"},
		"an-interval":             {job.Schedule{Every: job.Duration(12 * time.Hour), Exclude: []string{"holidays"}, Start: time.Date(2000, 1, 3, 1, 0, 0, 0, time.UTC)}, "01-03 01:00 01-03 13:00 01-05 01:00 01-05 13:00"},
	}
	// The short form begins on the third day: the holiday is still to come.
	var later time.Duration
	if testing.Short() {
		later = 2 * 24 * time.Hour
		for name, row := range rows {
			row.want = row.want[max(strings.Index(row.want, "01-03"), 0):]
			rows[name] = row
		}
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(later)
		w := world(t, sim.Options{Workers: 1})
		for _, c := range []job.Calendar{simHolidays, simWeekend, simMornings} {
			putCalendar(t, w, c)
		}
		w.Start(t.Context())
		begun := time.Now()
		for name, row := range rows {
			put(t, w, job.Definition{Job: name, Schedule: row.schedule})
		}
		time.Sleep(4*24*time.Hour + 20*time.Hour - later)
		w.Stop()
		for name, row := range rows {
			ref := job.Ref{Tenant: job.DefaultTenant, Job: name}
			if got := strings.Join(began(w, ref), " "); got != row.want {
				t.Errorf("%s: ran %s\nwant %s", name, got, row.want)
			}
			if err := w.Check(t.Context(), ref, begun, begun.Add(4*24*time.Hour+19*time.Hour-later)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// A calendar changes while jobs run by the dozen: each keeps to what its revision
// holds until the change is applied, then to the new content, and no time is lost
// or doubled.
func TestACalendarChangesUnderLoad(t *testing.T) {
	const jobs = 30
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{})
		putCalendar(t, w, job.Calendar{Name: "stops", Weekly: []job.Window{{Days: "*", From: "00:20", To: "00:30"}}})
		w.Start(t.Context())
		refs := make([]job.Ref, jobs)
		for i := range refs {
			refs[i] = put(t, w, job.Definition{Job: fmt.Sprintf("job-%02d", i), Schedule: job.Schedule{Cron: "* * * * *", Exclude: []string{"stops"}}})
		}
		time.Sleep(10*time.Minute + 30*time.Second)
		changed := putCalendar(t, w, job.Calendar{Name: "stops", Weekly: []job.Window{{Days: "*", From: "00:40", To: "00:50"}}})
		if changed.Use != (control.CalendarUse{Jobs: jobs, Behind: jobs}) || changed.Action != control.Updated || len(changed.Effects) != 5 || len(changed.Effects[0].Appear) != 10 {
			t.Errorf("the change says %+v", changed)
		}
		time.Sleep(30 * time.Minute / 2) // 00:25: not applied yet
		if n, _ := applyAll(t, w, "stops"); n != jobs {
			t.Errorf("%d jobs were changed", n)
		}
		if n, _ := applyAll(t, w, "stops"); n != 0 {
			t.Errorf("%d jobs were changed again", n)
		}
		time.Sleep(35 * time.Minute)
		w.Stop()
		var want []string
		for minute := 1; minute < 60; minute++ {
			if minute >= 20 && minute <= 25 || minute >= 40 && minute < 50 {
				continue
			}
			want = append(want, fmt.Sprintf("01-01 00:%02d", minute))
		}
		for _, ref := range refs {
			got := began(w, ref)
			if i := slices.Index(got, "01-01 01:00"); i >= 0 {
				got = got[:i]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s ran %v\nwant %v", ref.Job, got, want)
			}
		}
		if _, use, err := w.Control.Control.GetCalendar(t.Context(), job.DefaultTenant, "stops"); err != nil || use.Behind != 0 {
			t.Errorf("%+v behind, %v", use, err)
		}
	})
}

// What waits for its moment keeps to its own calendars, and a change reaches both.
func TestASwitchOverBetweenCalendars(t *testing.T) {
	twenties := job.Calendar{Name: "a", Weekly: []job.Window{{Days: "*", From: "00:20", To: "00:30"}}}
	for says, row := range map[string]struct {
		then func(s *stage)
		want []string
	}{
		"each its own": {func(*stage) {}, []string{"00:10:00 v2", "00:40:00 v3"}},
		"changed while one waits": {func(s *stage) {
			putCalendar(s.T, s.w, job.Calendar{Name: "b", Weekly: []job.Window{{Days: "*", From: "00:40", To: "00:41"}}})
			if n, _ := applyAll(s.T, s.w, "b"); n != 1 {
				s.Errorf("%d changed", n)
			}
		}, []string{"00:10:00 v3", "00:30:00 v4"}},
	} {
		t.Run(says, func(t *testing.T) {
			onStage(t, job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *"}}, func(s *stage) {
				putCalendar(s.T, s.w, twenties)
				putCalendar(s.T, s.w, job.Calendar{Name: "b", Weekly: []job.Window{{Days: "*", From: "00:30", To: "00:40"}}})
				s.ref.Job = "kept"
				s.apply(job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *", Exclude: []string{"a"}}})
				_, err := s.later(job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *", Exclude: []string{"b"}}}, "00:25:00")
				s.must(err)
				if err := s.planes().Control.DeleteCalendar(s.Context(), control.CalendarRequest{Tenant: job.DefaultTenant, Calendar: job.Calendar{Name: "b"}}); job.CodeOf(err) != job.CodeStateConflict {
					s.Errorf("the calendar of what waits was deleted: %v", err)
				}
				row.then(s)
				s.scanUntil("00:37:30")
				if got := s.made(); !slices.Equal(got, row.want) {
					s.Errorf("made %v\nwant %v", got, row.want)
				}
				for name, wants := range map[string]job.Code{"a": "", "b": job.CodeStateConflict} {
					err := s.planes().Control.DeleteCalendar(s.Context(), control.CalendarRequest{Tenant: job.DefaultTenant, Calendar: job.Calendar{Name: name}})
					if job.CodeOf(err) != wants {
						s.Errorf("after the switch-over %s: %v", name, err)
					}
				}
			})
		})
	}
}

// Pause and resume keep to the calendar: what it excludes in a pause is not caught up.
func TestAPauseUnderACalendar(t *testing.T) {
	onStage(t, job.Definition{Schedule: job.Schedule{Cron: "0 12 1 1 *"}}, func(s *stage) {
		putCalendar(s.T, s.w, job.Calendar{Name: "a", Weekly: []job.Window{{Days: "*", From: "00:20", To: "00:30"}}})
		s.ref.Job = "kept"
		s.apply(job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *", Exclude: []string{"a"}}, OnResume: job.ResumeCatchUp, Misfire: &job.Misfire{Policy: job.MisfireFireAll}})
		_, err := s.planes().Control.Pause(s.Context(), s.ref, "test")
		s.must(err)
		time.Sleep(31 * time.Minute)
		_, err = s.planes().Control.Resume(s.Context(), s.ref, "test", "")
		s.must(err)
		s.scanUntil("00:37:30")
		if got, want := s.made(), []string{"00:10:00 v1", "00:30:00 v1", "00:40:00 v1"}; !slices.Equal(got, want) {
			s.Errorf("made %v\nwant %v", got, want)
		}
	})
}
