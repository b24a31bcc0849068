package schedule

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestPrevIsTheTimeBefore(t *testing.T) {
	at := func(s string) time.Time {
		parsed, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	rows := map[string]struct {
		schedule     job.Schedule
		before, want string // want empty: none
	}{
		"a nightly job's interval began a day earlier": {job.Schedule{Cron: "30 2 * * *", Zone: "UTC"}, "2026-07-12T02:30:00Z", "2026-07-11T02:30:00Z"},
		"between two times it is the earlier one":      {job.Schedule{Cron: "30 2 * * *", Zone: "UTC"}, "2026-07-12T02:29:59.5Z", "2026-07-11T02:30:00Z"},
		"half a second after a time it is that time":   {job.Schedule{Cron: "30 2 * * *", Zone: "UTC"}, "2026-07-12T02:30:00.5Z", "2026-07-12T02:30:00Z"},
		"a leap day's is four years earlier":           {job.Schedule{Cron: "0 0 29 2 *", Zone: "UTC"}, "2028-02-29T00:00:00Z", "2024-02-29T00:00:00Z"},
		"an interval counts back from its anchor":      {job.Schedule{Every: job.Duration(90 * time.Second)}, "2026-01-01T00:04:30Z", "2026-01-01T00:03:00Z"},
		"the first of an interval began at its anchor": {job.Schedule{Every: job.Duration(90 * time.Second)}, "2026-01-01T00:01:30Z", "2026-01-01T00:00:00Z"},
		"a one-off time has none":                      {job.Schedule{At: at("2026-07-12T02:30:00Z")}, "2026-07-12T02:30:00Z", ""},
		"nothing lies before the start":                {job.Schedule{Cron: "0 * * * *", Zone: "UTC", Start: at("2026-07-12T03:00:00Z")}, "2026-07-12T03:00:00Z", ""},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			plan, err := Compile(row.schedule, at("2026-01-01T00:00:00Z"))
			if err != nil {
				t.Fatal(err)
			}
			got, ok := plan.Prev(at(row.before))
			if ok != (row.want != "") || ok && !got.Equal(at(row.want)) {
				t.Fatalf("got %s, %t; want %q", got, ok, row.want)
			}
		})
	}
}

func TestPrevOfNextIsWhereNextBegan(t *testing.T) {
	plans := []*Plan{}
	for _, s := range []job.Schedule{{Cron: "*/7 3 * * 1", Zone: "America/New_York"}, {Cron: "30 2 * * *", Zone: "Australia/Lord_Howe"}, {Every: job.Duration(13 * time.Second)}} {
		plan, err := Compile(s, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		plans = append(plans, plan)
	}
	rapid.Check(t, func(t *rapid.T) {
		plan := rapid.SampledFrom(plans).Draw(t, "plan")
		from := time.Unix(rapid.Int64Range(1_600_000_000, 4_000_000_000).Draw(t, "from"), 0)
		first, _ := plan.Next(from)
		second, _ := plan.Next(first)
		if got, ok := plan.Prev(second); !ok || !got.Equal(first) {
			t.Fatalf("before %s is %s, not %s", second, got, first)
		}
	})
}
