package sim_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
	"github.com/belfry-scheduler/belfry/pkg/sim"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// zonesOf reads a database of the schedule room's: in the later one Berlin's times
// come an hour earlier, Tokyo's an hour later, and New York's stay.
func zonesOf(t *testing.T, version, file string) *schedule.Zones {
	t.Helper()
	archive, err := os.ReadFile(filepath.Join("..", "schedule", "testdata", "zones", file))
	if err != nil {
		t.Fatal(err)
	}
	z, err := schedule.OpenZones(version, archive)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// deployment is a world whose processes change from one database to the next.
type deployment struct {
	t             *testing.T
	w             *sim.World
	before, after *schedule.Zones
	old           map[string]bool // processes that still run the build before
	all           bool            // all do
}

func deploy(t *testing.T, o sim.Options) *deployment {
	d := &deployment{t: t, before: zonesOf(t, "1999a", "before.zip"), after: zonesOf(t, "2000a", "after.zip"), all: true}
	o.Zones = func(process string) *schedule.Zones {
		if d.all || d.old[process] {
			return d.before
		}
		return d.after
	}
	d.w = world(t, o)
	return d
}

// restart starts all processes anew; those named run the build before.
func (d *deployment) restart(old ...string) {
	d.w.Stop()
	d.all, d.old = false, map[string]bool{}
	for _, process := range old {
		d.old[process] = true
	}
	d.w.Start(d.t.Context())
}

func (d *deployment) put(name, cron, zone string) job.Ref {
	d.t.Helper()
	return put(d.t, d.w, job.Definition{Job: name, Schedule: job.Schedule{Cron: cron, Zone: zone}, Retry: job.Retry{MaxAttempts: 20, MaxLost: 20}})
}

// ran are the scheduled times of a job that have succeeded.
func (d *deployment) ran(ref job.Ref) []string {
	d.t.Helper()
	stored, err := d.w.Stored(d.t.Context(), ref)
	if err != nil {
		d.t.Fatal(err)
	}
	var times []string
	for _, e := range stored {
		if e.Kind == job.KindScheduled && e.Status == job.Succeeded {
			times = append(times, e.ScheduledAt.Format("2 15:04"))
		}
	}
	slices.Reverse(times)
	return times
}

func (d *deployment) expect(ref job.Ref, want ...string) {
	d.t.Helper()
	if got := d.ran(ref); !slices.Equal(got, want) {
		d.t.Errorf("%s ran at %v, want %v", ref.Job, got, want)
	}
}

// The world's clock begins at midnight of 1 January 2000, UTC.
func sleepUntil(hour, minute int) {
	time.Sleep(time.Until(time.Date(2000, 1, 1, hour, minute, 0, 0, time.UTC)))
}

func TestAFireThatMovesAnHourEarlierFiresThen(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of simulated days; part of make test")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := deploy(t, sim.Options{})
		d.w.Start(t.Context())
		earlier := d.put("earlier", "0 9 * * *", "Europe/Berlin")    // 08:00, then 07:00
		past := d.put("past", "30 6 * * *", "Europe/Berlin")         // 05:30, then 04:30: half an hour ago
		later := d.put("later", "0 15 * * *", "Asia/Tokyo")          // 06:00, then 07:00
		gone := d.put("gone", "2 14 * * *", "Asia/Tokyo")            // 05:02, made ahead at 05:00, then 06:02
		done := d.put("done", "0 13 * * *", "Asia/Tokyo")            // 04:00: it has run, and does not at 05:00 as well
		same := d.put("same", "*/30 0-1 * * *", "America/New_York")  // 05:00 to 06:30
		paused := d.put("paused", "0 9 * * *", "Europe/Berlin")      // resumed after the sweep
		hourly := d.put("office-hours", "0 7-9 * * *", "Asia/Tokyo") // 22:00 to 00:00, then 23:00 to 01:00, which comes late
		if _, err := d.w.Control.Control.Pause(t.Context(), paused, "test"); err != nil {
			t.Fatal(err)
		}
		sleepUntil(5, 0)
		time.Sleep(20 * time.Second)
		d.restart()
		d.w.Control.Control.Zones, d.w.Control.Trigger.Zones = d.after, d.after
		sleepUntil(5, 40)
		if _, err := d.w.Control.Control.Resume(t.Context(), paused, "test", ""); err != nil {
			t.Fatal(err)
		}
		sleepUntil(26, 30)
		d.w.Stop()
		d.expect(earlier, "1 07:00")
		d.expect(past, "1 04:30")
		d.expect(later, "1 07:00")
		d.expect(gone, "1 06:02")
		d.expect(done, "1 04:00")
		d.expect(same, "1 05:00", "1 05:30", "1 06:00", "1 06:30")
		d.expect(paused, "1 07:00")
		d.expect(hourly, "1 01:00", "1 23:00", "2 00:00", "2 01:00")
		d.audited(earlier, 1)
		d.audited(same, 0)
		s, err := d.w.Control.Store.Sweeps(t.Context())
		if err != nil || !s.TZDB.Settled() || s.TZDB.Version != "2000a" || s.TZDB.Moved != 6 || s.TZDB.Withdrawn != 1 {
			t.Errorf("in the end %+v, %v", s.TZDB, err)
		}
	})
}

// A sweep leaves alone what was made ahead and stays, but an edit that comes after it
// takes that back like any other.
func TestAnEditAfterASweepTakesBackWhatHadBeenMadeAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := deploy(t, sim.Options{})
		d.w.Start(t.Context())
		ref := d.put("minutes", "*/2 8-9 * * *", "Europe/Berlin") // 07:00 to 08:58, then 06:00 to 07:58
		sleepUntil(7, 53)
		time.Sleep(20 * time.Second)
		d.restart()
		d.w.Control.Control.Zones, d.w.Control.Trigger.Zones = d.after, d.after
		sleepUntil(7, 54)
		time.Sleep(30 * time.Second)
		d.audited(ref, 1)
		d.put("minutes", "0 14 * * *", "Europe/Berlin") // 12:00
		sleepUntil(13, 0)
		d.w.Stop()
		ran := d.ran(ref)
		if i := slices.Index(ran, "1 07:54"); i < 0 || !slices.Equal(ran[i:], []string{"1 07:54", "1 12:00"}) {
			t.Errorf("ran at %v; want the edit of 07:54:30 to be the end of them, until 12:00", ran)
		}
	})
}

// audited expects so many moves in a job's audit log.
func (d *deployment) audited(ref job.Ref, want int) {
	d.t.Helper()
	moved := 0
	for _, stored := range scanned(d.t, d.w, d.w.Control.Store.Tables().Control) {
		if entry, err := store.DecodeAudit(stored); err == nil && entry.Ref == ref && entry.Verb == "tzdb" && entry.Actor == "belfry" {
			moved++
		}
	}
	if moved != want {
		d.t.Errorf("%s has %d audit entries of moves, want %d", ref.Job, moved, want)
	}
}

// In the middle of a deployment a scanner of the build before goes on for some
// minutes, calls fail, processes crash and people change jobs. In the end every job
// goes by the newer database, and no time of it is lost or strange.
func TestASweepUnderLoadAmidFaultsOldScannersAndVerbs(t *testing.T) {
	seeds := 3
	switch {
	case prove():
		seeds = 100
	case testing.Short():
		seeds = 1
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { sweepDrill(t, seed) })
		})
	}
}

func sweepDrill(t *testing.T, seed int) {
	r := rand.New(rand.NewPCG(uint64(seed), 11))
	e := &everyCall{lives: map[string]int{}, calls: map[string]int{}, hits: map[string]int{}, reach: 13 + seed%30, until: time.Now().Add(3 * time.Hour)}
	d := deploy(t, sim.Options{Scanners: 2, Decide: func(p string, c fault.Call) fault.Action { return e.decide(p, c) }, Work: flaky, Second: r.IntN(60)})
	d.w.Start(t.Context())
	zones := []string{"Europe/Berlin", "Asia/Tokyo", "America/New_York", "Africa/Cairo"}
	crons := []string{"%d * * * *", "%d */2 * * *", "%d 1,3,5,7,9,11,13 * * *", "*/10 * * * *", "%d,59 0-12 * * *"}
	var jobs []job.Ref
	for i := range 60 {
		cron := crons[i%len(crons)]
		if cron != "*/10 * * * *" {
			cron = fmt.Sprintf(cron, r.IntN(59))
		}
		jobs = append(jobs, d.put(fmt.Sprint("job-", i), cron, zones[r.IntN(len(zones))]))
	}
	sleepUntil(1, 3)
	time.Sleep(time.Duration(r.IntN(240)) * time.Second)
	d.restart("scan-2") // and the API and the workers, which know no zones
	disturbed := map[job.Ref]bool{}
	for range 40 {
		time.Sleep(time.Duration(r.IntN(30)) * time.Second)
		ref := jobs[r.IntN(len(jobs))]
		disturbed[ref] = true
		d.change(r, ref)
	}
	d.w.Control.Control.Zones, d.w.Control.Trigger.Zones = d.after, d.after
	d.restart()
	sleepUntil(2, 30) // the API is of one build by now: what a verb puts, its trigger plane makes
	d.w.Control.Control.Zones, d.w.Control.Trigger.Zones = d.after, d.after
	for ref := range disturbed {
		if _, err := d.w.Control.Control.Resume(t.Context(), ref, "test", ""); err != nil {
			t.Fatal(err)
		}
	}
	sleepUntil(9, 0)
	d.w.Stop()
	s, err := d.w.Control.Store.Sweeps(t.Context())
	if err != nil || !s.TZDB.Settled() || s.TZDB.Moved == 0 {
		t.Errorf("in the end %+v, %v", s.TZDB, err)
	}
	t.Logf("seed %d: %+v", seed, s.TZDB)
	for _, ref := range jobs {
		d.judge(ref, time.Date(2000, 1, 1, 2, 31, 0, 0, time.UTC), time.Date(2000, 1, 1, 8, 30, 0, 0, time.UTC))
	}
	if err := d.w.CheckChanges(t.Context()); err != nil {
		t.Errorf("%.3000v", err)
	}
}

// change is a verb of a person, through an API of the build before.
func (d *deployment) change(r *rand.Rand, ref job.Ref) {
	d.t.Helper()
	service, ctx := d.w.Control.Control, d.t.Context()
	var err error
	switch r.IntN(3) {
	case 0:
		_, err = service.Pause(ctx, ref, "test")
	case 1:
		_, err = service.Resume(ctx, ref, "test", "")
	default:
		var view *control.JobView
		if view, err = service.Get(ctx, ref); err == nil {
			view.Definition.Description = fmt.Sprint("edit ", r.IntN(1000))
			_, err = service.Put(ctx, control.PutRequest{Ref: ref, Definition: view.Definition, Actor: "test"})
		}
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// judge: every time of the newer database in the span has ended in one recorded
// way, nothing else ran in it, and no rule was broken.
func (d *deployment) judge(ref job.Ref, from, upto time.Time) {
	d.t.Helper()
	head, err := d.w.Control.Store.Head(d.t.Context(), ref)
	if err != nil {
		d.t.Fatal(err)
	}
	plan, err := d.after.Compile(head.Schedule, head.Anchor)
	if err != nil {
		d.t.Fatal(err)
	}
	stored, err := d.w.Stored(d.t.Context(), ref)
	if err != nil {
		d.t.Fatal(err)
	}
	own := map[int64]*job.Execution{}
	for i := range stored {
		if e := &stored[i]; e.Kind == job.KindScheduled {
			own[e.ScheduledAt.Unix()] = e
			next, _ := plan.Next(e.ScheduledAt.Add(-time.Second))
			if e.ScheduledAt.After(from) && e.Attempt > 0 && !next.Equal(e.ScheduledAt) {
				d.t.Errorf("%s of %s %s ran, which is no time of the newer database", e.ID(), head.Schedule.Cron, head.Schedule.Zone)
			}
		}
	}
	for _, at := range plan.Between(from, upto, 0) {
		if e := own[at.Unix()]; e == nil || !lifecycle.Terminal(e.Status) {
			d.t.Errorf("%s of %s (%s %s) has no end: %+v", at, ref.Job, head.Schedule.Cron, head.Schedule.Zone, e)
		}
	}
}

// Workers that are away for a while: what waits for them was due before the move,
// and is as good as ever.
func TestWhatWaitsForWorkersWhileItsJobMovesStillRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("seconds of simulated days; part of make test")
	}
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		away := func() bool {
			at := time.Now().UTC()
			return at.Hour() == 8 && at.Minute() < 30
		}
		d := deploy(t, sim.Options{Decide: func(process string, _ fault.Call) fault.Action {
			if strings.HasPrefix(process, "worker-") && away() {
				return fault.FailBefore
			}
			return fault.Pass
		}})
		d.w.Start(t.Context())
		waits := d.put("waits", "0,5 9 * * *", "Europe/Berlin") // 08:00 and 08:05, then 07:00 and 07:05
		sleepUntil(8, 10)
		d.restart()
		sleepUntil(32, 0)
		d.w.Stop()
		d.expect(waits, "1 08:00", "1 08:05", "2 07:00", "2 07:05")
		d.audited(waits, 1)
	})
}
