package schedule

import (
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// A time that is moved keeps the time of day that the schedule names, and the
// policies decide what changes of clocks do to it on its new day.
func TestMovedTimesKeepTheTimeOfDayThatTheScheduleNames(t *testing.T) {
	const newYork, cairo = "America/New_York", "Africa/Cairo"
	sundays := Calendar{Name: "sundays", Zone: newYork, Weekly: []Window{{Days: "sun"}}}
	off := func(dates ...string) Calendar { return Calendar{Name: "off", Zone: cairo, Dates: dates} }
	for what, c := range map[string]struct {
		schedule job.Schedule
		out      Calendar
		on       OnExcluded
		after    string
		want     string
		mark     string
	}{
		"a time that a gap shifted moves by the hour that is named": {job.Schedule{Cron: "30 2 * * 0", Zone: newYork}, sundays, ExcludedNext,
			"2027-03-10T00:00:00Z", "2027-03-15T06:30:00Z 2027-03-22T06:30:00Z", "moved here from Sun 2027-03-14 02:30, within sundays"},
		"so that it meets the one that is due there anyway": {job.Schedule{Cron: "30 2 * * *", Zone: newYork}, sundays, ExcludedNext,
			"2027-03-14T06:00:00Z", "2027-03-15T06:30:00Z 2027-03-16T06:30:00Z", "moved here from Sun 2027-03-14 02:30, within sundays"},
		"back, too": {job.Schedule{Cron: "30 2 * * 0", Zone: newYork}, sundays, ExcludedPrevious,
			"2027-03-10T00:00:00Z", "2027-03-12T07:30:00Z 2027-03-19T06:30:00Z", "moved here from Sun 2027-03-14 02:30, within sundays"},
		"two that met after a gap move as the first of them": {job.Schedule{Cron: "15,45 2 * * 0", Zone: newYork}, sundays, ExcludedNext,
			"2027-03-10T00:00:00Z", "2027-03-15T06:15:00Z 2027-03-22T06:15:00Z", "moved here from Sun 2027-03-14 02:15, within sundays"},
		"one that is due after the gap anyway moves as itself": {job.Schedule{Cron: "0,30 2,3 * * 0", Zone: newYork}, sundays, ExcludedNext,
			"2027-03-10T00:00:00Z", "2027-03-15T07:00:00Z 2027-03-15T07:30:00Z", "moved here from Sun 2027-03-14 03:00, within sundays"},
		"a day whose gap swallows it has it right after the gap": {job.Schedule{Cron: "0 0 * * 4", Zone: cairo}, off("2024-04-25"), ExcludedNext,
			"2024-04-20T00:00:00Z", "2024-04-25T22:00:00Z 2024-05-01T21:00:00Z", "moved here from Thu 2024-04-25 00:00, within off, right after the gap since 00:00 does not exist on this day"},
		"or, under SKIP, is passed over": {job.Schedule{Cron: "0 0 * * 4", Zone: cairo, Gap: job.GapSkip}, off("2024-04-25"), ExcludedNext,
			"2024-04-20T00:00:00Z", "2024-04-28T21:00:00Z 2024-05-01T21:00:00Z", ""},
		"a day that has it twice has it the first time": {job.Schedule{Cron: "30 23 * * 3", Zone: cairo}, off("2024-10-30"), ExcludedNext,
			"2024-10-29T00:00:00Z", "2024-10-31T20:30:00Z 2024-11-06T21:30:00Z", ""},
		"or, under SECOND, the second time": {job.Schedule{Cron: "30 23 * * 3", Zone: cairo, Overlap: job.OverlapSecond}, off("2024-10-30"), ExcludedNext,
			"2024-10-29T00:00:00Z", "2024-10-31T21:30:00Z 2024-11-06T21:30:00Z", ""},
		"one time alone comes after the gap": {job.Schedule{At: instantOf(t, "2024-04-25T00:30:00+02:00"), Zone: cairo}, off("2024-04-25"), ExcludedNext,
			"2024-04-20T00:00:00Z", "2024-04-25T22:00:00Z", "since 00:30 does not exist on this day"},
	} {
		t.Run(what, func(t *testing.T) {
			plan, err := compiled(t, c.schedule).Under(Rules{Exclude: []*Hours{hours(t, c.out)}, OnExcluded: c.on})
			if err != nil {
				t.Fatal(err)
			}
			after := instantOf(t, c.after)
			if got := strings.Join(timesAfter(plan, after, 2), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if mark := plan.Preview(after, 1, job.Ref{})[0].Mark; !strings.Contains(mark, c.mark) {
				t.Errorf("marked %q, want %q", mark, c.mark)
			}
		})
	}
}

// What calendars shut out for years is passed over, and what they never open is
// known not to come, without trying each hour.
func TestMovedTimesAreFoundBehindYearsThatAreShut(t *testing.T) {
	opened := Calendar{Name: "opened", Zone: "UTC", Dates: []string{"2031-01-02", "2061-03-01"}}
	never := Calendar{Name: "never", Zone: "UTC", Weekly: []Window{{Days: "*", From: "12:10", To: "12:20"}}}
	for what, c := range map[string]struct {
		cron     string
		calendar Calendar
		on       OnExcluded
		want     string
	}{
		"forward, by the hour":  {"0 * * * *", opened, ExcludedNext, "2031-01-02T00:00:00Z 2031-01-02T01:00:00Z"},
		"back, by the hour":     {"0 * * * *", opened, ExcludedPrevious, "2031-01-02T00:00:00Z 2031-01-02T01:00:00Z"},
		"forward, by the day":   {"30 7 * * *", opened, ExcludedNext, "2031-01-02T07:30:00Z 2061-03-01T07:30:00Z"},
		"back, by the day":      {"30 7 * * *", opened, ExcludedPrevious, "2031-01-02T07:30:00Z 2061-03-01T07:30:00Z"},
		"forward, by the month": {"0 0 20 * *", opened, ExcludedNext, "2031-01-02T00:00:00Z 2061-03-01T00:00:00Z"},
		"back, by the month":    {"0 0 20 * *", opened, ExcludedPrevious, "2031-01-02T00:00:00Z 2061-03-01T00:00:00Z"},
		"never near enough":     {"0 0 1 6 *", opened, ExcludedNext, ""},
		"open at other times":   {"30 7 * * *", never, ExcludedNext, ""},
	} {
		t.Run(what, func(t *testing.T) {
			plan, err := compiled(t, job.Schedule{Cron: c.cron}).Under(Rules{Include: []*Hours{hours(t, c.calendar)}, OnExcluded: c.on})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(timesAfter(plan, instantOf(t, "2026-01-01T00:00:00Z"), 2), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestATimeThatStandsForManyNamesTheFirstOfThem(t *testing.T) {
	one := Calendar{Name: "one", Zone: "UTC", Dates: []string{"2026-07-31"}}
	plan, err := compiled(t, job.Schedule{Cron: "@daily"}).Under(Rules{Include: []*Hours{hours(t, one)}, OnExcluded: ExcludedNext})
	if err != nil {
		t.Fatal(err)
	}
	mark := plan.Preview(instantOf(t, "2026-07-15T00:00:00Z"), 1, job.Ref{})[0].Mark
	if strings.Count(mark, "moved here") != 5 || !strings.HasSuffix(mark, "; and 26 more") {
		t.Errorf("marked %q", mark)
	}
}

func TestWhatIsLeftOutAtTheEndIsTold(t *testing.T) {
	christmas := Rules{Exclude: []*Hours{hours(t, germanHolidays)}}
	for what, c := range map[string]struct {
		schedule job.Schedule
		last     string
		want     string
	}{
		"the one time":     {job.Schedule{At: instantOf(t, "2026-12-25T05:00:00Z"), Zone: "Europe/Berlin"}, "2026-12-01T00:00:00Z", "Fri 2026-12-25 06:00, within de: left out"},
		"which has passed": {job.Schedule{At: instantOf(t, "2026-12-25T05:00:00Z"), Zone: "Europe/Berlin"}, "2026-12-26T00:00:00Z", ""},
		"the last ones": {job.Schedule{Cron: "0 6 * * *", Zone: "Europe/Berlin", End: instantOf(t, "2026-12-26T12:00:00Z")}, "2026-12-24T05:00:00Z",
			"2 times from Fri 2026-12-25 06:00, within de: left out"},
		"none": {job.Schedule{Cron: "0 6 * * *", Zone: "Europe/Berlin", End: instantOf(t, "2026-12-24T12:00:00Z")}, "2026-12-24T05:00:00Z", ""},
	} {
		plan, err := compiled(t, c.schedule).Under(christmas)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.LeftOut(instantOf(t, c.last)); got != c.want {
			t.Errorf("%s: %q, want %q", what, got, c.want)
		}
	}
	skips := job.Schedule{Cron: "30 2 14 3 * 2027", Dialect: job.DialectCronexpr, Zone: "America/New_York", Gap: job.GapSkip}
	if got, want := compiled(t, skips).LeftOut(instantOf(t, "2000-01-01T00:00:00Z")), "02:30 on 2027-03-14 does not exist (clocks go from 02:00 forward to 03:00): left out"; got != want {
		t.Errorf("in a gap: %q, want %q", got, want)
	}
	if got := compiled(t, job.Schedule{Cron: "@daily"}).LeftOut(time.Time{}); got != "" {
		t.Errorf("without calendars: %q", got)
	}
}

// A long outage of a schedule whose times are moved is counted as fast as it is
// walked over once.
func TestMovedTimesOfManyYearsAreCounted(t *testing.T) {
	plan, err := compiled(t, job.Schedule{Cron: "0 * * * *"}).Under(Rules{Exclude: []*Hours{hours(t, weekends)}, OnExcluded: ExcludedNext})
	if err != nil {
		t.Fatal(err)
	}
	from, to := instantOf(t, "2000-01-01T00:00:00Z"), instantOf(t, "2028-01-01T00:00:00Z")
	late := PlanLate(plan, from, to, job.Misfire{Policy: job.MisfireFireAll, Max: 3})
	weekdays := 0
	for day := from; day.Before(to); day = day.AddDate(0, 0, 1) {
		if isWorkday(day) {
			weekdays++
		}
	}
	if late.Missed.Count != 24*weekdays || len(late.Fire) != 3 || !late.Fire[2].Equal(to.Add(-time.Hour)) {
		t.Errorf("%d missed, want %d; fires %v", late.Missed.Count, 24*weekdays, late.Fire)
	}
}
