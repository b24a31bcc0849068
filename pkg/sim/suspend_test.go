package sim_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// A job of every minute fails three times in five, and from 00:31 on always; it is
// suspended after four failures in a row. An edit does not clear that, a resume does, and the count begins anew.
func TestAJobThatFailsTooOftenInARowIsSuspendedUntilSomebodyResumesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		worse := time.Now().Add(31 * time.Minute)
		w := world(t, sim.Options{Work: func(_ context.Context, a *execute.Attempt) *lifecycle.Failure {
			if at := a.Execution.ScheduledAt; at.Minute()%5 > 1 || !at.Before(worse) {
				return &lifecycle.Failure{Class: lifecycle.PermanentClass, Code: "BAD"}
			}
			return nil
		}})
		d := job.Definition{Job: "minutely", Schedule: job.Schedule{Cron: "* * * * *"}, SuspendAfter: 4}
		ref := put(t, w, d)
		w.Start(t.Context())
		defer w.Stop()
		state := func(want job.State) *job.Head {
			t.Helper()
			head, err := w.Control.Store.Head(t.Context(), ref)
			if err != nil || head.State != want {
				t.Fatalf("at %s the job is %s (%s), want %s: %v", time.Now().Format(time.TimeOnly), head.State, head.Reason, want, err)
			}
			return head
		}
		time.Sleep(30*time.Minute + 20*time.Second)
		state(job.Enabled)
		time.Sleep(5 * time.Minute)
		head := state(job.Suspended)
		if head.Reason != lifecycle.JobSuspended || head.ChangedBy != "belfry" || !head.NextFireAt.IsZero() {
			t.Errorf("it is %+v", head)
		}
		ran := len(w.Runs())
		d.Job, d.Target, d.Description = ref.Job, job.Target{Log: &job.LogTarget{}}, "edited"
		if _, err := w.Control.Control.Put(t.Context(), control.PutRequest{Ref: ref, Definition: d, Actor: "ada"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		state(job.Suspended)
		if n := len(w.Runs()); n != ran {
			t.Errorf("%d attempts began while it was suspended", n-ran)
		}
		if _, err := w.Control.Control.Resume(t.Context(), ref, "ada", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		state(job.Enabled) // two failures since; those before are forgotten
		time.Sleep(5 * time.Minute)
		state(job.Suspended)
		if err := w.Check(t.Context(), ref, worse.Add(-31*time.Minute), worse.Add(3*time.Minute)); err != nil {
			t.Error(err)
		}
	})
}

// Times that were due when it was suspended are on record, with that reason.
func TestTheTimesThatASuspensionPassesOverAreOnRecord(t *testing.T) {
	onStage(t, job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *"}, SuspendAfter: 1, Retry: job.Retry{MaxAttempts: 1}}, func(s *stage) {
		time.Sleep(8 * time.Minute)
		s.scan(s.planes().Trigger)
		time.Sleep(2 * time.Minute)
		s.process(s.worker("w", func(context.Context, *execute.Attempt) *lifecycle.Failure {
			return &lifecycle.Failure{Class: lifecycle.PermanentClass, Code: "BAD"}
		}), s.receive(work))
		time.Sleep(25 * time.Minute) // nobody scans: 00:20 and 00:30 are due
		s.scan(s.planes().Trigger)
		head := s.head(job.Suspended)
		stored, err := s.w.Stored(s.Context(), s.ref)
		s.must(err)
		count := 0
		for _, e := range stored {
			if e.Range != nil && e.Reason == lifecycle.JobSuspended {
				count += e.Range.Count
			}
		}
		if count != 2 || head.Gap != nil || !head.NextFireAt.IsZero() {
			s.Errorf("%d times are on record, the head is %+v", count, head)
		}
		_, err = s.planes().Control.Resume(s.Context(), s.ref, "ada", job.ResumeFromNow)
		s.must(err)
		s.head(job.Enabled)
	})
}
