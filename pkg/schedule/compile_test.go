package schedule

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

const second = job.Duration(time.Second)

func TestCompileRefuses(t *testing.T) {
	noon := instantOf(t, "2026-07-12T12:00:00Z")
	for reason, c := range map[string]struct {
		schedule job.Schedule
		code     job.Code
		field    string
		says     string
	}{
		"no kind":                                  {job.Schedule{}, job.CodeScheduleInvalid, "schedule", "exactly one"},
		"two kinds":                                {job.Schedule{Cron: "@daily", Every: second}, job.CodeScheduleInvalid, "schedule", "exactly one"},
		"less than a second":                       {job.Schedule{Every: second / 2}, job.CodeScheduleInvalid, "every", "at least 1s"},
		"a fraction of a second":                   {job.Schedule{Every: second * 3 / 2}, job.CodeScheduleInvalid, "every", "whole seconds"},
		"a negative interval":                      {job.Schedule{Every: -second}, job.CodeScheduleInvalid, "every", "-1s"},
		"a time with a fraction":                   {job.Schedule{At: noon.Add(time.Millisecond)}, job.CodeTimeInvalid, "at", "whole second"},
		"a time after 2099":                        {job.Schedule{At: noon.AddDate(100, 0, 0)}, job.CodeTimeInvalid, "at", "2099"},
		"a time before 1970":                       {job.Schedule{At: noon.AddDate(-100, 0, 0)}, job.CodeTimeInvalid, "at", "1970"},
		"an end before the start":                  {job.Schedule{Cron: "@daily", Start: noon, End: noon.Add(-time.Second)}, job.CodeScheduleInvalid, "end", "before start"},
		"an unknown gap policy":                    {job.Schedule{Cron: "@daily", Gap: "skip"}, job.CodePolicyUnknown, "gap", "SKIP or SHIFT_FORWARD"},
		"an unknown overlap policy":                {job.Schedule{Cron: "@daily", Overlap: "TWICE"}, job.CodePolicyUnknown, "overlap", "FIRST, SECOND or BOTH"},
		"a jitter of half a second":                {job.Schedule{Cron: "@daily", Jitter: second / 2}, job.CodeScheduleInvalid, "jitter", "whole seconds"},
		"a negative jitter":                        {job.Schedule{Cron: "@daily", Jitter: -second}, job.CodeScheduleInvalid, "jitter", "up to 10m"},
		"a jitter of more than ten minutes":        {job.Schedule{Cron: "@daily", Jitter: 601 * second}, job.CodeScheduleInvalid, "jitter", "up to 10m"},
		"an unknown dialect":                       {job.Schedule{Cron: "@daily", Dialect: "Unix"}, job.CodeScheduleInvalid, "dialect", "unix, quartz"},
		"six fields of nobody":                     {job.Schedule{Cron: "0 30 9 * * *"}, job.CodeScheduleDialect, "cron", "as quartz: second 0, minute 30, hour 9"},
		"six fields, the other way":                {job.Schedule{Cron: "0 30 9 * * *"}, job.CodeScheduleDialect, "cron", "as aws: minute 0, hour 30, day-of-month 9"},
		"seven fields of nobody":                   {job.Schedule{Cron: "*/5 * * * * * *"}, job.CodeScheduleDialect, "cron", "as cronexpr: second */5"},
		"six fields of unix":                       {job.Schedule{Cron: "0 30 9 * * *", Dialect: job.DialectUnix}, job.CodeScheduleInvalid, "cron", "6 given"},
		"six fields of unix have a way out":        {job.Schedule{Cron: "0 30 9 * * *", Dialect: job.DialectUnix}, job.CodeScheduleInvalid, "cron", "name the dialect that was meant"},
		"six fields show when they would fire":     {job.Schedule{Cron: "0 30 9 * * 2", Zone: "Europe/Berlin"}, job.CodeScheduleDialect, "cron", "as quartz: second 0, minute 30, hour 9, day-of-month *, month *, day-of-week 2 – written \"0 30 9 ? * 2\" would fire at 2026-07-13T07:30:00Z"},
		"six fields of days in both fields":        {job.Schedule{Cron: "0 30 9 13 * 2"}, job.CodeScheduleDialect, "cron", "day-of-week 2 – would be refused, day-of-week: in the quartz dialect day-of-month and day-of-week cannot both choose days"},
		"and when under each dialect":              {job.Schedule{Cron: "0 30 9 ? * 2", Zone: "Europe/Berlin"}, job.CodeScheduleDialect, "cron", "day-of-week 2 – would fire at 2026-07-13T07:30:00Z, 2026-07-20T07:30:00Z and 2026-07-27T07:30:00Z; as aws"},
		"or that they would be refused":            {job.Schedule{Cron: "0 30 9 ? * 2", Zone: "Europe/Berlin"}, job.CodeScheduleDialect, "cron", "year 2 – would be refused, hour: \"30\" is out of range 0-23 (allowed"},
		"seven fields in years gone by":            {job.Schedule{Cron: "0 0 0 1 1 ? 2020"}, job.CodeScheduleDialect, "cron", "as quartz: second 0, minute 0, hour 0, day-of-month 1, month 1, day-of-week ?, year 2020 – would not fire any more; as cronexpr"},
		"a zone in front of six":                   {job.Schedule{Cron: "TZ=UTC 0 2 * * *"}, job.CodeScheduleInvalid, "cron", "key zone"},
		"a wrapper in front of six":                {job.Schedule{Cron: "cron(0 9 ? * 2-6 *)"}, job.CodeScheduleInvalid, "cron", "wrapper"},
		"the thirtieth of February":                {job.Schedule{Cron: "0 0 30 2 *"}, job.CodeScheduleNever, "cron", "fires at no time"},
		"the 31st of short months":                 {job.Schedule{Cron: "0 0 31 2,4,6,9,11 *"}, job.CodeScheduleNever, "cron", "fires at no time"},
		"29 February of 2023":                      {job.Schedule{Cron: "0 0 29 2 * 2023", Dialect: job.DialectCronexpr}, job.CodeScheduleNever, "cron", "fires at no time"},
		"30 days before the last of a short month": {job.Schedule{Cron: "0 0 L-30 4 ? *", Dialect: job.DialectAWS}, job.CodeScheduleNever, "cron", "fires at no time"},
		"an evening of 2099 that is 2100 already":  {job.Schedule{Cron: "30 23 31 12 * 2099", Dialect: job.DialectCronexpr, Zone: "America/New_York"}, job.CodeScheduleNever, "cron", "fires at no time"},
		"a morning of 1970 that is 1969 still":     {job.Schedule{Cron: "30 0 1 1 * 1970", Dialect: job.DialectCronexpr, Zone: "Europe/Berlin"}, job.CodeScheduleNever, "cron", "fires at no time"},
		"30W in February":                          {job.Schedule{Cron: "0 0 30W 2 *"}, job.CodeScheduleNever, "cron", "fires at no time"},
		"a zone that does not exist":               {job.Schedule{At: noon, Zone: "Europe/Atlantis"}, job.CodeZoneUnknown, "zone", "not a time zone"},
	} {
		t.Run(reason, func(t *testing.T) {
			_, err := Compile(c.schedule, noon)
			var refusal *job.Error
			if !errors.As(err, &refusal) {
				t.Fatalf("accepted, or %T: %v", err, err)
			}
			if refusal.Code != c.code || refusal.Field != c.field || !strings.Contains(err.Error(), c.says) {
				t.Errorf("code %s, field %q: %v; want %s, %q, %q", refusal.Code, refusal.Field, err, c.code, c.field, c.says)
			}
		})
	}
}

func TestCompileFillsInDialectZoneAndPolicies(t *testing.T) {
	for cron, want := range map[string]job.Schedule{
		"30 2 * * *":     {Gap: job.GapShiftForward, Overlap: job.OverlapFirst},
		"*/5 0-22 * * *": {Gap: job.GapShiftForward, Overlap: job.OverlapFirst},
		"*/5 * * * *":    {Gap: job.GapSkip, Overlap: job.OverlapBoth},
		"30 0-23 1 * *":  {Gap: job.GapSkip, Overlap: job.OverlapBoth},
	} {
		want.Cron, want.Zone, want.Dialect = cron, "UTC", job.DialectUnix
		if got := compiled(t, job.Schedule{Cron: cron}).Schedule(); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	given := compiled(t, job.Schedule{Cron: "* * * * *", Gap: job.GapShiftForward}).Schedule()
	if given.Gap != job.GapShiftForward || given.Overlap != job.OverlapBoth {
		t.Errorf("one policy given, the other is the default: %+v", given)
	}
}

func TestFiresAfterTellsNeverFromPast(t *testing.T) {
	now := instantOf(t, "2026-07-12T12:00:00Z")
	for reason, c := range map[string]struct {
		schedule job.Schedule
		want     job.Code
	}{
		"a daily job":                           {job.Schedule{Cron: "@daily"}, ""},
		"a time to come":                        {job.Schedule{At: now.Add(time.Second)}, ""},
		"a time that is now":                    {job.Schedule{At: now}, job.CodeSchedulePast},
		"a time gone by":                        {job.Schedule{At: now.Add(-time.Hour)}, job.CodeSchedulePast},
		"an end gone by":                        {job.Schedule{Cron: "@daily", End: now.Add(-time.Hour)}, job.CodeSchedulePast},
		"an end at the only time":               {job.Schedule{Cron: "@daily", End: instantOf(t, "2026-07-13T00:00:00Z")}, ""},
		"nothing between start and end":         {job.Schedule{Cron: "@yearly", Start: now, End: now.Add(time.Hour)}, job.CodeScheduleNever},
		"one time outside its bounds":           {job.Schedule{At: now.Add(time.Hour), End: now.Add(time.Minute)}, job.CodeScheduleNever},
		"an interval that begins after 2099":    {job.Schedule{Every: second, Start: now.AddDate(90, 0, 0)}, job.CodeScheduleNever},
		"a time that its gap policy leaves out": {job.Schedule{Cron: "30 2 29 3 * 2026", Dialect: job.DialectCronexpr, Zone: "Europe/Berlin", Gap: job.GapSkip}, job.CodeScheduleNever},
		"29 February on a fifth Monday":         {job.Schedule{Cron: "0 0 31 2 mon#5"}, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			if got := job.CodeOf(FiresAfter(compiledFrom(t, c.schedule, now), now)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
