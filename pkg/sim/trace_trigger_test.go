package sim_test

import (
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestSendAgainWhatWasPutByAScannerThatCrashedBeforeItsSend(t *testing.T) {
	d, at := later()
	onStage(t, d, func(s *stage) {
		time.Sleep(6 * time.Minute)
		s.scan(s.scanner(hooks{beforeSend: func() error { return errCrash }}))
		s.status(at, job.Scheduled)
		if _, ok := s.poll(work, 0); ok {
			s.Fatal("a crashed scanner sent a message")
		}
		s.scan(s.scanner(hooks{}))
		time.Sleep(4 * time.Minute)
		b := s.receive(work)
		if d := s.process(s.worker("w", nil), b); !d.Delete {
			s.Fatalf("the message is kept: %+v", d)
		}
		s.status(at, job.Succeeded)
	})
}

// F1: a slow scanner makes an execution of the old life after a pause was
// acknowledged; it must not run.
func TestNothingThatASlowScannerMadeRunsAfterAPause(t *testing.T) {
	d, at := later()
	onStage(t, d, func(s *stage) {
		time.Sleep(6 * time.Minute)
		s.scan(s.scanner(hooks{
			beforePut: func() error {
				_, err := s.planes().Control.Pause(s.Context(), s.ref, "test")
				return err
			},
			beforeAdvance: func() error { return errCrash },
		}))
		s.status(at, job.Scheduled)
		time.Sleep(4 * time.Minute)
		if d := s.process(s.worker("w", nil), s.receive(work)); !d.Delete {
			s.Fatalf("the message of a withdrawn execution is kept: %+v", d)
		}
		s.status(at, job.Withdrawn)
	})
}

// F3: after pause and resume the revision is the old one again, the life is not.
func TestResumeMakesTheTimeAgainAlthoughTheRevisionIsTheSame(t *testing.T) {
	d, at := later()
	onStage(t, d, func(s *stage) {
		time.Sleep(6 * time.Minute)
		s.scan(s.scanner(hooks{beforeAdvance: func() error {
			if _, err := s.planes().Control.Pause(s.Context(), s.ref, "test"); err != nil {
				return err
			}
			_, err := s.planes().Control.Resume(s.Context(), s.ref, "test", "")
			return err
		}}))
		s.scan(s.scanner(hooks{}))
		time.Sleep(4 * time.Minute)
		for s.execution(at).Status != job.Succeeded {
			s.process(s.worker("w", nil), s.receive(work))
		}
		if e := s.execution(at); e.Epoch != 3 || e.Attempt != 1 {
			s.Fatalf("it ran as %+v", e)
		}
	})
}

// w1: a scanner puts, crashes before the send; an edit moves the cursor past
// the time, which is then in the gap and without a message: it must be on
// record, and it must not begin.
func TestATimeInTheGapOfAnEditIsRecordedAndDoesNotBegin(t *testing.T) {
	d, at := later()
	onStage(t, d, func(s *stage) {
		time.Sleep(6 * time.Minute)
		s.scan(s.scanner(hooks{beforeSend: func() error { return errCrash }}))
		time.Sleep(4*time.Minute + 20*time.Second)
		d.Description = "edited"
		s.apply(d)
		s.status(at, job.Withdrawn)
		e, err := s.planes().Store.Execution(s.Context(), s.ref, job.RangeKey(at))
		s.must(err)
		if e == nil || e.Status != job.Missed || e.Range.Count != 1 || e.Reason != "JOB_EDITED" {
			s.Fatalf("the record of the gap is %+v", e)
		}
	})
}

// w4: two scanners put and send, one advances; an edit; the lost advance of the
// other must not withdraw what may still run.
func TestALostAdvanceWithdrawsOnlyWhatTheClaimRuleRefuses(t *testing.T) {
	d, at := later()
	onStage(t, d, func(s *stage) {
		time.Sleep(6 * time.Minute)
		s.scan(s.scanner(hooks{beforeAdvance: func() error {
			s.scan(s.scanner(hooks{}))
			time.Sleep(5 * time.Minute) // its time has come, nobody has taken it
			edited := d
			edited.Description = "edited"
			s.apply(edited)
			return nil
		}}))
		s.status(at, job.Scheduled)
		s.process(s.worker("w", nil), s.receive(work))
		s.status(at, job.Succeeded)
	})
}

// a12: an execution of before a pause must not begin after a resume and an edit
// whose bound would allow its time.
func TestAPauseEndsEveryEarlierLifeForGood(t *testing.T) {
	d, at := later()
	onStage(t, d, func(s *stage) {
		time.Sleep(6 * time.Minute)
		slow := hooks{beforePut: func() error {
			if _, err := s.planes().Control.Pause(s.Context(), s.ref, "test"); err != nil {
				return err
			}
			time.Sleep(4*time.Minute + 30*time.Second)
			if _, err := s.planes().Control.Resume(s.Context(), s.ref, "test", ""); err != nil {
				return err
			}
			edited := d
			edited.Description = "edited"
			s.apply(edited) // its carry bound lies after the time
			return nil
		}, beforeAdvance: func() error { return errCrash }}
		s.scan(s.scanner(slow))
		s.process(s.worker("w", nil), s.receive(work))
		s.status(at, job.Withdrawn)
	})
}

// F6: two scanners that see a job late at different moments carry out one
// decision.
func TestTwoScannersCarryOutOneMisfireDecision(t *testing.T) {
	onStage(t, job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *"}}, func(s *stage) {
		time.Sleep(45 * time.Minute) // 00:10 to 00:40 are late
		s.scan(s.scanner(hooks{afterRange: func() error {
			time.Sleep(10 * time.Minute) // 00:50 is late as well
			s.scan(s.scanner(hooks{beforeAdvance: func() error { return errCrash }}))
			return nil
		}}))
		fired := 0
		stored, err := s.w.Stored(s.Context(), s.ref)
		s.must(err)
		for _, e := range stored {
			if e.Range == nil && e.Reason == "CAUGHT_UP" {
				fired++
			}
		}
		if e := s.execution(time.Date(2000, 1, 1, 0, 40, 0, 0, time.UTC)); fired != 1 || e == nil {
			s.Fatalf("%d executions caught up, the latest of the decision is %+v", fired, e)
		}
	})
}

// F7: the API dies between the put of a manual run and its send.
func TestAManualRunWhoseSendWasLostIsWokenByTheScan(t *testing.T) {
	d, _ := later()
	onStage(t, d, func(s *stage) {
		service := *s.planes().Control
		service.Sender = lostSender{}
		if _, err := service.RunNow(s.Context(), control.RunRequest{Ref: s.ref, Actor: "test"}); err == nil {
			s.Fatal("a run that could not be sent was acknowledged")
		}
		s.scan(s.scanner(hooks{}))
		time.Sleep(time.Minute)
		if d := s.process(s.worker("w", nil), s.receive(work)); !d.Delete {
			s.Fatalf("the manual run was not carried through: %+v", d)
		}
	})
}

// F14: what a queue has lost comes back by the look-back of a later advance.
func TestALookBackSendsAgainWhatAQueueHasLost(t *testing.T) {
	onStage(t, job.Definition{Schedule: job.Schedule{Every: job.Duration(time.Minute)}}, func(s *stage) {
		lost := time.Date(2000, 1, 1, 0, 3, 0, 0, time.UTC)
		e := s.worker("w", nil)
		for range 40 {
			s.scan(s.scanner(hooks{}))
			for {
				b, ok := s.poll(work, 0)
				if !ok {
					break
				}
				if b.message.Key.ScheduledAt.Equal(lost) && b.Receives == 1 && time.Now().Before(lost.Add(5*time.Minute)) {
					s.drop(b) // the queue loses it
					continue
				}
				if d := s.process(e, b); d.Delete {
					s.drop(b)
				}
			}
			time.Sleep(time.Minute)
		}
		s.status(lost, job.Succeeded)
		head, err := s.planes().Store.Head(s.Context(), s.ref)
		s.must(err)
		if !head.SettledUpto.After(lost) {
			s.Fatalf("settled up to %s", head.SettledUpto)
		}
	})
}

func TestARepeatedManualRunWithOneIdempotencyKeyIsOneExecution(t *testing.T) {
	d, _ := later()
	onStage(t, d, func(s *stage) {
		ask := func(word string) string {
			e, err := s.planes().Control.RunNow(s.Context(), control.RunRequest{Ref: s.ref, Actor: "test", IdempotencyKey: word})
			s.must(err)
			return e.ID()
		}
		first := ask("one")
		time.Sleep(time.Minute)
		if again := ask("one"); again != first {
			s.Fatalf("the repeated request made %s beside %s", again, first)
		}
		if other := ask("two"); other == first {
			s.Fatal("another key gave the same execution")
		}
		time.Sleep(25 * time.Hour)
		if late := ask("one"); late == first {
			s.Fatal("a key is remembered for longer than a day")
		}
	})
}

// What a plan has just made lies long back and may not be on every replica yet:
// a look-back of the same scan could step over it.
func TestAScanThatCaughtUpDoesNotLookBack(t *testing.T) {
	onStage(t, job.Definition{Schedule: job.Schedule{Cron: "*/10 * * * *"}}, func(s *stage) {
		for range 2 * 16 {
			time.Sleep(45 * time.Minute)
			s.scan(s.scanner(hooks{}))
		}
		head, err := s.planes().Store.Head(s.Context(), s.ref)
		s.must(err)
		if !head.SettledUpto.IsZero() || head.Advances < 2*16 {
			s.Fatalf("%d advances, settled up to %s", head.Advances, head.SettledUpto)
		}
	})
}
