package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// books are jobs and the record of sweeps, in memory.
type books struct {
	mu      sync.Mutex
	sweeps  job.Sweeps
	heads   []*job.Head
	refuse  string // job whose writes fail
	lose    bool   // another tick is faster at each save
	saves   int
	changes []job.HeadChange
	purged  []string
	left    map[string]bool // jobs of which something is left
	pages   []int           // heads of each page read
	pinned  []job.PinnedCalendar
}

func (b *books) Sweeps(context.Context) (job.Sweeps, error) { return b.sweeps, nil }

func (b *books) SaveSweeps(_ context.Context, seen, next job.Sweeps) error {
	if b.lose || seen.Step != b.sweeps.Step {
		return job.ErrLost
	}
	b.saves++
	next.Step = seen.Step + 1
	b.sweeps = next
	return nil
}

func (b *books) EveryHead(_ context.Context, p job.Part, limit int) ([]*job.Head, string, error) {
	from, _ := strconv.Atoi(p.Start)
	upto := min(from+limit, len(b.heads))
	b.pages = append(b.pages, upto-from)
	next := ""
	if upto < len(b.heads) {
		next = strconv.Itoa(upto)
	}
	return b.heads[from:upto], next, nil
}

func (b *books) Revision(_ context.Context, ref job.Ref, number int) (*job.Revision, error) {
	if ref.Job == b.refuse {
		return nil, errors.New("no answer")
	}
	return &job.Revision{Ref: ref, Number: number, TZDB: "1999a", Calendars: b.pinned}, nil
}

func (b *books) ChangeHead(_ context.Context, c job.HeadChange) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.changes = append(b.changes, c)
	return nil
}

func (b *books) Purge(_ context.Context, h *job.Head, _ time.Time, _ string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.purged = append(b.purged, h.Job)
	return nil
}

func (b *books) Ahead(context.Context, job.Ref, time.Time) ([]job.Execution, time.Time, error) {
	return nil, time.Time{}, nil
}
func (b *books) Close(context.Context, *job.Execution, lifecycle.Transition) error { return nil }
func (b *books) NothingLeft(_ context.Context, ref job.Ref) (bool, error) {
	return !b.left[ref.Job], nil
}

func (b *books) service(t *testing.T) *Service {
	return &Service{Progress: b, Jobs: b, Executions: b, Clock: clock.System{}, Zones: later(t), Kept: 30 * 24 * time.Hour}
}

// In the world of synctest it is midnight of 1 January 2000.
func (b *books) add(name string, change func(h *job.Head)) {
	now := time.Now()
	h := &job.Head{Ref: job.Ref{Tenant: "default", Job: name}, State: job.Enabled, Revision: 3, Epoch: 5, RunsFrom: 2, Schema: job.Schema, UpdatedAt: now.Add(-48 * time.Hour),
		Schedule: job.Schedule{Cron: "0 9 * * *", Zone: "Europe/Berlin"}, LastScheduled: now.Add(-16 * time.Hour), NextFireAt: now.Add(8 * time.Hour)}
	if change != nil {
		change(h)
	}
	b.heads = append(b.heads, h)
}

func TestAMoveIsAnEditThatLeavesTheDefinitionAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &books{}
		now := time.Now()
		b.add("daily", func(h *job.Head) { h.SettledUpto = h.NextFireAt })
		if err := b.service(t).Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(b.changes) != 1 {
			t.Fatalf("%d changes", len(b.changes))
		}
		c := b.changes[0]
		if !c.AtCursor || c.Old != b.heads[0] || c.Verb != "tzdb" || c.Actor != "belfry" {
			t.Errorf("the change is %+v", c)
		}
		if c.New.Epoch != 6 || c.New.Revision != 4 || c.New.RunsFrom != 2 || !c.New.NextFireAt.Equal(now.Add(7*time.Hour)) || !c.New.SettledUpto.Before(c.New.NextFireAt) {
			t.Errorf("the head becomes %+v", c.New)
		}
		if r := c.Revision; r.Number != 4 || r.Epoch != 6 || r.TZDB != "2000a" || !r.CarryUntil.Equal(now) || r.CreatedBy != "belfry" {
			t.Errorf("the revision becomes %+v", r)
		}
	})
}

// Office hours in Berlin begin at 07:00 UTC now, no longer at 08:00; those in Tokyo
// at 01:00, no longer at 00:00.
func TestTimesMoveWithTheZoneOfACalendar(t *testing.T) {
	monday := time.Date(2000, 1, 3, 0, 0, 0, 0, time.UTC)
	for says, row := range map[string]struct {
		schedule job.Schedule  // every hour
		zone     string        // of the calendar
		was, is  time.Duration // the next time, into Monday
	}{
		"the hours to which an interval keeps begin earlier": {job.Schedule{Every: job.Duration(time.Hour), Include: []string{"office"}}, "Europe/Berlin", 8 * time.Hour, 7 * time.Hour},
		"those that it leaves out begin later":               {job.Schedule{Every: job.Duration(time.Hour), Exclude: []string{"office"}}, "Asia/Tokyo", 8 * time.Hour, 0},
		"those of a zone that stays as it was":               {job.Schedule{Every: job.Duration(time.Hour), Include: []string{"office"}}, "America/New_York", 14 * time.Hour, 14 * time.Hour},
		"those of a cron expression in a zone that stays":    {job.Schedule{Cron: "0 * * * *", Zone: "UTC", Include: []string{"office"}}, "Europe/Berlin", 8 * time.Hour, 7 * time.Hour},
	} {
		t.Run(says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(monday))
				b := &books{pinned: []job.PinnedCalendar{{Version: 1, Calendar: job.Calendar{Name: "office", Zone: row.zone, Weekly: []job.Window{{Days: "mon-fri", From: "09:00", To: "17:00"}}}}}}
				b.add("hourly", func(h *job.Head) {
					h.Schedule, h.Anchor = row.schedule, monday.AddDate(0, -1, 0)
					h.NextFireAt, h.LastScheduled = monday.Add(row.was), monday.Add(-time.Hour)
				})
				if err := b.service(t).Step(t.Context()); err != nil {
					t.Fatal(err)
				}
				switch {
				case row.is == row.was && len(b.changes) == 0:
				case row.is == row.was || len(b.changes) != 1:
					t.Errorf("%d changes: %+v", len(b.changes), b.changes)
				case !b.changes[0].New.NextFireAt.Equal(monday.Add(row.is)) || len(b.changes[0].Revision.Calendars) != 1:
					t.Errorf("it becomes %+v under %+v", b.changes[0].New, b.changes[0].Revision)
				}
			})
		})
	}
}

func TestWhatAWalkLeavesAlone(t *testing.T) {
	for name, row := range map[string]struct {
		change func(h *job.Head)
		left   int
	}{
		"a job that is paused":              {func(h *job.Head) { h.State = job.Paused }, 0},
		"one without a cron expression":     {func(h *job.Head) { h.Schedule = job.Schedule{Every: job.Duration(time.Hour)} }, 0},
		"one in the middle of a late plan":  {func(h *job.Head) { h.Plan = &job.LatePlan{} }, 1},
		"one with a gap":                    {func(h *job.Head) { h.Gap = &job.Gap{} }, 1},
		"one of a newer build":              {func(h *job.Head) { h.Schema = job.Schema + 1 }, 1},
		"one that has just switched over":   {func(h *job.Head) { h.SwitchedAt = time.Now().Add(time.Minute) }, 1},
		"one whose zone is gone":            {func(h *job.Head) { h.Schedule.Zone = "Pacific/Apia" }, 0},
		"one whose write fails, of no harm": {func(h *job.Head) { h.Job = "refused" }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &books{refuse: "refused"}
				b.add("strange", row.change)
				b.add("daily", nil)
				if err := b.service(t).Step(t.Context()); err != nil {
					t.Fatal(err)
				}
				if len(b.changes) != 1 || b.changes[0].New.Job != "daily" || b.sweeps.TZDB.Walk.Left != row.left || b.sweeps.TZDB.Moved != 1 {
					t.Errorf("%d changes, %+v", len(b.changes), b.sweeps.TZDB)
				}
			})
		})
	}
}

func TestAPieceEndsInTimeAndTheNextOneGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &books{}
		for n := range 5000 {
			b.add(fmt.Sprint("job-", n), func(h *job.Head) {
				h.Schedule.Zone, h.NextFireAt, h.LastScheduled = "America/New_York", time.Now().Add(14*time.Hour), time.Now().Add(-10*time.Hour)
			})
		}
		s, begun := b.service(t), time.Now()
		if err := s.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		took, looked := time.Since(begun), b.sweeps.TZDB.Walk.Jobs
		if took >= stepFor || looked > int(stepFor/time.Second)*perSecond {
			t.Errorf("a piece looked at %d jobs in %s", looked, took)
		}
		for range 5 {
			time.Sleep(time.Minute)
			if err := s.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if w := b.sweeps.TZDB.Walk; w.Jobs != 5000 || w.DoneAt.IsZero() || w.Changed != 0 || slices.Max(b.pages) > page {
			t.Errorf("in the end %+v", w)
		}
	})
}

func TestATickThatFindsAnotherSweepingStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &books{lose: true}
		b.add("daily", nil)
		if err := b.service(t).Step(t.Context()); err != nil || len(b.pages) != 1 {
			t.Errorf("%v after %d pages", err, len(b.pages))
		}
	})
}

func TestOnlyWhatWasDeletedLongAgoAndHasNothingLeftIsPurged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &books{left: map[string]bool{"remembered": true}}
		deleted := func(h *job.Head) { h.State, h.UpdatedAt = job.Deleted, time.Now().Add(-30*24*time.Hour) }
		b.add("over", deleted)
		b.add("remembered", deleted)
		b.add("recent", func(h *job.Head) { deleted(h); h.UpdatedAt = h.UpdatedAt.Add(time.Second) })
		b.add("gap", func(h *job.Head) { deleted(h); h.Gap = &job.Gap{} })
		b.add("done", func(h *job.Head) { deleted(h); h.PurgedAt = time.Now() })
		b.add("newer", func(h *job.Head) { deleted(h); h.Schema++ })
		b.add("paused", func(h *job.Head) { deleted(h); h.State = job.Paused })
		if err := b.service(t).Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(b.purged, []string{"over"}) || b.sweeps.Purge.Purged != 1 {
			t.Errorf("purged %v, %+v", b.purged, b.sweeps.Purge)
		}
	})
}
