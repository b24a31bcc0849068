package sweep

import (
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

var morning = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// purged is a purge that is done for today.
var purged = job.PurgeSweep{Walk: job.Walk{BegunAt: morning.Add(-5 * time.Hour), DoneAt: morning.Add(-5 * time.Hour)}}

func walked(version string, noted, begun time.Duration, change func(*job.TZDBSweep)) job.Sweeps {
	t := job.TZDBSweep{Version: version, NotedAt: morning.Add(-noted), Walk: job.Walk{BegunAt: morning.Add(-begun), DoneAt: morning.Add(-begun).Add(time.Minute), Jobs: 7}, Walks: 2}
	if change != nil {
		change(&t)
	}
	return job.Sweeps{TZDB: t, Purge: purged}
}

func TestWhatATickHasToSweep(t *testing.T) {
	const mine = "2026a"
	for name, c := range map[string]struct {
		seen    job.Sweeps
		want    task
		version string // noted afterwards
		walks   int    // begun afterwards with it
	}{
		"the first tick of all walks":                           {job.Sweeps{Purge: purged}, retime, mine, 1},
		"an older version noted: a newer build takes over":      {walked("2025c", time.Hour, time.Hour, nil), retime, mine, 1},
		"also in the middle of its walk":                        {walked("2025c", time.Hour, time.Hour, func(t *job.TZDBSweep) { t.Walk.DoneAt = time.Time{} }), retime, mine, 1},
		"a newer version noted: an older build leaves its mark": {walked("2026b", time.Hour, time.Hour, nil), note, "2026b", 2},
		"but once for each walk":                                {walked("2026b", time.Hour, time.Hour, func(t *job.TZDBSweep) { t.OtherAt = morning.Add(-time.Minute) }), nothing, "2026b", 2},
		"a walk goes on":                                        {walked(mine, time.Hour, time.Hour, func(t *job.TZDBSweep) { t.Walk.DoneAt = time.Time{} }), retime, mine, 2},
		"a settled one is over":                                 {walked(mine, time.Hour, 30*time.Minute, nil), nothing, mine, 2},
		"a walk from the middle of the deployment is repeated":  {walked(mine, 20*time.Minute, 20*time.Minute, nil), retime, mine, 3},
		"but not at once":                                       {walked(mine, 14*time.Minute, 14*time.Minute, nil), nothing, mine, 2},
		"one that left jobs is repeated":                        {walked(mine, time.Hour, 30*time.Minute, func(t *job.TZDBSweep) { t.Walk.Left = 1 }), retime, mine, 3},
		"so is one that an older tick followed":                 {walked(mine, time.Hour, 30*time.Minute, func(t *job.TZDBSweep) { t.OtherAt = morning.Add(-10 * time.Minute) }), retime, mine, 3},
	} {
		t.Run(name, func(t *testing.T) {
			next, got := decide(c.seen, morning, mine)
			if got != c.want || next.TZDB.Version != c.version || next.TZDB.Walks != c.walks {
				t.Errorf("task %d, version %s, walk %d; want %d, %s, %d", got, next.TZDB.Version, next.TZDB.Walks, c.want, c.version, c.walks)
			}
			if got == note && !next.TZDB.OtherAt.Equal(morning) {
				t.Errorf("the mark says %s", next.TZDB.OtherAt)
			}
		})
	}
}

func TestAPurgeBeginsOnceADay(t *testing.T) {
	settled := walked("2026a", time.Hour, 30*time.Minute, nil)
	for name, c := range map[string]struct {
		begun string
		done  bool
		now   string
		want  task
	}{
		"the night before last":       {"2026-02-27T03:00:10Z", true, "2026-03-01T03:00:00Z", purge},
		"not before three":            {"2026-02-28T03:00:10Z", true, "2026-03-01T02:59:59Z", nothing},
		"at three":                    {"2026-02-28T03:00:10Z", true, "2026-03-01T03:00:00Z", purge},
		"not again in the same day":   {"2026-03-01T03:00:00Z", true, "2026-03-01T23:59:00Z", nothing},
		"one under way goes on":       {"2026-03-01T03:00:00Z", false, "2026-03-01T03:01:00Z", purge},
		"one begun late, on time the": {"2026-03-01T02:10:00Z", true, "2026-03-01T03:00:00Z", purge},
	} {
		t.Run(name, func(t *testing.T) {
			parsed := func(text string) time.Time {
				at, err := time.Parse(time.RFC3339, text)
				if err != nil {
					t.Fatal(err)
				}
				return at
			}
			seen := settled
			seen.TZDB.OtherAt, seen.TZDB.NotedAt = time.Time{}, parsed(c.begun).Add(-time.Hour)
			seen.TZDB.Walk.BegunAt = parsed(c.begun).Add(-time.Minute)
			seen.Purge.Walk = job.Walk{BegunAt: parsed(c.begun)}
			if c.done {
				seen.Purge.Walk.DoneAt = parsed(c.begun)
			}
			if _, got := decide(seen, parsed(c.now), "2026a"); got != c.want {
				t.Errorf("task %d, want %d", got, c.want)
			}
		})
	}
}

// Whatever two builds tick in turns, the version noted never goes back, and an
// older build never walks.
func TestTwoBuildsDoNotFight(t *testing.T) {
	seen, now := job.Sweeps{Purge: purged}, morning
	walks := map[string]int{}
	for minute := range 60 {
		for _, version := range []string{"2026b", "2025c"} {
			if minute > 20 && version == "2025c" {
				continue // it is gone
			}
			next, got := decide(seen, now, version)
			if got == retime {
				walks[version]++
				next.TZDB.Walk.DoneAt = now
			}
			if next.TZDB.Version < seen.TZDB.Version {
				t.Fatalf("minute %d: %s after %s", minute, next.TZDB.Version, seen.TZDB.Version)
			}
			seen = next
		}
		now = now.Add(time.Minute)
	}
	if walks["2025c"] != 0 || walks["2026b"] < 2 || !seen.TZDB.Settled() {
		t.Errorf("walks %v, in the end %+v", walks, seen.TZDB)
	}
}
