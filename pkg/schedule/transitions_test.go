package schedule

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// transition is a change of clocks in the first of the zones that share it.
type transition struct {
	zone *zone
	at   int64
	i    int // of the period that begins
}

// transitions lists every change of clocks of every zone from 2000 to 2040,
// once for zones that are the same around it.
func transitions(t *testing.T) []transition {
	t.Helper()
	type shape struct{ at, from, to, before, after int64 }
	low, high := instantOf(t, "2000-01-01T00:00:00Z").Unix(), instantOf(t, "2041-01-01T00:00:00Z").Unix()
	seen := map[shape]bool{}
	var list []transition
	for _, name := range slices.Sorted(maps.Keys(tzdbFiles())) {
		z, err := loadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := 1; i < len(z.periods); i++ {
			p := z.periods[i]
			s := shape{p.start, z.periods[i-1].offset, p.offset, p.start - z.periods[i-1].start, p.end - p.start}
			if p.start < low || p.start >= high || seen[s] {
				continue
			}
			seen[s] = true
			list = append(list, transition{zone: z, at: p.start, i: i})
		}
	}
	return list
}

// TestChangesOfClocksLoseAndDoubleNothing asks about every change of clocks of
// every zone with BELFRY_PROVE, and about a fresh sample without.
func TestChangesOfClocksLoseAndDoubleNothing(t *testing.T) {
	list := transitions(t)
	if len(list) < 2000 {
		t.Fatalf("only %d changes of clocks", len(list))
	}
	if os.Getenv("BELFRY_PROVE") == "" {
		sample := 25
		if testing.Short() {
			sample = 5
		}
		seed := uint64(time.Now().UnixNano())
		t.Logf("seed %d", seed)
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		list = list[:sample]
	}
	for _, c := range list {
		c.check(t)
	}
	t.Logf("%d changes of clocks", len(list))
}

func (c transition) check(t *testing.T) {
	t.Helper()
	w := walkAround(c.zone.loc, instant(c.at))
	for _, x := range c.schedules() {
		for _, policy := range allPolicies {
			plan := compiled(t, job.Schedule{Cron: x.text, Zone: c.zone.name, Gap: policy.gap, Overlap: policy.overlap})
			want := bruteForce(x, w, policy.gap, policy.overlap)
			got := plan.Between(w.around.Add(-inner), w.around.Add(inner), 0)
			if !sameTimes(got, want) {
				t.Errorf("%q in %s, %v, around %s\n got %v\nwant %v", x.text, c.zone.name, policy, w.around, got, want)
			}
			if !slices.IsSortedFunc(got, func(a, b time.Time) int { return max(a.Compare(b), -1) }) || len(slices.CompactFunc(slices.Clone(got), time.Time.Equal)) != len(got) {
				t.Errorf("%q in %s: not strictly increasing: %v", x.text, c.zone.name, got)
			}
			if n := plan.count(w.around.Add(-inner).Unix(), w.around.Add(inner).Unix()); n != int64(len(got)) {
				t.Errorf("%q in %s, %v, around %s: counted %d, visited %d", x.text, c.zone.name, policy, w.around, n, len(got))
			}
		}
	}
}

// schedules are an interval, a few hours, and three times of day: as the clock
// changes, just before, and in the middle of what is left out or repeated.
func (c transition) schedules() []drawn {
	low, high := c.zone.jump(c.i)
	if low > high {
		low, high = high, low
	}
	list := []drawn{
		{"*/10 * * * *", func(clock time.Time) bool { return clock.Minute()%10 == 0 }},
		{"5,35 0-4,23 * * *", func(clock time.Time) bool {
			return clock.Minute()%30 == 5 && (clock.Hour() <= 4 || clock.Hour() == 23)
		}},
	}
	for _, wall := range []int64{low, high - 1, (low + high) / 2} {
		at := instant(wall)
		list = append(list, drawn{fmt.Sprintf("%d %d * * *", at.Minute(), at.Hour()), func(clock time.Time) bool {
			return clock.Minute() == at.Minute() && clock.Hour() == at.Hour()
		}})
	}
	return list
}
