package schedule

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// linted are schedules as people write them, with the codes of their warnings.
func linted() []lintCase {
	return []lintCase{
		{utc("0 3 * * *"), ""},
		{utc("*/15 * * * *"), ""},
		{utc("5/15 * * * *"), ""},
		{utc("15,30,45 * * * *"), ""},
		{utc("10-30/7 * * * *"), ""},
		{utc("*/7 * * * *"), WarnUnevenStep},
		{utc("50/15 * * * *"), WarnUnevenStep},
		{utc("0 */5 * * *"), WarnUnevenStep},
		{utc("0 */6 * * *"), ""},
		{utc("0 0 */2 * *"), WarnUnevenStep},
		{utc("0 0 1 */5 *"), WarnUnevenStep},
		{utc("0 0 1 */3 *"), ""},
		{utc("0 0 * * */2"), WarnUnevenStep},
		{utc("0 0 1 3/3 *"), ""},
		{utc("0 0 1 jan/5 *"), WarnUnevenStep},
		{utc("0-59/7 * * * *"), WarnUnevenStep},
		{utc("0 0-23/5 * * *"), WarnUnevenStep},
		{utc("0 9-17/3 * * *"), ""},
		{utc("30/30 * * * *"), WarnUnevenStep},
		{utc("15/15 * * * *"), WarnUnevenStep},
		{utc("*/7,30 * * * *"), ""},
		{utc("* 2 * * *"), WarnEveryMinute},
		{utc("* 2-4 * * *"), ""},
		{utc("* 0,12 * * *"), WarnEveryMinute},
		{utc("* */2 * * *"), WarnEveryMinute},
		{utc("* 23,0 * * *"), ""},
		{in(job.DialectQuartz, "* 0/5 * * * ?"), WarnEveryMinute},
		{in(job.DialectQuartz, "* * * * * ?"), ""},
		{in(job.DialectQuartz, "* 5 * * * ?"), WarnEveryMinute},
		{in(job.DialectQuartz, "* * 5 * * ?"), WarnEveryMinute},
		{in(job.DialectQuartz, "0 0 2 * * ?"), ""},
		{in(job.DialectQuartz, "*/7 * * * * ?"), WarnUnevenStep},
		{in(job.DialectAWS, "cron(0/7 * * * ? *)"), WarnUnevenStep},
		{in(job.DialectAWS, "0 0 2 * ? *"), ""},
		{in(job.DialectCronexpr, "0 0 2 * * *"), WarnSecondsFirst},
		{in(job.DialectCronexpr, "*/10 * * * * *"), WarnSecondsFirst},
		{in(job.DialectCronexpr, "0 0 2 * * 2026"), ""},
		{in(job.DialectCronexpr, "0 0 0 2 * * *"), ""},
		{job.Schedule{Cron: "0 3 * * *"}, WarnNoZone},
		{job.Schedule{Cron: "@daily"}, WarnNoZone},
		{job.Schedule{Cron: "*/5 * * * 1-5"}, WarnNoZone},
		{job.Schedule{Cron: "*/5 * * * *"}, ""},
		{job.Schedule{Cron: "*/5 * * * 0-6"}, ""},
		{job.Schedule{Cron: "@hourly"}, ""},
		{job.Schedule{Cron: "*/7 2 31 * 5"}, WarnNoZone + " " + WarnUnevenStep + " " + WarnBothDays + " " + WarnMissingDay},
		{job.Schedule{Every: 7 * second}, ""},
		{job.Schedule{Every: 86400 * second}, ""},
		{job.Schedule{Every: 86400 * second, Zone: "Asia/Tokyo"}, ""},
		{job.Schedule{Every: 3600 * second, Zone: "Europe/Berlin"}, ""},
		{job.Schedule{Every: 7 * 86400 * second, Zone: "Europe/Berlin"}, WarnNoClock},
		{job.Schedule{Every: 60 * second, Gap: job.GapSkip, Overlap: job.OverlapBoth}, WarnNoClock + " " + WarnNoClock},
		{job.Schedule{At: instant(horizon), Overlap: job.OverlapFirst}, WarnNoClock},
		{job.Schedule{At: instant(horizon)}, ""},
		{utc("61 * * * *"), ""},
	}
}

// lintedDays are schedules with days, in the same way.
func lintedDays() []lintCase {
	return []lintCase{
		{utc("0 0 31 * *"), WarnMissingDay},
		{utc("0 0 30 * *"), WarnMissingDay},
		{utc("0 0 15,30 * *"), WarnMissingDay},
		{utc("0 0 29 2 *"), WarnMissingDay},
		{utc("0 0 31 1,3 *"), ""},
		{utc("0 0 25-31 * *"), ""},
		{utc("0 0 31W * *"), WarnMissingDay},
		{utc("0 0 L * *"), ""},
		{utc("0 0 13 * 5"), WarnBothDays},
		{utc("0 0 1 * 1-5"), WarnBothDays},
		{utc("0 0 1 * 0-6"), WarnBothDays},
		{utc("0 0 * * 1#5"), WarnMissingDay},
		{utc("0 0 * * 1#4"), ""},
		{utc("0 0 * * 1-5"), ""},
		{in(job.DialectQuartz, "0 0 9 ? * 2#5"), WarnMissingDay},
		{in(job.DialectQuartz, "0 0 9 ? * 1-5"), WarnWeekdays},
		{in(job.DialectQuartz, "0 0 9 ? * 2-6"), ""},
		{in(job.DialectAWS, "0 9 ? * 6,7 *"), WarnWeekdays},
	}
}

func utc(cron string) job.Schedule { return job.Schedule{Cron: cron, Zone: "UTC"} }

func in(d job.Dialect, cron string) job.Schedule {
	return job.Schedule{Cron: cron, Dialect: d, Zone: "UTC"}
}

type lintCase struct {
	schedule job.Schedule
	codes    string
}

func TestLintWarnsOfWhatIsProbablyNotMeant(t *testing.T) {
	var b strings.Builder
	for _, c := range append(linted(), lintedDays()...) {
		var codes []string
		fmt.Fprintf(&b, "# %s %s\n", c.schedule.Dialect, (&Plan{schedule: c.schedule}).source())
		for _, w := range Lint(c.schedule) {
			codes = append(codes, w.Code)
			fmt.Fprintf(&b, "%s %s: %s; %s\n", w.Code, w.Field, w.Message, w.Fix)
		}
		if got := strings.Join(codes, " "); got != c.codes {
			t.Errorf("%+v: warned of %q, want %q", c.schedule, got, c.codes)
		}
	}
	compareGolden(t, "lint.golden", b.String())
}

func TestCrowdWarnsOfManyJobsOnOneSecond(t *testing.T) {
	noon := instantOf(t, "2026-07-12T12:00:00Z")
	var nexts []time.Time
	for i := range 2 * crowd {
		nexts = append(nexts, noon.Add(time.Duration(i)*time.Second))
	}
	if w, warned := Crowd(nexts); warned {
		t.Errorf("warned of spread times: %+v", w)
	}
	for range crowd - 1 {
		nexts = append(nexts, noon.Add(time.Minute))
	}
	w, warned := Crowd(nexts)
	if !warned || w.Code != WarnCrowd || !strings.Contains(w.Message, "500 of these jobs fall due in one second, 2026-07-12T12:01:00Z") {
		t.Errorf("got %+v, %v", w, warned)
	}
	if _, warned := Crowd(nexts[1 : len(nexts)-1]); warned {
		t.Error("warned of fewer")
	}
}
