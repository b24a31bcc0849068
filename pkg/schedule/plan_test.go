package schedule

import (
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestEveryKeepsItsPhase(t *testing.T) {
	anchor := instantOf(t, "2026-01-01T00:00:07.9Z")
	for name, c := range map[string]struct {
		schedule job.Schedule
		after    string
		want     []string
	}{
		"from the second of creation":   {job.Schedule{Every: 10 * second}, "2026-01-01T00:00:07.9Z", []string{"2026-01-01T00:00:17Z", "2026-01-01T00:00:27Z"}},
		"whatever the question's time":  {job.Schedule{Every: 10 * second}, "2026-01-02T00:00:00Z", []string{"2026-01-02T00:00:07Z", "2026-01-02T00:00:17Z"}},
		"from start, which is included": {job.Schedule{Every: 60 * second, Start: instantOf(t, "2026-03-01T00:00:30Z")}, "2026-01-01T00:00:00Z", []string{"2026-03-01T00:00:30Z", "2026-03-01T00:01:30Z"}},
		"up to end, which is included":  {job.Schedule{Every: 3600 * second, Start: instantOf(t, "2026-03-01T00:00:00Z"), End: instantOf(t, "2026-03-01T01:00:00Z")}, "2026-01-01T00:00:00Z", []string{"2026-03-01T00:00:00Z", "2026-03-01T01:00:00Z"}},
		"never before a start between":  {job.Schedule{Every: 60 * second, Start: instantOf(t, "2026-03-01T00:00:00.5Z")}, "2026-01-01T00:00:00Z", []string{"2026-03-01T00:00:01Z", "2026-03-01T00:01:01Z"}},
		"up to the end of 2099":         {job.Schedule{Every: 1 * second}, "2099-12-31T23:59:58Z", []string{"2099-12-31T23:59:59Z"}},
		"as long as a leap year":        {job.Schedule{Every: 366 * 86400 * second}, "2026-06-01T00:00:00Z", []string{"2027-01-02T00:00:07Z", "2028-01-03T00:00:07Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := timesAfter(compiledFrom(t, c.schedule, anchor), instantOf(t, c.after), 2)
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestAtFiresOnce(t *testing.T) {
	plan := compiled(t, job.Schedule{At: instantOf(t, "2026-07-12T03:30:00+02:00"), Zone: "Europe/Berlin"})
	if got := timesAfter(plan, time.Time{}, 5); !slices.Equal(got, []string{"2026-07-12T01:30:00Z"}) {
		t.Errorf("got %v", got)
	}
	if next, ok := plan.Next(instantOf(t, "2026-07-12T01:30:00Z")); ok {
		t.Errorf("fires again at %v", next)
	}
}

// Times reported by users of other schedulers, in their zones.
func TestTimesThatOthersGotWrong(t *testing.T) {
	for name, c := range map[string]struct {
		cron, zone, after string
		gap               job.GapPolicy
		want              []string
	}{
		"a month is not lost with its midnight":      {"0 9 10 * *", "America/Sao_Paulo", "2018-10-17T12:00:00Z", "", []string{"2018-11-10T11:00:00Z", "2018-12-10T11:00:00Z"}},
		"nor in the other hemisphere":                {"0 9 10 * *", "America/Santiago", "2026-08-20T00:00:00Z", "", []string{"2026-09-10T12:00:00Z", "2026-10-10T12:00:00Z"}},
		"a day without midnight still has one":       {"0 1 6 9 *", "America/Santiago", "2026-09-05T12:00:00Z", "", []string{"2026-09-06T04:00:00Z", "2027-09-06T04:00:00Z"}},
		"the gap's hour runs once":                   {"0 2 * * *", "America/New_York", "2024-03-10T05:00:00Z", "", []string{"2024-03-10T07:00:00Z", "2024-03-11T06:00:00Z"}},
		"or not at all":                              {"0 2 * * *", "America/New_York", "2024-03-10T05:00:00Z", job.GapSkip, []string{"2024-03-11T06:00:00Z", "2024-03-12T06:00:00Z"}},
		"four quarters of a gap run once":            {"*/15 2 * * *", "Europe/Berlin", "2026-03-29T00:59:59Z", "", []string{"2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"}},
		"half an hour east":                          {"25 0 * * *", "Asia/Kolkata", "2026-05-13T11:49:00Z", "", []string{"2026-05-13T18:55:00Z", "2026-05-14T18:55:00Z"}},
		"a gap of half an hour":                      {"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", "", []string{"2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"}},
		"a Saturday stays a Saturday":                {"0 2 * * 6", "America/Chicago", "2026-10-31T07:00:00Z", "", []string{"2026-11-07T08:00:00Z", "2026-11-14T08:00:00Z"}},
		"a midnight gap":                             {"0 0 * * *", "Africa/Cairo", "2026-04-23T00:00:00Z", "", []string{"2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"}},
		"a zone that gave up changing":               {"0 9 * * *", "America/Asuncion", "2026-07-01T00:00:00Z", "", []string{"2026-07-01T12:00:00Z", "2026-07-02T12:00:00Z"}},
		"a day that never was":                       {"0 12 30 12 *", "Pacific/Apia", "2011-06-01T00:00:00Z", "", []string{"2011-12-30T10:00:00Z", "2012-12-29T22:00:00Z"}},
		"an offset of odd seconds":                   {"0 9 * * *", "Africa/Monrovia", "1972-01-05T12:00:00Z", "", []string{"1972-01-06T09:44:30Z", "1972-01-07T09:00:00Z"}},
		"a gap of odd seconds":                       {"10 0 * * *", "Africa/Monrovia", "1972-01-06T12:00:00Z", "", []string{"1972-01-07T00:44:30Z", "1972-01-08T00:10:00Z"}},
		"a change of offset without summer":          {"45 23 4 5 *", "Asia/Pyongyang", "2018-01-01T00:00:00Z", "", []string{"2018-05-04T15:00:00Z", "2019-05-04T14:45:00Z"}},
		"the step over days starts again each month": {"25 23 */3 * *", "UTC", "2026-09-28T00:00:00Z", "", []string{"2026-09-28T23:25:00Z", "2026-10-01T23:25:00Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := compiled(t, job.Schedule{Cron: c.cron, Zone: c.zone, Gap: c.gap})
			if got := timesAfter(plan, instantOf(t, c.after), 2); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestStartAndEndAreIncluded(t *testing.T) {
	plan := compiled(t, job.Schedule{Cron: "0 * * * *", Start: instantOf(t, "2026-07-12T10:00:00Z"), End: instantOf(t, "2026-07-12T12:00:00Z")})
	want := []string{"2026-07-12T10:00:00Z", "2026-07-12T11:00:00Z", "2026-07-12T12:00:00Z"}
	if got := timesAfter(plan, time.Time{}, 9); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	from, to := instantOf(t, "2026-07-12T10:00:00Z"), instantOf(t, "2026-07-12T11:00:00Z")
	if got := plan.Between(from, to, 0); len(got) != 1 || !got[0].Equal(to) {
		t.Errorf("between excludes from and includes to: got %v", got)
	}
	if got := plan.Between(time.Time{}, to.AddDate(1, 0, 0), 2); len(got) != 2 {
		t.Errorf("between keeps to its limit: got %v", got)
	}
}

func TestTimesStrictlyIncreaseFromAnyInstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawExpression(t)
		zoneName := rapid.SampledFrom(oddZones).Draw(t, "zone")
		plan := compiledRapid(t, job.Schedule{Cron: x.text, Zone: zoneName})
		at := instant(rapid.Int64Range(-1, horizon+1).Draw(t, "after")).Add(time.Duration(rapid.IntRange(0, 999_999_999).Draw(t, "fraction")))
		for range 20 {
			next, ok := plan.Next(at)
			if !ok {
				break
			}
			if !next.After(at) || next.Unix() > horizon || next.Nanosecond() != 0 {
				t.Fatalf("%q in %s: %v after %v", x.text, zoneName, next, at)
			}
			if between, ok := plan.Next(next.Add(-time.Nanosecond)); !ok || !between.Equal(next) {
				t.Fatalf("%q in %s: %v just before %v", x.text, zoneName, between, next)
			}
			at = next
		}
	})
}

func compiledRapid(t *rapid.T, s job.Schedule) *Plan {
	plan, err := Compile(s, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func TestOnePlanServesManyAtOnce(t *testing.T) {
	plan := compiled(t, job.Schedule{Cron: "*/7 1-3 L,1,15W * sun#2", Zone: "Europe/Berlin"})
	from := instantOf(t, "2026-01-01T00:00:00Z")
	want := timesAfter(plan, from, 200)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if got := timesAfter(plan, from, 200); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			plan.count(from.Unix(), from.AddDate(1, 0, 0).Unix())
		})
	}
	group.Wait()
}
