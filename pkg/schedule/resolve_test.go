package schedule

import (
	"math"
	"slices"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// inventedZone makes a zone of hours after 2026-07-12T00:00:00Z at which the
// offset, in hours too, becomes another one. No zone has done such things yet.
func inventedZone(t *testing.T, changes ...[2]float64) *zone {
	t.Helper()
	origin := instantOf(t, "2026-07-12T00:00:00Z").Unix()
	z := &zone{name: "Invented/Zone", periods: []period{{start: math.MinInt64 / 4}}}
	for _, change := range changes {
		at := origin + int64(change[0]*3600)
		z.periods[len(z.periods)-1].end = at
		z.periods = append(z.periods, period{start: at, offset: int64(change[1] * 3600)})
	}
	z.periods[len(z.periods)-1].end = math.MaxInt64 / 4
	return z
}

func TestClocksThatChangeTwiceInShortOrder(t *testing.T) {
	// 10:00 → 12:00 at 10 h; half an hour later 12:30 → 11:30: of the gap's
	// times those from 11:30 on exist after all.
	backSoon := inventedZone(t, [2]float64{10, 2}, [2]float64{10.5, 1})
	// 10:00 → 09:00 at 10 h and at 11 h again: 09:30 comes three times.
	thrice := inventedZone(t, [2]float64{10, -1}, [2]float64{11, -2})
	// 10:00 → 12:00 at 10 h, 12:15 → 09:15 at once, 10:00 → 12:00 again: 11:00
	// lies in two gaps.
	twoGaps := inventedZone(t, [2]float64{10, 2}, [2]float64{10.25, -1}, [2]float64{11, 1})
	for name, c := range map[string]struct {
		zone    *zone
		cron    string
		gap     job.GapPolicy
		overlap job.OverlapPolicy
		want    []string
	}{
		"a time that the second change brings back is not shifted": {backSoon, "45 11 * * *", job.GapShiftForward, job.OverlapFirst, []string{"2026-07-12T10:45:00Z"}},
		"a time that neither shows is shifted":                     {backSoon, "15 11 * * *", job.GapShiftForward, job.OverlapFirst, []string{"2026-07-12T10:00:00Z"}},
		"the first of three":                                       {thrice, "30 9 * * *", job.GapSkip, job.OverlapFirst, []string{"2026-07-12T09:30:00Z"}},
		"the second of three":                                      {thrice, "30 9 * * *", job.GapSkip, job.OverlapSecond, []string{"2026-07-12T10:30:00Z"}},
		"all three":                                                {thrice, "30 9 * * *", job.GapSkip, job.OverlapBoth, []string{"2026-07-12T09:30:00Z", "2026-07-12T10:30:00Z", "2026-07-12T11:30:00Z"}},
		"a time in two gaps fires after the first only":            {twoGaps, "0 11 * * *", job.GapShiftForward, job.OverlapFirst, []string{"2026-07-12T10:00:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := parseUnix(c.cron)
			if err != nil {
				t.Fatal(err)
			}
			w, err := newWall(f)
			if err != nil {
				t.Fatal(err)
			}
			plan := &Plan{times: &civil{wall: w, zone: c.zone, gap: c.gap, overlap: c.overlap}, zone: c.zone, last: horizon}
			got := []string{}
			for _, at := range plan.Between(instantOf(t, "2026-07-12T00:00:00Z"), instantOf(t, "2026-07-12T20:00:00Z"), 0) {
				got = append(got, at.Format("2006-01-02T15:04:05Z07:00"))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestTheWallAnswersNoneRatherThanPanic(t *testing.T) {
	w, err := newWall(fields{seconds: span(0, 0, 1), minutes: allMinutes, hours: allHours, days: days{any: true}, months: allMonths, weekdays: weekdays{any: true}})
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := w.next(horizon - 30); ok {
		t.Errorf("a time after 2099: %v", instant(at))
	}
	if at, ok := w.next(math.MinInt64 / 4); ok && at < 0 {
		t.Errorf("a time before 1970: %v", instant(at))
	}
	for _, empty := range []fields{{}, {seconds: 1, minutes: 1, hours: 1, months: 2}} {
		broken, err := newWall(empty)
		if err != nil {
			if job.CodeOf(err) != job.CodeInternal {
				t.Errorf("empty fields: %v", err)
			}
			continue
		}
		if at, ok := broken.next(0); ok {
			t.Errorf("empty fields fire at %v", instant(at))
		}
	}
}
