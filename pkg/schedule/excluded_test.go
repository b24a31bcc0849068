package schedule

import (
	"strings"
	"testing"

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
