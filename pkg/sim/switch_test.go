package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// later edits the job with a switch-over at that time of 1 January 2000.
func (s *stage) later(d job.Definition, at string) (control.PutResult, error) {
	s.Helper()
	when, err := time.Parse("2006-01-02 15:04:05", "2000-01-01 "+at)
	s.must(err)
	request := putOf(s.ref, d)
	request.EffectiveAt = when
	return s.planes().Control.Put(s.Context(), request)
}

// made tells every scheduled execution that may still run, or has, as
// "00:10:00 v2".
func (s *stage) made() (list []string) {
	s.Helper()
	stored, err := s.w.Stored(s.Context(), s.ref)
	s.must(err)
	for _, e := range stored {
		if e.Range == nil && e.Status == job.Scheduled {
			list = append(list, fmt.Sprintf("%s v%d", e.ScheduledAt.Format("15:04:05"), e.Revision))
		}
	}
	slices.Sort(list)
	return list
}

// scanUntil scans each minute up to that time of day.
func (s *stage) scanUntil(at string) {
	s.Helper()
	for time.Now().UTC().Format("15:04:05") < at {
		s.scan(s.planes().Trigger)
		time.Sleep(time.Minute)
	}
}

// A job of every ten minutes becomes one of every four, at a moment that lies
// ahead: times up to it are the old ones, later ones the new, and none is lost.
func TestAnEditThatTakesEffectLater(t *testing.T) {
	every10 := job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *"}}
	every4 := job.Definition{Schedule: job.Schedule{Cron: "*/4 * * * *"}}
	for says, row := range map[string]struct {
		at   string
		then func(s *stage)
		want []string
	}{
		"between two times": {at: "00:25:00", want: []string{"00:10:00 v2", "00:20:00 v2", "00:28:00 v3", "00:32:00 v3", "00:36:00 v3", "00:40:00 v3"}},
		"on a time of both": {at: "00:20:00", want: []string{"00:10:00 v2", "00:20:00 v2", "00:24:00 v3", "00:28:00 v3", "00:32:00 v3", "00:36:00 v3", "00:40:00 v3"}},
		"a minute ahead":    {at: "00:01:00", want: []string{"00:04:00 v3", "00:08:00 v3", "00:12:00 v3", "00:16:00 v3", "00:20:00 v3", "00:24:00 v3", "00:28:00 v3", "00:32:00 v3", "00:36:00 v3", "00:40:00 v3"}},
		"replaced by another one": {at: "00:15:00", then: func(s *stage) { _, err := s.later(every4, "00:25:00"); s.must(err) },
			want: []string{"00:10:00 v3", "00:20:00 v3", "00:28:00 v4", "00:32:00 v4", "00:36:00 v4", "00:40:00 v4"}},
		"taken back by an edit at once": {at: "00:25:00", then: func(s *stage) { s.apply(every10) }, want: []string{"00:10:00 v3", "00:20:00 v3", "00:30:00 v3", "00:40:00 v3"}},
		"given twice":                   {at: "00:25:00", then: func(s *stage) { r, err := s.later(every4, "00:25:00"); s.must(err); s.unchanged(r) }, want: []string{"00:10:00 v2", "00:20:00 v2", "00:28:00 v3", "00:32:00 v3", "00:36:00 v3", "00:40:00 v3"}},
		"while it is paused": {at: "00:25:00", then: func(s *stage) {
			_, err := s.planes().Control.Pause(s.Context(), s.ref, "test")
			s.must(err)
			time.Sleep(29 * time.Minute)
			_, err = s.planes().Control.Resume(s.Context(), s.ref, "test", "")
			s.must(err)
		}, want: []string{"00:32:00 v3", "00:36:00 v3", "00:40:00 v3"}},
		"paused between the switch-over and its moment, and resumed to catch up": {at: "00:25:00", then: func(s *stage) {
			_, err := s.later(job.Definition{Schedule: every4.Schedule, Misfire: &job.Misfire{Policy: job.MisfireFireAll}}, "00:25:00")
			s.must(err)
			s.scanUntil("00:22:30")
			_, err = s.planes().Control.Pause(s.Context(), s.ref, "test")
			s.must(err)
			time.Sleep(10 * time.Minute)
			_, err = s.planes().Control.Resume(s.Context(), s.ref, "test", job.ResumeCatchUp)
			s.must(err)
		}, want: []string{"00:28:00 v4", "00:32:00 v4", "00:36:00 v4", "00:40:00 v4"}},
	} {
		t.Run(says, func(t *testing.T) {
			onStage(t, every10, func(s *stage) {
				_, err := s.later(every4, row.at)
				s.must(err)
				if row.then != nil {
					row.then(s)
				}
				s.scanUntil("00:37:30")
				if got := s.made(); !slices.Equal(got, row.want) {
					s.Errorf("made %v\nwant %v", got, row.want)
				}
			})
		})
	}
}

// What was due before and has not begun still runs, as after any edit.
func TestAnEditThatTakesEffectLaterSparesWhatWasDue(t *testing.T) {
	onStage(t, job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *"}}, func(s *stage) {
		time.Sleep(8 * time.Minute)
		s.scan(s.planes().Trigger)
		time.Sleep(4 * time.Minute) // 00:10 waits for a worker
		_, err := s.later(job.Definition{Schedule: job.Schedule{Cron: "*/4 * * * *"}}, "00:25:00")
		s.must(err)
		if got := s.made(); !slices.Equal(got, []string{"00:10:00 v1"}) {
			s.Errorf("made %v", got)
		}
		ran := false
		s.process(s.worker("w", func(context.Context, *execute.Attempt) *lifecycle.Failure { ran = true; return nil }), s.receive(work))
		if !ran {
			s.Error("it did not run")
		}
	})
}

func (s *stage) unchanged(r control.PutResult) {
	s.Helper()
	if r.Action != control.Unchanged {
		s.Errorf("the action is %s", r.Action)
	}
}

// Nobody scans over the switch-over: what is late of either revision is left to
// that revision's misfire policy.
func TestASwitchOverThatNobodyWasThereFor(t *testing.T) {
	onStage(t, job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *"}, Misfire: &job.Misfire{Policy: job.MisfireFireAll}}, func(s *stage) {
		_, err := s.later(job.Definition{Schedule: job.Schedule{Cron: "*/4 * * * *"}, Misfire: &job.Misfire{Policy: job.MisfireSkip}}, "00:25:00")
		s.must(err)
		time.Sleep(37*time.Minute + 30*time.Second)
		s.scan(s.planes().Trigger)
		want := []string{"00:10:00 v2", "00:20:00 v2", "00:40:00 v3"}
		if got := s.made(); !slices.Equal(got, want) {
			s.Errorf("made %v, want %v", got, want)
		}
		if _, missed := s.missed(); missed != 3 { // 00:28, 00:32, 00:36
			s.Errorf("%d are on record as missed", missed)
		}
		if head := s.head(job.Enabled); head.Revision != 3 || !head.SwitchAt.IsZero() {
			s.Errorf("the head is %+v", head)
		}
	})
}

// A verb comes before any scan has let the waiting definition take over: each
// time of either revision has its disposition all the same.
func TestAVerbAfterASwitchOverThatNobodyWasThereFor(t *testing.T) {
	for says, verb := range map[string]func(s *stage){
		"a pause":  func(s *stage) { _, err := s.planes().Control.Pause(s.Context(), s.ref, "test"); s.must(err) },
		"a delete": func(s *stage) { _, err := s.planes().Control.Delete(s.Context(), s.ref, "test", 0); s.must(err) },
		"an edit":  func(s *stage) { s.apply(job.Definition{Schedule: job.Schedule{Cron: "*/7 * * * *"}}) },
	} {
		t.Run(says, func(t *testing.T) {
			onStage(t, job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *"}}, func(s *stage) {
				_, err := s.later(job.Definition{Schedule: job.Schedule{Cron: "*/4 * * * *"}}, "00:25:00")
				s.must(err)
				time.Sleep(37*time.Minute + 30*time.Second)
				verb(s)
				stored, err := s.w.Stored(s.Context(), s.ref)
				s.must(err)
				for _, minute := range []int{10, 20, 28, 32, 36} {
					at := time.Date(2000, 1, 1, 0, minute, 0, 0, time.UTC)
					if !slices.ContainsFunc(stored, func(e job.Execution) bool {
						return e.Range == nil && e.ScheduledAt.Equal(at) || e.Range != nil && !at.Before(e.Range.From) && !at.After(e.Range.To)
					}) {
						s.Errorf("%s has no disposition", at.Format(time.TimeOnly))
					}
				}
			})
		})
	}
}

func (s *stage) missed() (reasons []job.Reason, count int) {
	s.Helper()
	stored, err := s.w.Stored(s.Context(), s.ref)
	s.must(err)
	for _, e := range stored {
		if e.Range != nil {
			reasons, count = append(reasons, e.Reason), count+e.Range.Count
		}
	}
	return reasons, count
}

// What cannot wait is refused with what to do.
func TestWhatAnEditThatTakesEffectLaterRefuses(t *testing.T) {
	d := job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *"}}
	onStage(t, d, func(s *stage) {
		for says, row := range map[string]struct {
			d    job.Definition
			at   time.Time
			code job.Code
		}{
			"a fraction of a second":         {d, time.Now().Add(time.Hour + time.Millisecond), job.CodeInvalid},
			"more than a year":               {d, time.Now().Add(400 * 24 * time.Hour), job.CodeInvalid},
			"paused":                         {job.Definition{Schedule: d.Schedule, Paused: true}, time.Now().Add(time.Hour), job.CodeInvalid},
			"a schedule that ends before it": {job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *", End: time.Now().Add(time.Minute)}}, time.Now().Add(time.Hour), job.CodeSchedulePast},
		} {
			request := putOf(s.ref, row.d)
			request.EffectiveAt = row.at
			if _, err := s.planes().Control.Put(s.Context(), request); job.CodeOf(err) != row.code {
				s.Errorf("%s: %v", says, err)
			}
		}
		// The switch-over itself is made minutes ahead: meanwhile an edit has to wait.
		_, err := s.later(job.Definition{Schedule: job.Schedule{Cron: "*/4 * * * *"}}, "00:10:00")
		s.must(err)
		time.Sleep(8 * time.Minute)
		s.scan(s.planes().Trigger)
		if _, err := s.planes().Control.Put(s.Context(), putOf(s.ref, d)); job.CodeOf(err) != job.CodeStateConflict {
			s.Errorf("an edit between the switch-over and its moment: %v", err)
		}
		run, err := s.planes().Control.RunNow(s.Context(), control.RunRequest{Ref: s.ref})
		s.must(err)
		if run.Revision != 2 {
			s.Errorf("a manual run before the moment runs revision %d", run.Revision)
		}
		time.Sleep(3 * time.Minute)
		s.apply(d)
	})
}

// Switch-overs under load, with other verbs and a flaky handler: every time of
// the revision that holds at it has ended once, and no other time ran.
func TestSwitchOversUnderLoad(t *testing.T) {
	t.Parallel()
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 5))
				w := world(t, sim.Options{Work: flaky})
				w.StartCrowd(t.Context(), 2, 2)
				old, young := job.Schedule{Cron: "*/3 * * * *"}, job.Schedule{Cron: "1-59/2 * * * *"}
				ats := map[job.Ref]time.Time{}
				for i := range 8 {
					ref := put(t, w, job.Definition{Job: fmt.Sprint("job-", i), Schedule: old, Retry: job.Retry{MaxAttempts: 20}})
					request := putOf(ref, job.Definition{Schedule: young, Retry: job.Retry{MaxAttempts: 20}})
					request.EffectiveAt = time.Now().Truncate(time.Second).Add(time.Duration(60+r.IntN(3600)) * time.Second)
					if _, err := w.Control.Control.Put(t.Context(), request); err != nil {
						t.Fatal(err)
					}
					ats[ref] = request.EffectiveAt
				}
				begun := time.Now()
				time.Sleep(90 * time.Minute)
				upto := time.Now().Add(-20 * time.Minute)
				w.Stop()
				for ref, at := range ats {
					judgeSwitch(t, w, ref, begun, at, upto)
				}
			})
		})
	}
}

func judgeSwitch(t *testing.T, w *sim.World, ref job.Ref, begun, at, upto time.Time) {
	t.Helper()
	stored, err := w.Stored(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	ended := map[int64]int{}
	for _, e := range stored {
		if e.Status == job.Succeeded {
			ended[e.ScheduledAt.Unix()] = e.Revision
		}
	}
	for minute := begun.Truncate(time.Minute).Add(time.Minute); minute.Before(upto); minute = minute.Add(time.Minute) {
		want := 0
		switch {
		case !minute.After(at) && minute.Minute()%3 == 0:
			want = 2
		case minute.After(at) && minute.Minute()%2 == 1:
			want = 3
		}
		if got := ended[minute.Unix()]; got != want {
			t.Errorf("%s at %s ran revision %d, want %d (the switch-over is at %s)", ref, minute.Format(time.TimeOnly), got, want, at.Format(time.TimeOnly))
		}
	}
}
