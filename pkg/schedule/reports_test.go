package schedule

import (
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// What users of other schedulers reported about due times, by the report's id.
func TestFieldReportsOfDueTimes(t *testing.T) {
	skip, shift := job.GapSkip, job.GapShiftForward
	for report, c := range map[string]struct {
		schedule job.Schedule
		after    string
		want     string
	}{
		"PB-007, left out":                             {job.Schedule{Cron: "0 2 * * *", Zone: "America/New_York", Gap: skip}, "2024-03-10T05:00:00Z", "2024-03-11T06:00:00Z 2024-03-12T06:00:00Z"},
		"PB-007, shifted":                              {job.Schedule{Cron: "0 2 * * *", Zone: "America/New_York", Gap: shift}, "2024-03-10T05:00:00Z", "2024-03-10T07:00:00Z 2024-03-11T06:00:00Z"},
		"PB-009, a month whose midnight is missing":    {job.Schedule{Cron: "0 9 10 * *", Zone: "America/Sao_Paulo"}, "2018-10-17T12:00:00Z", "2018-11-10T11:00:00Z 2018-12-10T11:00:00Z"},
		"PB-009, Santiago":                             {job.Schedule{Cron: "0 9 10 * *", Zone: "America/Santiago"}, "2026-08-20T00:00:00Z", "2026-09-10T12:00:00Z 2026-10-10T12:00:00Z"},
		"PB-010, a day whose midnight is missing":      {job.Schedule{Cron: "0 1 6 9 *", Zone: "America/Santiago"}, "2026-09-05T12:00:00Z", "2026-09-06T04:00:00Z"},
		"PB-010, by weekday":                           {job.Schedule{Cron: "0 2 * * 0", Zone: "America/Santiago"}, "2026-09-05T12:00:00Z", "2026-09-06T05:00:00Z"},
		"PB-011, asked on the hour":                    {job.Schedule{Cron: "0 0 * * *", Zone: "America/Santiago"}, "2026-04-04T03:00:00Z", "2026-04-05T04:00:00Z"},
		"PB-011, five minutes past":                    {job.Schedule{Cron: "0 0 * * *", Zone: "America/Santiago"}, "2026-04-04T03:05:00Z", "2026-04-05T04:00:00Z"},
		"PB-011, an hour later":                        {job.Schedule{Cron: "0 0 * * *", Zone: "America/Santiago"}, "2026-04-04T04:05:00Z", "2026-04-05T04:00:00Z"},
		"PB-011, in the afternoon":                     {job.Schedule{Cron: "0 0 * * *", Zone: "America/Santiago"}, "2026-04-04T15:05:00Z", "2026-04-05T04:00:00Z"},
		"PB-013, the default":                          {job.Schedule{Cron: "0 2 * * *", Zone: "America/Los_Angeles"}, "2026-03-08T00:00:00Z", "2026-03-08T10:00:00Z"},
		"PB-014, 02:00 in the gap":                     {job.Schedule{Cron: "0 2 * * *", Zone: "Europe/Berlin"}, "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:00:00Z"},
		"PB-014, 02:45 in the gap":                     {job.Schedule{Cron: "45 2 * * *", Zone: "Europe/Berlin"}, "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:45:00Z"},
		"PB-014, 03:00 is not doubled":                 {job.Schedule{Cron: "0 2,3 * * *", Zone: "Europe/Berlin"}, "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:00:00Z"},
		"PB-020, half hours east":                      {job.Schedule{Cron: "25 0 * * *", Zone: "Asia/Kolkata"}, "2026-05-13T11:49:00Z", "2026-05-13T18:55:00Z"},
		"PB-020, three quarters":                       {job.Schedule{Cron: "10 0 * * *", Zone: "Asia/Kathmandu"}, "2026-05-13T11:49:00Z", "2026-05-13T18:25:00Z"},
		"PB-020, a gap of half an hour, left out":      {job.Schedule{Cron: "15 2 * * *", Zone: "Australia/Lord_Howe", Gap: skip}, "2026-10-03T00:00:00Z", "2026-10-04T15:15:00Z"},
		"PB-020, a gap of half an hour, shifted":       {job.Schedule{Cron: "15 2 * * *", Zone: "Australia/Lord_Howe", Gap: shift}, "2026-10-03T00:00:00Z", "2026-10-03T15:30:00Z"},
		"PB-020, half an hour twice":                   {job.Schedule{Cron: "45 1 * * *", Zone: "Australia/Lord_Howe", Overlap: job.OverlapBoth}, "2026-04-04T00:00:00Z", "2026-04-04T14:45:00Z 2026-04-04T15:15:00Z"},
		"PB-021, a Saturday stays one":                 {job.Schedule{Cron: "0 2 * * 6", Zone: "America/Chicago"}, "2026-10-31T07:00:00Z", "2026-11-07T08:00:00Z"},
		"PB-025, every third day restarts":             {job.Schedule{Cron: "25 23 */3 * *"}, "2026-09-28T00:00:00Z", "2026-09-28T23:25:00Z 2026-10-01T23:25:00Z 2026-10-04T23:25:00Z 2026-10-07T23:25:00Z"},
		"PB-025, every seventh minute restarts":        {job.Schedule{Cron: "*/7 * * * *"}, "2026-09-28T00:50:00Z", "2026-09-28T00:56:00Z 2026-09-28T01:00:00Z 2026-09-28T01:07:00Z"},
		"PB-028, Paris in summer":                      {job.Schedule{Cron: "0 9 * * *", Zone: "Europe/Paris"}, "2026-07-01T00:00:00Z", "2026-07-01T07:00:00Z"},
		"PB-030, no summer time any more in Sao Paulo": {job.Schedule{Cron: "0 9 * * *", Zone: "America/Sao_Paulo"}, "2026-12-01T00:00:00Z", "2026-12-01T12:00:00Z"},
		"PB-030, summer time for good in Asuncion":     {job.Schedule{Cron: "0 9 * * *", Zone: "America/Asuncion"}, "2026-07-01T00:00:00Z", "2026-07-01T12:00:00Z"},
		"PB-030, Cairo, left out":                      {job.Schedule{Cron: "0 0 * * *", Zone: "Africa/Cairo", Gap: skip}, "2026-04-23T12:00:00Z", "2026-04-24T21:00:00Z"},
		"PB-030, Cairo, shifted":                       {job.Schedule{Cron: "0 0 * * *", Zone: "Africa/Cairo", Gap: shift}, "2026-04-23T12:00:00Z", "2026-04-23T22:00:00Z"},
		"PB-032, weekdays of unix":                     {job.Schedule{Cron: "0 9 * * 2-6"}, "2026-01-05T00:00:00Z", "2026-01-06T09:00:00Z 2026-01-07T09:00:00Z 2026-01-08T09:00:00Z 2026-01-09T09:00:00Z 2026-01-10T09:00:00Z"},
		"PB-032, weekdays of aws":                      {job.Schedule{Cron: "cron(0 9 ? * 2-6 *)", Dialect: job.DialectAWS}, "2026-01-05T00:00:00Z", "2026-01-05T09:00:00Z 2026-01-06T09:00:00Z 2026-01-07T09:00:00Z 2026-01-08T09:00:00Z 2026-01-09T09:00:00Z"},
		"PB-032, seven is Sunday":                      {job.Schedule{Cron: "0 0 * * 7"}, "2026-01-05T00:00:00Z", "2026-01-11T00:00:00Z"},
	} {
		t.Run(report, func(t *testing.T) {
			want := strings.Fields(c.want)
			if got := timesAfter(compiled(t, c.schedule), instantOf(t, c.after), len(want)); strings.Join(got, " ") != c.want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestFieldReportsOfWhatMustBeRefused(t *testing.T) {
	now := instantOf(t, "2026-07-12T12:00:00Z")
	for report, c := range map[string]struct {
		schedule job.Schedule
		code     job.Code
	}{
		"PB-022, 30 February":           {job.Schedule{Cron: "0 0 30 2 *"}, job.CodeScheduleNever},
		"PB-022, 31 April":              {job.Schedule{Cron: "0 0 31 4 *"}, job.CodeScheduleNever},
		"PB-022, the 31st of none":      {job.Schedule{Cron: "0 0 31 2,4,6,9,11 *"}, job.CodeScheduleNever},
		"PB-022, a year that is over":   {job.Schedule{Cron: "0 0 1 1 * 2020", Dialect: job.DialectCronexpr}, job.CodeSchedulePast},
		"PB-031, seconds first":         {job.Schedule{Cron: "0 0 2 * * *"}, job.CodeScheduleDialect},
		"PB-031, weekdays":              {job.Schedule{Cron: "0 0 9 ? * MON-FRI"}, job.CodeScheduleDialect},
		"PB-031, 09:30":                 {job.Schedule{Cron: "0 30 9 * * *"}, job.CodeScheduleDialect},
		"PB-031, every five seconds":    {job.Schedule{Cron: "*/5 * * * * * *"}, job.CodeScheduleDialect},
		"PB-032, a wrapper":             {job.Schedule{Cron: "cron(0 9 ? * 2-6 *)"}, job.CodeScheduleInvalid},
		"PB-033, a zone alone":          {job.Schedule{Cron: "TZ=0"}, job.CodeScheduleInvalid},
		"PB-033, CRON_TZ":               {job.Schedule{Cron: "CRON_TZ=UTC"}, job.CodeScheduleInvalid},
		"PB-033, a zone and fields":     {job.Schedule{Cron: "TZ=UTC 0 2 * * *"}, job.CodeScheduleInvalid},
		"PB-033, an interval":           {job.Schedule{Cron: "@every 5m"}, job.CodeScheduleInvalid},
		"PB-033, a boot":                {job.Schedule{Cron: "@reboot"}, job.CodeScheduleInvalid},
		"PB-033, daily is accepted":     {job.Schedule{Cron: "@daily"}, ""},
		"PB-033, nothing":               {job.Schedule{Cron: ""}, job.CodeScheduleInvalid},
		"PB-033, blanks":                {job.Schedule{Cron: "   "}, job.CodeScheduleInvalid},
		"PB-033, four fields":           {job.Schedule{Cron: "* * * *"}, job.CodeScheduleInvalid},
		"PB-033, ten thousand bytes":    {job.Schedule{Cron: strings.Repeat("*,", 5000)}, job.CodeScheduleInvalid},
		"PB-033, a name that is none":   {job.Schedule{Cron: "0 0 * * MON,WED,abc"}, job.CodeScheduleInvalid},
		"PB-033, digits of no ASCII":    {job.Schedule{Cron: "٠ ٠ * * *"}, job.CodeScheduleInvalid},
		"PB-033, a line inside a field": {job.Schedule{Cron: "0 0\n* * *"}, job.CodeScheduleInvalid},
	} {
		t.Run(report, func(t *testing.T) {
			plan, err := Compile(c.schedule, now)
			if err == nil {
				err = FiresAfter(plan, now)
			}
			if job.CodeOf(err) != c.code {
				t.Errorf("got %v, want %s", err, c.code)
			}
		})
	}
}

// PB-013, PB-025: what clocks and steps do to a schedule is seen before it is
// saved.
func TestFieldReportsOfWhatAPreviewMustShow(t *testing.T) {
	after := instantOf(t, "2026-03-07T12:00:00Z")
	skipped := compiled(t, job.Schedule{Cron: "0 2 * * *", Zone: "America/Los_Angeles", Gap: job.GapSkip}).Preview(after, 1, job.Ref{})
	if !skipped[0].At.Equal(instantOf(t, "2026-03-09T09:00:00Z")) || !strings.Contains(skipped[0].Mark, "02:00 on 2026-03-08 does not exist") || !strings.Contains(skipped[0].Mark, "left out") {
		t.Errorf("PB-013: %+v", skipped)
	}
	shifted := compiled(t, job.Schedule{Cron: "0 2 * * *", Zone: "America/Los_Angeles"})
	if s := shifted.Schedule(); s.Gap != job.GapShiftForward || s.Overlap != job.OverlapFirst || !strings.Contains(shifted.DescribeAt(after), "on 8 March 2026, when 02:00 does not exist, at 03:00") {
		t.Errorf("PB-013: %+v, %s", s, shifted.DescribeAt(after))
	}
	if warnings := Lint(job.Schedule{Cron: "*/7 * * * *", Zone: "UTC"}); len(warnings) != 1 || warnings[0].Code != WarnUnevenStep {
		t.Errorf("PB-025: %+v", warnings)
	}
}

// PB-036 to PB-047: what is late, and what becomes of it.
func TestFieldReportsOfLateTimes(t *testing.T) {
	minute, hour := job.Duration(time.Minute), job.Duration(time.Hour)
	for report, c := range map[string]struct {
		schedule      job.Schedule
		cursor, upAt  string
		policy        job.Misfire
		fires, onTime string
		missed        int
	}{
		"PB-036, a Sunday that is over": {job.Schedule{Cron: "0 0 * * 0"}, "2026-01-01T00:00:00Z", "2026-01-16T10:00:00Z", job.Misfire{Policy: job.MisfireSkip, Tolerance: minute}, "", "", 2},
		"PB-039, 58 seconds late":       {job.Schedule{Cron: "* * * * *"}, "2026-01-05T11:59:00Z", "2026-01-05T12:00:58Z", job.Misfire{Policy: job.MisfireSkip, Tolerance: minute}, "", "2026-01-05T12:00:00Z", 0},
		"PB-039, a tick that was left out": {job.Schedule{Cron: "* * * * *"}, "2026-01-05T11:59:00Z", "2026-01-05T12:01:01Z", job.Misfire{Policy: job.MisfireFireOnce, Tolerance: minute},
			"2026-01-05T12:00:00Z", "2026-01-05T12:01:00Z", 1},
		"PB-040, a weekly job with a long window": {job.Schedule{Cron: "11 7 * * 5"}, "2026-01-02T07:11:00Z", "2026-01-09T17:15:00Z", job.Misfire{Policy: job.MisfireFireOnce, Window: 24 * hour, Tolerance: minute},
			"2026-01-09T07:11:00Z", "", 1},
		"PB-040, and with a short one": {job.Schedule{Cron: "11 7 * * 5"}, "2026-01-02T07:11:00Z", "2026-01-09T17:15:00Z", job.Misfire{Policy: job.MisfireFireOnce, Window: hour / 4, Tolerance: minute}, "", "", 1},
		"PB-041, a deployment at the time": {job.Schedule{Cron: "0 15 * * *"}, "2026-01-04T15:00:00Z", "2026-01-05T15:03:00Z", job.Misfire{Policy: job.MisfireFireOnce, Window: 24 * hour, Tolerance: minute},
			"2026-01-05T15:00:00Z", "", 1},
	} {
		t.Run(report, func(t *testing.T) {
			late := PlanLate(compiled(t, c.schedule), instantOf(t, c.cursor), instantOf(t, c.upAt), c.policy)
			if strings.Join(texts(late.Fire), " ") != c.fires || late.Missed.Count != c.missed || strings.Join(texts(late.OnTime), " ") != c.onTime {
				t.Errorf("got %+v", late)
			}
		})
	}
	capped := PlanLate(compiled(t, job.Schedule{Cron: "* * * * *"}), instantOf(t, "2026-01-01T00:00:00Z"), instantOf(t, "2026-01-08T00:00:30Z"), job.Misfire{Policy: job.MisfireFireAll, Max: job.DefaultMisfireMax})
	if len(capped.Fire) != 1000 || capped.Missed.Count != 10_080 {
		t.Errorf("PB-044: %d of %d run", len(capped.Fire), capped.Missed.Count)
	}
}
