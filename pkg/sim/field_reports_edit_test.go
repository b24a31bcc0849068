package sim_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// Field reports about edits and pauses, each by its id; docs/field-reports.md
// lists them with what else shows them.

// An edit that was begun at a revision goes through although the cursor has
// moved meanwhile, and moves it to no time that has been made; a suspension that
// came between stays.
func TestPB122AnEditNeitherOverwritesTheCursorNorClearsASuspension(t *testing.T) {
	d := job.Definition{Schedule: job.Schedule{Cron: "* * * * *"}, SuspendAfter: 1, Retry: job.Retry{MaxAttempts: 1}}
	onStage(t, d, func(s *stage) {
		edit := func(of int, description string) error {
			request := putOf(s.ref, d)
			request.Definition.Description, request.IfMatch = description, of
			_, err := s.planes().Control.Put(s.Context(), request)
			return err
		}
		before := s.made()
		time.Sleep(2 * time.Minute)
		s.scan(s.planes().Trigger) // the cursor moves between the read and the write
		s.must(edit(1, "first"))
		s.scan(s.planes().Trigger)
		if now := s.made(); !slices.Equal(now[:2], before[:2]) { // 00:01 and 00:02 are what they were
			s.Errorf("%v became %v", before, now)
		}
		if err := edit(1, "stale"); job.CodeOf(err) != job.CodeRevisionConflict {
			s.Errorf("an edit of a revision that is not current gives %v", err)
		}
		bad := func(context.Context, *execute.Attempt) *lifecycle.Failure {
			return &lifecycle.Failure{Class: lifecycle.PermanentClass, Code: "BAD"}
		}
		s.process(s.worker("w", bad), s.receive(work))
		time.Sleep(time.Minute) // the scan looks at a job that is due inside the horizon
		s.scan(s.planes().Trigger)
		s.head(job.Suspended)
		s.must(edit(2, "second"))
		s.head(job.Suspended)
	})
}

// Two hundred times an edit and a pause at the same moment: both take effect, and
// nothing due after the pause is left to begin.
func TestPB123AnEditAndAPauseAtOneMomentBothTakeEffect(t *testing.T) {
	d := job.Definition{Schedule: job.Schedule{Every: job.Duration(10 * time.Second)}}
	onStage(t, d, func(s *stage) {
		rounds := 200
		if testing.Short() {
			rounds = 20
		}
		for round := range rounds {
			var group sync.WaitGroup
			edited := d
			edited.Description = fmt.Sprint("round ", round)
			group.Go(func() { _, err := s.planes().Control.Put(s.Context(), putOf(s.ref, edited)); s.must(err) })
			group.Go(func() { _, err := s.planes().Control.Pause(s.Context(), s.ref, "test"); s.must(err) })
			group.Go(func() { s.scan(s.planes().Trigger) })
			group.Wait()
			paused := time.Now()
			head := s.head(job.Paused)
			rev, err := s.planes().Store.Revision(s.Context(), s.ref, head.Revision)
			s.must(err)
			if rev.Definition.Description != edited.Description {
				s.Fatalf("round %d: the edit is lost: %q", round, rev.Definition.Description)
			}
			waiting, err := s.planes().Store.NotBegun(s.Context(), s.ref, time.Time{})
			s.must(err)
			for _, e := range waiting {
				if e.ScheduledAt.After(paused) && lifecycle.MayBegin(head, e.Epoch, e.ScheduledAt, time.Time{}) {
					s.Errorf("round %d: %s may still begin", round, e.ID())
				}
			}
			time.Sleep(3 * time.Second)
			_, err = s.planes().Control.Resume(s.Context(), s.ref, "test", "")
			s.must(err)
		}
	})
}

// A name is deleted and taken again while an execution of the life before runs:
// that one ends as it would, and the new life begins its own.
func TestPB125ANameCanBeTakenAgainWhileItsLastLifeStillRuns(t *testing.T) {
	for _, later := range []time.Duration{time.Second, 50 * time.Minute} {
		t.Run(later.String(), func(t *testing.T) {
			d, at := soon()
			d.Timeout = job.Duration(55 * time.Minute)
			onStage(t, d, func(s *stage) {
				time.Sleep(time.Until(at))
				ended := make(chan struct{})
				b := s.receive(work)
				var running sync.WaitGroup
				running.Go(func() {
					s.process(s.worker("w", func(context.Context, *execute.Attempt) *lifecycle.Failure { <-ended; return nil }), b)
				})
				time.Sleep(time.Second)
				_, err := s.planes().Control.Delete(s.Context(), s.ref, "test", 0)
				s.must(err)
				time.Sleep(later)
				again := job.Definition{Schedule: job.Schedule{Every: job.Duration(time.Minute)}}
				result, err := s.planes().Control.Put(s.Context(), putOf(s.ref, again))
				s.must(err)
				close(ended)
				running.Wait()
				if e := s.execution(at); e.Status != job.Succeeded || e.Revision != 1 {
					s.Errorf("what ran is %s of revision %d", e.Status, e.Revision)
				}
				if result.Action != control.Created || result.Head.Revision != 2 {
					s.Errorf("the new life is %s with revision %d", result.Action, result.Head.Revision)
				}
			})
		})
	}
}

// A one-off is taken back an hour before its time and made again: it runs once.
func TestPB127AOneOffThatWasTakenBackCanBeMadeAgain(t *testing.T) {
	at := time.Date(2000, 1, 1, 14, 0, 0, 0, time.UTC)
	d := job.Definition{Schedule: job.Schedule{At: at}}
	onStage(t, d, func(s *stage) {
		time.Sleep(13 * time.Hour)
		_, err := s.planes().Control.Delete(s.Context(), s.ref, "test", 0)
		s.must(err)
		time.Sleep(time.Minute)
		s.apply(d)
		time.Sleep(time.Until(at.Add(-4 * time.Minute)))
		s.scan(s.planes().Trigger)
		time.Sleep(time.Until(at))
		ran := 0
		s.process(s.worker("w", func(context.Context, *execute.Attempt) *lifecycle.Failure { ran++; return nil }), s.receive(work))
		if e := s.execution(at); ran != 1 || e.Status != job.Succeeded {
			s.Errorf("it ran %d times and is %s", ran, e.Status)
		}
		if _, more := s.poll(work, time.Second); more {
			s.Error("there is a second message")
		}
	})
}
