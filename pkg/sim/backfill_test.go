package sim_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/sim"
	"github.com/belfry-scheduler/belfry/pkg/trigger"
)

// newYear is a bubble's first moment.
var newYear = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// lastHour asks for the six times of */10 in the hour before the bubble began.
func lastHour(ref job.Ref) control.BackfillRequest {
	return control.BackfillRequest{Ref: ref, From: newYear.Add(-time.Hour), To: newYear.Add(-time.Second), Rate: 10, Actor: "ada"}
}

func (s *stage) backfill(r control.BackfillRequest) *job.Backfill {
	s.Helper()
	result, err := s.planes().Control.Backfill(s.Context(), r)
	s.must(err)
	return &result.Backfill
}

// queued makes a backfill that no scan has come to yet.
func (s *stage) queued(r control.BackfillRequest) *job.Backfill {
	s.Helper()
	desk := *s.planes().Control
	desk.Filler = idle{}
	result, err := desk.Backfill(s.Context(), r)
	s.must(err)
	return &result.Backfill
}

// idle is a trigger plane that leaves all to the scan.
type idle struct{}

func (idle) Fill(context.Context, job.Ref, string) error { return nil }

func (s *stage) reload(b *job.Backfill) *job.Backfill {
	s.Helper()
	now, err := s.planes().Store.Backfill(s.Context(), b.Ref, b.ID)
	s.must(err)
	return now
}

// ran is one attempt that a played worker began.
type ran struct {
	at       string // the time that it stands for
	revision int
	token    int64
	kind     job.Kind
}

// workOff carries every message through, until the queue has none for longer than
// the horizon.
func (s *stage) workOff() (runs []ran) {
	s.Helper()
	worker := s.worker("worker", func(_ context.Context, a *execute.Attempt) *lifecycle.Failure {
		e := a.Execution
		runs = append(runs, ran{at: e.Stands().ScheduledAt.Format("15:04"), revision: e.Revision, token: e.FencingToken, kind: e.Kind})
		return nil
	})
	for quiet := 0; quiet < 2; quiet++ {
		for {
			b, ok := s.poll(work, 20*time.Second)
			if !ok {
				break
			}
			quiet = 0
			if d := s.process(worker, b); d.Delete {
				s.drop(b)
			}
		}
		s.scan(s.planes().Trigger)
	}
	return runs
}

func times(runs []ran) []string {
	var list []string
	for _, r := range runs {
		list = append(list, r.at)
	}
	slices.Sort(list)
	return list
}

var sixTimes = []string{"23:00", "23:10", "23:20", "23:30", "23:40", "23:50"}

// wantRuns fails unless the six times ran once each, whatever the job's own times did.
func (s *stage) wantRuns(runs []ran, want []string) {
	s.Helper()
	backfilled := slices.DeleteFunc(times(runs), func(at string) bool { return at < "23" })
	if !slices.Equal(backfilled, want) {
		s.Errorf("%v ran, want %v", backfilled, want)
	}
}

func (s *stage) wantDone(b *job.Backfill, made, skipped int) {
	s.Helper()
	if now := s.reload(b); now.State != job.BackfillDone || now.Made != made || now.Skipped != skipped {
		s.Errorf("the backfill is %s with %d made and %d passed over, want DONE, %d and %d", now.State, now.Made, now.Skipped, made, skipped)
	}
}

// faultyBackfills cuts in on what a scan does to backfills.
type faultyBackfills struct {
	trigger.Backfills
	beforeSave, afterSave func() error
}

func (f faultyBackfills) SaveBackfill(ctx context.Context, c job.BackfillChange) error {
	if err := call(f.beforeSave); err != nil {
		return err
	}
	if err := f.Backfills.SaveBackfill(ctx, c); err != nil {
		return err
	}
	return call(f.afterSave)
}

// A crash at any step is made good by the next scan: each time runs once, and
// the counts are as if nothing had happened.
func TestABackfillSurvivesACrashAtEveryStep(t *testing.T) {
	definition, _ := later()
	after := func(n int) func() error {
		return func() error {
			if n--; n < 0 {
				return errCrash
			}
			return nil
		}
	}
	for says, broken := range map[string]func(s *stage) *trigger.Service{
		"before the first put": func(s *stage) *trigger.Service { return s.scanner(hooks{beforePut: after(0)}) },
		"between puts":         func(s *stage) *trigger.Service { return s.scanner(hooks{beforePut: after(3)}) },
		"before the send":      func(s *stage) *trigger.Service { return s.scanner(hooks{beforeSend: after(0)}) },
		"before the cursor moves": func(s *stage) *trigger.Service {
			own := s.scanner(hooks{})
			own.Backfills = faultyBackfills{Backfills: own.Backfills, beforeSave: after(0)}
			return own
		},
		"after the cursor has moved": func(s *stage) *trigger.Service {
			own := s.scanner(hooks{})
			own.Backfills = faultyBackfills{Backfills: own.Backfills, afterSave: after(0)}
			return own
		},
	} {
		t.Run(says, func(t *testing.T) {
			onStage(t, definition, func(s *stage) {
				b := s.queued(lastHour(s.ref))
				s.scan(broken(s))
				s.scan(s.planes().Trigger)
				s.wantRuns(s.workOff(), sixTimes)
				s.wantDone(b, 6, 0)
			})
		})
	}
}

// A second scanner does everything while the first one is at one of its steps;
// the first one then goes on.
func TestTwoScannersWorkOneBackfillOff(t *testing.T) {
	definition, _ := later()
	for says, place := range map[string]func(h *hooks, save *faultyBackfills, other func() error){
		"at the put":  func(h *hooks, _ *faultyBackfills, other func() error) { h.beforePut = other },
		"at the send": func(h *hooks, _ *faultyBackfills, other func() error) { h.beforeSend = other },
		"at the save": func(_ *hooks, save *faultyBackfills, other func() error) { save.beforeSave = other },
	} {
		t.Run(says, func(t *testing.T) {
			onStage(t, definition, func(s *stage) {
				b := s.queued(lastHour(s.ref))
				once := false
				other := func() error {
					if !once {
						once = true
						s.scan(s.planes().Trigger)
					}
					return nil
				}
				var h hooks
				var save faultyBackfills
				place(&h, &save, other)
				slow := s.scanner(h)
				save.Backfills = slow.Backfills
				slow.Backfills = save
				s.scan(slow)
				if !once {
					t.Fatal("the second scanner never came")
				}
				s.wantRuns(s.workOff(), sixTimes)
				s.wantDone(b, 6, 0)
			})
		})
	}
}

// What happens to a job while its backfill is under way and what it made waits in
// the queue.
func TestABackfillGoesOnThroughVerbs(t *testing.T) {
	definition, _ := later()
	edit := func(s *stage) {
		edited := definition
		edited.Description = "edited"
		s.apply(edited)
	}
	pause := func(s *stage) {
		_, err := s.planes().Control.Pause(s.Context(), s.ref, "test")
		s.must(err)
	}
	scan := func(s *stage) { s.scan(s.planes().Trigger) }
	resume := func(s *stage) {
		_, err := s.planes().Control.Resume(s.Context(), s.ref, "test", "")
		s.must(err)
	}
	for says, verbs := range map[string][]func(*stage){
		"a pause and a resume":                     {pause, resume},
		"an edit":                                  {edit},
		"an edit in a pause":                       {pause, edit, resume},
		"a pause and a resume, and that again":     {pause, resume, pause, resume},
		"the same with a scan in between":          {pause, resume, scan, pause, resume},
		"a pause while which the messages come up": {pause, func(s *stage) { s.wantRuns(s.workOff(), nil) }, resume},
	} {
		t.Run(says, func(t *testing.T) {
			onStage(t, definition, func(s *stage) {
				b := s.backfill(lastHour(s.ref))
				for _, verb := range verbs {
					time.Sleep(time.Second)
					verb(s)
				}
				runs := s.workOff()
				s.wantRuns(runs, sixTimes)
				s.wantDone(b, 6, 0)
				for _, r := range runs {
					if r.at > "23" && r.revision != 1 {
						t.Errorf("%s ran under revision %d, not the backfill's", r.at, r.revision)
					}
				}
			})
		})
	}
}

func TestADeletedJobEndsItsBackfill(t *testing.T) {
	definition, _ := later()
	for says, again := range map[string]bool{"and stays deleted": false, "and is made again": true} {
		t.Run(says, func(t *testing.T) {
			onStage(t, definition, func(s *stage) {
				b := s.backfill(lastHour(s.ref))
				time.Sleep(time.Second)
				_, err := s.planes().Control.Delete(s.Context(), s.ref, "test", 0)
				s.must(err)
				if again {
					s.apply(definition)
				}
				s.wantRuns(s.workOff(), nil)
				if now := s.reload(b); now.State != job.BackfillCanceled || now.EndReason != lifecycle.JobDeleted {
					t.Errorf("the backfill is %s, %s", now.State, now.EndReason)
				}
			})
		})
	}
}

// A cancel keeps what has not begun from running, also what a scan makes that was
// under way at that moment.
func TestACanceledBackfillMakesNoMore(t *testing.T) {
	definition, _ := later()
	for says, place := range map[string]func(h *hooks, cancel func() error){
		"before it puts them":  func(h *hooks, cancel func() error) { h.beforePut = cancel },
		"before it sends them": func(h *hooks, cancel func() error) { h.beforeSend = cancel },
		"when it has ended":    func(*hooks, func() error) {},
	} {
		t.Run(says, func(t *testing.T) { onStage(t, definition, func(s *stage) { s.cancelMeanwhile(place) }) })
	}
}

func (s *stage) cancelMeanwhile(place func(h *hooks, cancel func() error)) {
	b := s.queued(lastHour(s.ref))
	var h hooks
	canceled := false
	cancel := func() error {
		if canceled {
			return nil
		}
		canceled = true
		_, err := s.planes().Control.CancelBackfill(s.Context(), s.ref, b.ID, "ada")
		return err
	}
	place(&h, cancel)
	s.scan(s.scanner(h))
	s.must(cancel())
	s.wantRuns(s.workOff(), nil)
	if now := s.reload(b); now.State != job.BackfillCanceled || now.EndedBy != "ada" {
		s.Errorf("the backfill is %s by %q", now.State, now.EndedBy)
	}
	for i := range sixTimes {
		s.status(newYear.Add(-time.Hour).Add(time.Duration(i)*10*time.Minute), job.Canceled)
	}
	again := s.backfill(lastHour(s.ref))
	s.wantRuns(s.workOff(), sixTimes)
	s.wantDone(again, 6, 0)
}

// A backfill of a job that is paused waits for it, and costs no write meanwhile.
func TestABackfillWaitsForAPausedJob(t *testing.T) {
	definition, _ := later()
	onStage(t, definition, func(s *stage) {
		_, err := s.planes().Control.Pause(s.Context(), s.ref, "test")
		s.must(err)
		b := s.backfill(lastHour(s.ref))
		s.wantRuns(s.workOff(), nil)
		if now := s.reload(b); now.Step != 0 || now.State != job.BackfillRunning {
			t.Errorf("it was written %d times and is %s", now.Step, now.State)
		}
		_, err = s.planes().Control.Resume(s.Context(), s.ref, "test", "")
		s.must(err)
		s.wantRuns(s.workOff(), sixTimes)
		s.wantDone(b, 6, 0)
	})
}

// Every process of an installation at work: a backfill of 300 times neither
// delays the job's own times nor goes faster than its rate.
func TestABackfillKeepsToItsRateBesideTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := world(t, sim.Options{})
		w.Start(t.Context())
		begun := time.Now()
		ref := put(t, w, job.Definition{Job: "minutely", Schedule: job.Schedule{Cron: "* * * * *"}})
		_, err := w.Control.Control.Backfill(t.Context(), control.BackfillRequest{Ref: ref, From: begun.Add(-299 * time.Minute), To: begun, Rate: 0.5, Actor: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(15 * time.Minute)
		upto := time.Now().Add(-time.Minute)
		w.Stop()
		if err := w.Check(t.Context(), ref, begun.Add(-300*time.Minute), upto); err != nil {
			t.Error(err)
		}
		var starts []time.Time
		for _, r := range w.Runs() {
			if !r.Key.ScheduledAt.After(begun) {
				starts = append(starts, r.At)
			} else if late := r.At.Sub(r.Key.ScheduledAt); late > time.Second {
				t.Errorf("%s began %s late", r.ID, late)
			}
		}
		if len(starts) != 300 {
			t.Fatalf("%d of 300 backfilled times ran", len(starts))
		}
		slices.SortFunc(starts, time.Time.Compare)
		for i := 30; i < len(starts); i++ {
			if took := starts[i].Sub(starts[i-30]); took < 58*time.Second {
				t.Fatalf("31 of them began within %s", took)
			}
		}
		if took := starts[299].Sub(starts[0]); took > 620*time.Second {
			t.Errorf("300 took %s at one every two seconds", took)
		}
	})
}
