package sim_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/sim"
)

// A backfill that was under way comes back from a backup a minute older than the
// executions, and goes on under the epochs that the repair lifts to: nothing that
// had ended runs again, and nothing is left out.
func TestABackfillGoesOnAfterARestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old := world(t, sim.Options{})
		ref := put(t, old, job.Definition{Job: "job", Schedule: job.Schedule{Cron: "*/10 * * * *"}})
		old.Start(t.Context())
		from := newYear.Add(-200 * time.Hour)
		asked, err := old.Control.Control.Backfill(t.Context(), control.BackfillRequest{Ref: ref, From: from, To: newYear.Add(-time.Second), Rate: 1, Actor: "ada"})
		if err != nil {
			t.Fatal(err)
		}
		b := backup{}
		time.Sleep(5*time.Minute + 20*time.Second)
		b.definitions(t, old)
		time.Sleep(time.Minute)
		b.executions = scanned(t, old, old.Control.Store.Tables().Executions)
		time.Sleep(30 * time.Second)
		old.Stop()
		fresh := restoredWorld(t, b, sim.Options{})
		ended := map[job.Key]bool{}
		stored, err := fresh.Stored(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range stored {
			ended[e.Key] = e.Status == job.Succeeded
		}
		fresh.Start(t.Context())
		repair(t, fresh)
		time.Sleep(30 * time.Minute)
		fresh.Stop()
		done, err := fresh.Control.Store.Backfill(t.Context(), ref, asked.Backfill.ID)
		if err != nil || done.State != job.BackfillDone || done.Made != 1200 {
			t.Errorf("it is %s with %d of %d made, %v", done.State, done.Made, done.Total, err)
		}
		if err := fresh.Check(t.Context(), ref, from.Add(-time.Second), newYear.Add(-time.Second)); err != nil {
			t.Errorf("%.800v", err)
		}
		for _, r := range fresh.Runs() {
			if ended[r.Key] {
				t.Errorf("%s had ended before the restore and ran again", r.ID)
			}
		}
		if len(fresh.Runs()) < 700 {
			t.Errorf("only %d ran after the restore: the drill shows nothing", len(fresh.Runs()))
		}
	})
}

// An execution of a time long ago is kept as long as one of today: the table's time
// to live must not take it away before it runs.
func TestATimeOfLongAgoIsKeptAsLongAsOneOfToday(t *testing.T) {
	definition, _ := later()
	onStage(t, definition, func(s *stage) {
		r := lastHour(s.ref)
		r.From, r.To = r.From.AddDate(-3, 0, 0), r.To.AddDate(-3, 0, 0)
		if _, err := s.planes().Control.Backfill(s.Context(), r); job.CodeOf(err) != job.CodeInvalid {
			t.Errorf("without force: %v", err)
		}
		r.Force = true
		b := s.backfill(r)
		for _, stored := range scanned(s.T, s.w, s.planes().Store.Tables().Executions) {
			expires, _ := stored["expires_at"].(*types.AttributeValueMemberN)
			if expires == nil || len(expires.Value) < 9 || expires.Value < "949000000" { // a month after the bubble began
				t.Errorf("%v expires at %v", stored["sk"], expires)
			}
		}
		s.wantRuns(s.workOff(), sixTimes)
		s.wantDone(b, 6, 0)
	})
}

// Of times whose history ended while the backfill was on its way nothing is
// known: they are passed over, unless it was forced.
func TestWhatIsForgottenOnTheWayIsPassedOver(t *testing.T) {
	definition, _ := later()
	for says, force := range map[string]bool{"by default": false, "but not when forced": true} {
		t.Run(says, func(t *testing.T) {
			onStage(t, definition, func(s *stage) {
				r := lastHour(s.ref)
				r.Force = force
				b := s.queued(r)
				time.Sleep(30*24*time.Hour - 31*time.Minute) // half of the hour is longer ago than 30 days by then
				s.scan(s.planes().Trigger)
				s.workOff()
				if force {
					s.wantDone(b, 6, 0)
				} else {
					s.wantDone(b, 3, 3)
				}
			})
		})
	}
}

// What a backfilled execution costs: put, claim and settle, and its part of the
// backfill's own writes, three units a minute.
func TestABackfilledExecutionCostsLessThanARecurringOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		units := map[string]float64{}
		w := world(t, sim.Options{Meter: func(operation string, consumed []types.ConsumedCapacity) {
			mu.Lock()
			defer mu.Unlock()
			for _, c := range consumed {
				units[operation] += aws.ToFloat64(c.CapacityUnits)
			}
		}})
		w.Start(t.Context())
		ref := put(t, w, job.Definition{Job: "job", Schedule: job.Schedule{Cron: "0 * * * *"}})
		time.Sleep(time.Minute)
		mu.Lock()
		units = map[string]float64{}
		mu.Unlock()
		if _, err := w.Control.Control.Backfill(t.Context(), control.BackfillRequest{Ref: ref, From: newYear.Add(-600 * time.Hour), To: newYear.Add(-time.Second), Rate: 1, Actor: "ada"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(15 * time.Minute)
		w.Stop()
		listed, _, err := w.Control.Store.Backfills(t.Context(), ref, "", 1)
		if err != nil || listed[0].State != job.BackfillDone || listed[0].Made != 600 {
			t.Fatalf("it is %s with %d made, %v", listed[0].State, listed[0].Made, err)
		}
		writes := (units["put"] + units["claim"] + units["settle"] + units["save backfill"] + units["change backfill"]) / 600
		reads := (units["in range"] + units["backfill"] + units["head"] + units["revision"] + units["execution"]) / 600
		if writes > 3.1 || reads > 2.1 {
			t.Errorf("%.3f write units and %.3f read units an execution: %v", writes, reads, units)
		}
		t.Logf("%.3f write units and %.3f read units an execution: %v", writes, reads, units)
	})
}

// Crash, throttle and lost response at every call of every process, with two
// scanners, while a backfill and a rerun of what it made are under way.
func TestABackfillComesThroughFaultsAtEveryCall(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of simulated days; part of make test")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &everyCall{lives: map[string]int{}, calls: map[string]int{}, hits: map[string]int{}, reach: 17, until: newYear.Add(90 * time.Minute)}
		w := world(t, sim.Options{Decide: e.decide, Work: flaky})
		w.StartCrowd(t.Context(), 2, 1)
		ref := put(t, w, job.Definition{Job: "job", Schedule: job.Schedule{Cron: "*/10 * * * *"}, Retry: job.Retry{MaxAttempts: 20, MaxLost: 20}})
		from := newYear.Add(-100 * time.Hour)
		ask := func(rerun bool) string {
			answer, err := w.Control.Control.Backfill(t.Context(), control.BackfillRequest{Ref: ref, From: from, To: newYear.Add(-time.Second), Rate: 0.5, Rerun: rerun, Actor: "ada"})
			if err != nil {
				t.Fatal(err)
			}
			return answer.Backfill.ID
		}
		first := ask(false)
		time.Sleep(40 * time.Minute)
		again := ask(true)
		time.Sleep(80 * time.Minute)
		w.Stop()
		if err := w.Check(t.Context(), ref, from.Add(-time.Second), newYear.Add(-time.Second)); err != nil {
			t.Errorf("%.800v", err)
		}
		stored, err := w.Stored(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		made := map[string]int{}
		for _, e := range stored {
			if e.Status == job.Succeeded {
				made[e.Backfill]++
			}
		}
		for _, id := range []string{first, again} {
			b, err := w.Control.Store.Backfill(t.Context(), ref, id)
			if err != nil || b.State != job.BackfillDone || b.Made != made[id] || b.Made+b.Skipped != 600 {
				t.Errorf("%s with %d made and %d passed over, %d have succeeded, %v", b.State, b.Made, b.Skipped, made[id], err)
			}
		}
		if made[first] != 600 || made[again] < 500 {
			t.Errorf("the first made %d of 600, the rerun %d", made[first], made[again])
		}
	})
}
