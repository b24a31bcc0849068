package sim_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// Sixty jobs of one second with a jitter of ten minutes start spread over it, each
// in a slot of its own: the same every hour, also after every process was started
// anew and after an edit of something else. Their scheduled times stay the full hour.
func TestJobsOfOneSecondStartInSlotsOfTheirOwn(t *testing.T) {
	const jobs, jitter, hours = 60, 10 * time.Minute, 3
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{})
		w.Start(t.Context())
		begun := time.Now()
		refs := make([]job.Ref, jobs)
		definition := func(i int) job.Definition {
			return job.Definition{Job: fmt.Sprintf("report-%d", i), Schedule: job.Schedule{Cron: "0 * * * *", Jitter: job.Duration(jitter)}, StartDeadline: job.Duration(time.Minute)}
		}
		for i := range refs {
			refs[i] = put(t, w, definition(i))
		}
		time.Sleep(61 * time.Minute) // some have started, most wait in their slots
		for i := range refs {
			d := definition(i)
			d.Description = "edited"
			put(t, w, d)
		}
		time.Sleep(29 * time.Minute)
		w.Stop()
		w.Start(t.Context())
		time.Sleep(hours*time.Hour - 70*time.Minute)
		w.Stop()
		spread := make([]int, 10) // by minute
		starts := map[job.Ref]int{}
		for _, r := range w.Runs() {
			slot := schedule.Slot(job.Duration(jitter), r.Ref)
			if lag := r.At.Sub(r.Key.ScheduledAt.Add(slot)); lag < 0 || lag > 2*time.Second {
				t.Errorf("%s began %s after its slot", r.ID, lag)
			}
			starts[r.Ref]++
			spread[r.At.Sub(r.Key.ScheduledAt)/time.Minute]++
		}
		for _, ref := range refs {
			if starts[ref] != hours {
				t.Errorf("%s ran %d times", ref.Job, starts[ref])
			}
			if err := w.Check(t.Context(), ref, begun, begun.Add(hours*time.Hour)); err != nil {
				t.Error(err)
			}
		}
		for minute, n := range spread {
			if n < hours || n > 3*jobs*hours/10 {
				t.Errorf("of %d starts %d lie in minute %d of the jitter: %v", jobs*hours, n, minute, spread)
			}
		}
	})
}

// How late a time is counts from its slot: a scheduler that comes back after the
// scheduled time and before the slot is on time, and one that comes after the slot
// and its tolerance leaves it to the misfire policy.
func TestLatenessCountsFromTheSlot(t *testing.T) {
	slow := job.Definition{Schedule: job.Schedule{Cron: "0 1 * * *", Jitter: job.Duration(10 * time.Minute)}, Misfire: &job.Misfire{Policy: job.MisfireSkip}}
	due := time.Date(2000, 1, 1, 1, 0, 0, 0, time.UTC)
	for says, row := range map[string]struct {
		back time.Duration // from the slot
		want job.Status
	}{
		"back before the slot":           {-time.Minute, job.Scheduled},
		"back within the tolerance":      {50 * time.Second, job.Scheduled},
		"back a second after it":         {61 * time.Second, ""},
		"back right behind its due time": {time.Second - schedule.Slot(slow.Schedule.Jitter, job.Ref{Tenant: job.DefaultTenant, Job: "job"}), job.Scheduled},
	} {
		t.Run(says, func(t *testing.T) {
			onStage(t, slow, func(s *stage) {
				slot := schedule.Slot(slow.Schedule.Jitter, s.ref)
				time.Sleep(time.Until(due.Add(slot + row.back)))
				s.scan(s.planes().Trigger)
				e := s.execution(due)
				if row.want == "" {
					if _, missed := s.missed(); e != nil || missed != 1 {
						s.Errorf("it is %+v, %d missed", e, missed)
					}
					return
				}
				if e == nil || e.Status != row.want || !e.AvailableAt.Equal(due.Add(slot)) || e.Slot != slot {
					s.Errorf("it is %+v", e)
				}
			})
		})
	}
}

// A start deadline counts from the slot.
func TestAStartDeadlineCountsFromTheSlot(t *testing.T) {
	for says, late := range map[string]time.Duration{"within it": 30 * time.Second, "after it": 3 * time.Minute} {
		t.Run(says, func(t *testing.T) {
			onStage(t, job.Definition{Schedule: job.Schedule{Cron: "4 0 * * *", Jitter: job.Duration(10 * time.Minute)}, StartDeadline: job.Duration(2 * time.Minute)}, func(s *stage) {
				s.scan(s.planes().Trigger)
				due := time.Date(2000, 1, 1, 0, 4, 0, 0, time.UTC)
				slot := schedule.Slot(job.Duration(10*time.Minute), s.ref)
				time.Sleep(time.Until(due.Add(slot + late)))
				ran := false
				s.process(s.worker("w", func(context.Context, *execute.Attempt) *lifecycle.Failure { ran = true; return nil }), s.receive(work))
				if ran != (late < 2*time.Minute) {
					s.Errorf("%s after the slot: ran %v", late, ran)
				}
			})
		})
	}
}
