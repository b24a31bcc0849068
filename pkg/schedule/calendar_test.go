package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func hours(t testing.TB, c Calendar) *Hours {
	t.Helper()
	h, err := CompileCalendar(c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

var (
	germanHolidays = Calendar{Name: "de", Zone: "Europe/Berlin", Yearly: []string{"01-01", "12-25", "12-26"}, Dates: []string{"2026-04-03", "2026-04-06"}}
	officeHours    = Calendar{Name: "office", Zone: "Europe/Berlin", Weekly: []Window{{Days: "mon-fri", From: "09:00", To: "17:00"}}}
	nights         = Calendar{Name: "nights", Zone: "Europe/Berlin", Weekly: []Window{{Days: "*", From: "22:00", To: "06:00"}}}
	weekends       = Calendar{Name: "weekend", Zone: "UTC", Weekly: []Window{{Days: "sat,sun"}}}
)

func TestCalendarsHoldDaysAndHoursOfTheirZone(t *testing.T) {
	for what, c := range map[string]struct {
		calendar Calendar
		at       string
		want     bool
	}{
		"a date, from its first second": {germanHolidays, "2026-04-03T00:00:00+02:00", true},
		"to its last":                   {germanHolidays, "2026-04-03T23:59:59+02:00", true},
		"not before":                    {germanHolidays, "2026-04-02T23:59:59+02:00", false},
		"not after":                     {germanHolidays, "2026-04-04T00:00:00+02:00", false},
		"a date of another year":        {germanHolidays, "2027-04-03T12:00:00+02:00", false},
		"a day of every year":           {germanHolidays, "2099-12-25T12:00:00+01:00", true},
		"the zone's day, though it is the 24th in UTC": {germanHolidays, "2026-12-24T23:30:00Z", true},
		"the begin of a window":                        {officeHours, "2026-07-13T09:00:00+02:00", true},
		"its end is outside":                           {officeHours, "2026-07-13T17:00:00+02:00", false},
		"its last second is inside":                    {officeHours, "2026-07-13T16:59:59+02:00", true},
		"a window on a Saturday":                       {officeHours, "2026-07-18T10:00:00+02:00", false},
		"a night, before midnight":                     {nights, "2026-07-13T22:00:00+02:00", true},
		"a night, after midnight":                      {nights, "2026-07-14T05:59:59+02:00", true},
		"after a night":                                {nights, "2026-07-14T06:00:00+02:00", false},
		"a whole weekend":                              {weekends, "2026-07-19T23:59:59Z", true},
		"Monday":                                       {weekends, "2026-07-20T00:00:00Z", false},
		"29 February in a leap year":                   {Calendar{Name: "leap", Yearly: []string{"02-29"}}, "2028-02-29T12:00:00Z", true},
		"an empty calendar":                            {Calendar{Name: "none"}, "2028-02-29T12:00:00Z", false},
		"a night that begins on Friday only": {
			Calendar{Name: "friday", Weekly: []Window{{Days: "fri", From: "20:00", To: "02:00"}}}, "2026-07-18T01:00:00Z", true},
		"and not the night before": {
			Calendar{Name: "friday", Weekly: []Window{{Days: "fri", From: "20:00", To: "02:00"}}}, "2026-07-17T01:00:00Z", false},
	} {
		if got := hours(t, c.calendar).Holds(instantOf(t, c.at)); got != c.want {
			t.Errorf("%s: %s at %s: %v", what, c.calendar.Name, c.at, got)
		}
	}
}

func TestCalendarsRefuseAndNameTheField(t *testing.T) {
	for reason, c := range map[string]struct {
		calendar Calendar
		says     string
	}{
		"no name":                    {Calendar{}, "calendar"},
		"an unknown zone":            {Calendar{Name: "x", Zone: "Mars"}, "zone"},
		"a date that is none":        {Calendar{Name: "x", Dates: []string{"2026-02-30"}}, "dates"},
		"a date with a time":         {Calendar{Name: "x", Dates: []string{"2026-02-03T00:00:00Z"}}, "dates"},
		"a date out of range":        {Calendar{Name: "x", Dates: []string{"2100-01-01"}}, "dates"},
		"a day of the year":          {Calendar{Name: "x", Yearly: []string{"02-30"}}, "yearly"},
		"a day in another form":      {Calendar{Name: "x", Yearly: []string{"25.12."}}, "yearly"},
		"a weekday that is none":     {Calendar{Name: "x", Weekly: []Window{{Days: "8"}}}, "day-of-week"},
		"no days":                    {Calendar{Name: "x", Weekly: []Window{{}}}, "day-of-week"},
		"days left open":             {Calendar{Name: "x", Weekly: []Window{{Days: "?"}}}, "days"},
		"the last Friday of a month": {Calendar{Name: "x", Weekly: []Window{{Days: "5L"}}}, "days"},
		"an hour 25":                 {Calendar{Name: "x", Weekly: []Window{{Days: "*", From: "25:00"}}}, "from"},
		"a minute 60":                {Calendar{Name: "x", Weekly: []Window{{Days: "*", To: "10:60"}}}, "to"},
		"after midnight":             {Calendar{Name: "x", Weekly: []Window{{Days: "*", To: "24:01"}}}, "to"},
		"from midnight of tomorrow":  {Calendar{Name: "x", Weekly: []Window{{Days: "*", From: "24:00", To: "03:00"}}}, "from"},
		"an empty window":            {Calendar{Name: "x", Weekly: []Window{{Days: "*", From: "10:00", To: "10:00"}}}, "to"},
		"an hour of one digit":       {Calendar{Name: "x", Weekly: []Window{{Days: "*", From: "9:00"}}}, "from"},
		"too many days":              {Calendar{Name: "x", Dates: make([]string, 2001)}, "calendar"},
	} {
		_, err := CompileCalendar(c.calendar)
		if job.CodeOf(err) == "" || !strings.HasPrefix(err.Error(), c.says+":") {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

func TestSchedulesUnderCalendars(t *testing.T) {
	for what, c := range map[string]struct {
		schedule job.Schedule
		rules    Rules
		after    string
		want     string
	}{
		"holidays are left out": {job.Schedule{Cron: "0 6 * * *", Zone: "Europe/Berlin"}, Rules{Exclude: []*Hours{hours(t, germanHolidays)}},
			"2026-12-24T00:00:00Z", "2026-12-24T05:00:00Z 2026-12-27T05:00:00Z 2026-12-28T05:00:00Z"},
		"holidays move to the next business day, past the weekend": {job.Schedule{Cron: "0 6 25 * *", Zone: "Europe/Berlin"},
			Rules{Exclude: []*Hours{hours(t, germanHolidays)}, OnExcluded: ExcludedNext}, "2026-11-30T00:00:00Z", "2026-12-28T05:00:00Z 2027-01-25T05:00:00Z 2027-02-25T05:00:00Z"},
		"or to the previous one": {job.Schedule{Cron: "0 6 26 * *", Zone: "Europe/Berlin"},
			Rules{Exclude: []*Hours{hours(t, germanHolidays)}, OnExcluded: ExcludedPrevious}, "2026-11-30T00:00:00Z", "2026-12-24T05:00:00Z 2027-01-26T05:00:00Z 2027-02-26T05:00:00Z"},
		"weekends as a calendar move too": {job.Schedule{Cron: "0 8 1 * *"}, Rules{Exclude: []*Hours{hours(t, weekends)}, OnExcluded: ExcludedNext},
			"2026-07-20T00:00:00Z", "2026-08-03T08:00:00Z 2026-09-01T08:00:00Z 2026-10-01T08:00:00Z"},
		"back into the month before": {job.Schedule{Cron: "0 8 1 * *"}, Rules{Exclude: []*Hours{hours(t, weekends)}, OnExcluded: ExcludedPrevious},
			"2026-07-20T00:00:00Z", "2026-07-31T08:00:00Z 2026-09-01T08:00:00Z 2026-10-01T08:00:00Z"},
		"two that fall together are one": {job.Schedule{Cron: "0 8 * * *"}, Rules{Exclude: []*Hours{hours(t, weekends)}, OnExcluded: ExcludedNext},
			"2026-07-17T07:00:00Z", "2026-07-17T08:00:00Z 2026-07-20T08:00:00Z 2026-07-21T08:00:00Z"},
		"only within office hours": {job.Schedule{Cron: "0 * * * *", Zone: "Europe/Berlin"}, Rules{Include: []*Hours{hours(t, officeHours)}},
			"2026-07-17T13:30:00Z", "2026-07-17T14:00:00Z 2026-07-20T07:00:00Z 2026-07-20T08:00:00Z"},
		"within office hours and no holiday": {job.Schedule{Cron: "0 9 * * *", Zone: "Europe/Berlin"}, Rules{Include: []*Hours{hours(t, officeHours)}, Exclude: []*Hours{hours(t, germanHolidays)}},
			"2026-12-24T00:00:00Z", "2026-12-24T08:00:00Z 2026-12-28T08:00:00Z 2026-12-29T08:00:00Z"},
		"an interval keeps its phase": {job.Schedule{Every: 5 * 3600 * second, Start: instantOf(t, "2026-07-17T00:00:00Z"), Zone: "UTC"}, Rules{Exclude: []*Hours{hours(t, weekends)}},
			"2026-07-17T19:00:00Z", "2026-07-17T20:00:00Z 2026-07-20T03:00:00Z 2026-07-20T08:00:00Z"},
		"one time on a holiday, moved": {job.Schedule{At: instantOf(t, "2026-12-25T05:00:00Z"), Zone: "Europe/Berlin"}, Rules{Exclude: []*Hours{hours(t, germanHolidays)}, OnExcluded: ExcludedNext},
			"2026-07-17T19:00:00Z", "2026-12-28T05:00:00Z"},
		"an end also bounds what is moved": {job.Schedule{Cron: "0 8 1 * *", End: instantOf(t, "2026-08-02T00:00:00Z")}, Rules{Exclude: []*Hours{hours(t, weekends)}, OnExcluded: ExcludedNext},
			"2026-07-20T00:00:00Z", ""},
		"nothing is left where all is excluded": {job.Schedule{Cron: "* * * * *"}, Rules{Exclude: []*Hours{hours(t, Calendar{Name: "all", Weekly: []Window{{Days: "*"}}})}},
			"2026-07-20T00:00:00Z", ""},
		"the end of 2099 is an end in every zone": {job.Schedule{Cron: "*/20 * * * *", Zone: "America/New_York"}, Rules{Exclude: []*Hours{hours(t, Calendar{Name: "all", Zone: "America/New_York", Weekly: []Window{{Days: "*"}}})}},
			"2099-12-30T00:00:00Z", ""},
		"nor can anything be moved": {job.Schedule{Cron: "0 8 * * *"}, Rules{Exclude: []*Hours{hours(t, Calendar{Name: "all", Weekly: []Window{{Days: "*"}}})}, OnExcluded: ExcludedNext},
			"2026-07-20T00:00:00Z", ""},
	} {
		t.Run(what, func(t *testing.T) {
			plan, err := compiled(t, c.schedule).Under(c.rules)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(timesAfter(plan, instantOf(t, c.after), 3), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestOnExcludedRefuses(t *testing.T) {
	for reason, c := range map[string]struct {
		schedule job.Schedule
		on       OnExcluded
		code     job.Code
	}{
		"an unknown policy":    {job.Schedule{Cron: "0 8 * * *"}, "MONDAY", job.CodePolicyUnknown},
		"to move an interval":  {job.Schedule{Every: 3600 * second}, ExcludedNext, job.CodeScheduleInvalid},
		"to move each minute":  {job.Schedule{Cron: "* * * * *"}, ExcludedPrevious, job.CodeScheduleInvalid},
		"nothing of each hour": {job.Schedule{Cron: "0 * * * *"}, ExcludedPrevious, ""},
	} {
		if _, err := compiled(t, c.schedule).Under(Rules{OnExcluded: c.on}); job.CodeOf(err) != c.code {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// What calendars keep is what asking about each time alone keeps; counting and
// looking back agree with visiting.
func TestCalendarsKeepWhatEachTimeAloneSays(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "America/New_York"}
	crons := []string{"*/20 * * * *", "30 2 * * *", "0 */3 * * *", "15 1,2,22 * * 1-5"}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) *Hours {
			c := Calendar{Name: name, Zone: rapid.SampledFrom(zones).Draw(t, "zone"), Yearly: []string{"03-29", "10-25", "12-31"}, Dates: []string{"2026-04-05", "2026-10-04"}}
			for range rapid.IntRange(0, 2).Draw(t, "windows") {
				from, to := rapid.IntRange(0, 23).Draw(t, "from"), rapid.IntRange(1, 24).Draw(t, "to")
				if from != to {
					c.Weekly = append(c.Weekly, Window{Days: rapid.SampledFrom([]string{"*", "mon-fri", "sun", "sat-sun"}).Draw(t, "days"), From: fmt.Sprintf("%02d:00", from), To: fmt.Sprintf("%02d:00", to)})
				}
			}
			h, err := CompileCalendar(c)
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		plain, err := Compile(job.Schedule{Cron: rapid.SampledFrom(crons).Draw(t, "cron"), Zone: rapid.SampledFrom(zones).Draw(t, "zone")}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		rules := Rules{Exclude: []*Hours{draw("out")}}
		if rapid.Bool().Draw(t, "include") {
			rules.Include = []*Hours{draw("in"), draw("also")}
		}
		plan, err := plain.Under(rules)
		if err != nil {
			t.Fatal(err)
		}
		from := time.Date(2026, time.Month(rapid.IntRange(1, 12).Draw(t, "month")), rapid.IntRange(1, 28).Draw(t, "day"), 0, 0, 0, 0, time.UTC)
		to := from.AddDate(0, 0, 20)
		want := slices.DeleteFunc(plain.Between(from, to, 0), func(at time.Time) bool {
			in := func(list []*Hours) bool {
				return slices.ContainsFunc(list, func(h *Hours) bool { return h.holdsClock(at) })
			}
			return in(rules.Exclude) || len(rules.Include) > 0 && !in(rules.Include)
		})
		got := plan.Between(from, to, 0)
		if !sameTimes(got, want) {
			t.Fatalf("%s: got %v, want %v", plan.Describe(), got, want)
		}
		if n := plan.count(from.Unix(), to.Unix()); n != int64(len(got)) {
			t.Fatalf("%s: counted %d, visited %d", plan.Describe(), n, len(got))
		}
	})
}

// Wherever one asks from, times that are moved come as trying each day says.
func TestMovedTimesComeWhereverOneAsksFrom(t *testing.T) {
	berlin := hours(t, Calendar{Name: "x", Zone: "Europe/Berlin", Yearly: []string{"03-30", "12-24", "12-25", "12-26", "01-01"},
		Dates: []string{"2026-04-03", "2026-04-06", "2026-12-28", "2026-12-29", "2026-12-30", "2026-12-31"}})
	rapid.Check(t, func(t *rapid.T) {
		plain, err := Compile(job.Schedule{Cron: rapid.SampledFrom([]string{"0 6 * * *", "30 2 25,26 * *", "0 12 1,15 * *", "0 1,2,3 L * *"}).Draw(t, "cron"), Zone: "Europe/Berlin"}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		on := rapid.SampledFrom([]OnExcluded{ExcludedNext, ExcludedPrevious}).Draw(t, "on")
		plan, err := plain.Under(Rules{Exclude: []*Hours{berlin}, OnExcluded: on})
		if err != nil {
			t.Fatal(err)
		}
		from := time.Date(2026, 1, rapid.IntRange(1, 380).Draw(t, "day"), rapid.IntRange(0, 23).Draw(t, "hour"), 0, 0, 0, time.UTC)
		to := from.AddDate(0, 0, 12)
		due := map[time.Time]bool{}
		for _, at := range plain.Between(from.AddDate(0, 0, -40), to.AddDate(0, 0, 40), 0) {
			if at = movedByHand(berlin, at, on).UTC(); at.After(from) && !at.After(to) {
				due[at] = true
			}
		}
		want := slices.SortedFunc(maps.Keys(due), time.Time.Compare)
		if got := plan.Between(from, to, 0); !sameTimes(got, want) || plan.count(from.Unix(), to.Unix()) != int64(len(want)) {
			t.Fatalf("%s from %s: got %v, want %v", plan.Describe(), from, got, want)
		}
		var walked []time.Time
		for at, ok := plan.Next(from); ok && !at.After(to); at, ok = plan.Next(at) {
			walked = append(walked, at)
		}
		if !sameTimes(walked, want) {
			t.Fatalf("%s from %s: walked over %v, want %v", plan.Describe(), from, walked, want)
		}
	})
}

// movedByHand tries day after day with the library's own calendar.
func movedByHand(h *Hours, at time.Time, on OnExcluded) time.Time {
	step := 1
	if on == ExcludedPrevious {
		step = -1
	}
	local := at.In(h.zone.loc)
	for days := 0; h.holdsClock(at) || days != 0 && !isWorkday(at.In(h.zone.loc)); {
		days += step
		at = time.Date(local.Year(), local.Month(), local.Day()+days, local.Hour(), local.Minute(), 0, 0, h.zone.loc)
	}
	return at
}

// holdsClock reads a calendar from what the zone's clock shows, by text.
func (h *Hours) holdsClock(at time.Time) bool {
	local := at.In(h.zone.loc)
	if h.dates[civilOf(local).Truncate(24*time.Hour).Unix()/86400] || h.yearly[local.Month()].has(local.Day()) {
		return true
	}
	second := int64(local.Hour()*3600 + local.Minute()*60 + local.Second())
	return slices.ContainsFunc(h.windows, func(w weekWindow) bool {
		today, yesterday := int(local.Weekday()), (int(local.Weekday())+6)%7
		return w.days.has(today) && second >= w.from && second < w.to || w.days.has(yesterday) && second+86400 >= w.from && second+86400 < w.to
	})
}

func TestPreviewMarksWhatCalendarsDid(t *testing.T) {
	var b strings.Builder
	for _, c := range []struct {
		cron  string
		rules Rules
		after string
	}{
		{"0 6 * * *", Rules{Exclude: []*Hours{hours(t, germanHolidays)}}, "2026-12-24T12:00:00Z"},
		{"0 6 25 * *", Rules{Exclude: []*Hours{hours(t, germanHolidays)}, OnExcluded: ExcludedNext}, "2026-12-01T12:00:00Z"},
		{"0 6 * * *", Rules{Exclude: []*Hours{hours(t, germanHolidays)}, OnExcluded: ExcludedPrevious}, "2026-12-23T12:00:00Z"},
		{"0 * * * *", Rules{Include: []*Hours{hours(t, officeHours)}}, "2026-07-17T13:30:00Z"},
		{"30 2 * * *", Rules{Exclude: []*Hours{hours(t, weekends)}}, "2026-03-27T12:00:00Z"},
		{"30 2 * * *", Rules{Exclude: []*Hours{hours(t, germanHolidays)}}, "2026-03-27T12:00:00Z"},
	} {
		plan, err := compiled(t, job.Schedule{Cron: c.cron, Zone: "Europe/Berlin"}).Under(c.rules)
		if err != nil {
			t.Fatal(err)
		}
		after := instantOf(t, c.after)
		fmt.Fprintf(&b, "# %s\n", plan.DescribeAt(after))
		for _, fire := range plan.Preview(after, 3, job.Ref{}) {
			fmt.Fprintf(&b, "%s %s  %s\n", fire.Local, fire.Offset, fire.Mark)
		}
	}
	compareGolden(t, "calendars.golden", b.String())
}
