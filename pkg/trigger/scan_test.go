package trigger_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

var minutely = job.Schedule{Cron: "* * * * *"}

// PB-064, PB-076: many ticks of one minute, and one of them again much later.
func TestOfManyTicksOfAMinuteOneFansOut(t *testing.T) {
	inTower(t, func(w *tower) {
		for range 3 {
			time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute + 7*time.Second)))
			var ticks sync.WaitGroup
			won := make([]bool, 12)
			for i := range won {
				ticks.Go(func() {
					var err error
					if won[i], err = w.Tick(w.Context()); err != nil {
						w.Error(err)
					}
				})
			}
			ticks.Wait()
			n := 0
			for _, ok := range won {
				if ok {
					n++
				}
			}
			if n != 1 {
				w.Errorf("%d of %d ticks fanned out", n, len(won))
			}
			scans, err := w.belfry.Queues.Queue("belfry-scan").Receive(w.Context(), 10, 0, time.Hour)
			w.must(err)
			if len(scans) != 1 {
				w.Errorf("a minute of one shard sent %d scans", len(scans))
			}
		}
	})
}

// Invariant 7: what is wrong with one job is that job's alone.
func TestOneBadJobStopsNoOther(t *testing.T) {
	for name, harm := range map[string]func(w *tower, ref job.Ref){
		"a zone that has vanished":         func(w *tower, ref job.Ref) { w.spoil(ref, "schedule", `{"cron":"* * * * *","zone":"Europe/Atlantis"}`) },
		"a schedule that is none":          func(w *tower, ref job.Ref) { w.spoil(ref, "schedule", `{"cron":"61 * * * *"}`) },
		"a schedule that does not decode":  func(w *tower, ref job.Ref) { w.spoil(ref, "schedule", `{"cron":7`) },
		"a misfire policy that is unknown": func(w *tower, ref job.Ref) { w.spoil(ref, "misfire", `{"policy":"PRAY"}`) },
		"a plan that does not decode":      func(w *tower, ref job.Ref) { w.spoil(ref, "plan", `{"from":7}`) },
		"a gap that does not decode":       func(w *tower, ref job.Ref) { w.spoil(ref, "gap", `7`) },
		"puts that fail":                   func(w *tower, ref job.Ref) { w.Service.Executions = failing{w.Service.Executions, ref.Job} },
		"messages that the queue refuses":  func(w *tower, ref job.Ref) { w.Admission = choosy{w.Admission, ref.Job} },
	} {
		t.Run(name, func(t *testing.T) {
			inTower(t, func(w *tower) {
				cursor := time.Now().Add(time.Minute)
				bad := w.store("bad", minutely, cursor, job.Misfire{Tolerance: job.Duration(time.Minute)})
				var good []job.Ref
				for i := range 5 {
					good = append(good, w.store(fmt.Sprint("good-", i), minutely, cursor, job.Misfire{Tolerance: job.Duration(time.Minute)}))
				}
				harm(w, bad)
				w.scan()
				for _, ref := range good {
					if times, _ := w.made(ref); len(times) != 5 || w.head(ref).NextFireAt.Equal(cursor) {
						w.Errorf("%s was made at %v", ref, times)
					}
				}
			})
		})
	}
}

func TestAJobWhoseZoneHasVanishedIsBrokenWithAReason(t *testing.T) {
	for schedule, reason := range map[string]job.Reason{`{"cron":"* * * * *","zone":"Europe/Atlantis"}`: lifecycle.ZoneGone, `{"cron":"61 * * * *"}`: lifecycle.ScheduleInvalid} {
		inTower(t, func(w *tower) {
			ref := w.store("bad", minutely, time.Now().Add(time.Minute), job.Misfire{})
			w.spoil(ref, "schedule", schedule)
			w.scan()
			if head := w.head(ref); head.State != job.Broken || head.Reason != reason || head.DueShard != "" {
				w.Errorf("%s: the job is %s/%s in shard %q", schedule, head.State, head.Reason, head.DueShard)
			}
		})
	}
}

func TestAnOldScanMessageIsDropped(t *testing.T) {
	inTower(t, func(w *tower) {
		ref := w.store("job", minutely, time.Now().Add(time.Minute), job.Misfire{})
		sent := time.Now()
		time.Sleep(91 * time.Second)
		w.must(w.Scan(w.Context(), job.ShardRange{Generation: 1, From: 0, To: 1}, sent))
		if times, _ := w.made(ref); len(times) > 0 {
			w.Errorf("a scan message of 91 s made %v", times)
		}
		w.must(w.Scan(w.Context(), job.ShardRange{Generation: 1, From: 0, To: 1}, time.Now().Add(-89*time.Second)))
		if times, _ := w.made(ref); len(times) == 0 {
			w.Error("a scan message of 89 s was dropped")
		}
	})
}

// More jobs than a page of the due index holds, in one scan (PB-065).
func TestMoreDueJobsThanAPage(t *testing.T) {
	inTower(t, func(w *tower) {
		cursor := time.Now().Add(time.Minute)
		var refs []job.Ref
		for i := range 230 {
			refs = append(refs, w.store(fmt.Sprintf("job-%03d", i), job.Schedule{At: cursor}, cursor, job.Misfire{}))
		}
		w.calls("due")
		w.scan()
		if pages := w.calls("due"); pages != 3 {
			w.Errorf("%d pages", pages)
		}
		for _, ref := range refs {
			if head := w.head(ref); head.State != job.Completed {
				w.Errorf("%s is %s", ref, head.State)
			}
		}
		time.Sleep(time.Minute)
		if n := w.queued(); n != len(refs) {
			w.Errorf("%d messages", n)
		}
	})
}

func TestAnEverySecondJobCostsOneAdvanceATick(t *testing.T) {
	inTower(t, func(w *tower) {
		w.store("job", job.Schedule{Every: job.Duration(time.Second)}, time.Now().Add(time.Second), job.Misfire{Tolerance: job.Duration(time.Minute)})
		w.scan()
		w.calls("advance")
		w.calls("put")
		for range 5 {
			time.Sleep(time.Minute)
			w.scan()
			if advances, puts := w.calls("advance"), w.calls("put"); advances != 1 || puts != 60 {
				w.Errorf("a minute cost %d advances and %d puts", advances, puts)
			}
		}
	})
}
