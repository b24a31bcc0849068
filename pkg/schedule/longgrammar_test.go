package schedule

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestLongerGrammarsRead(t *testing.T) {
	const quartz, aws, cronexpr = job.DialectQuartz, job.DialectAWS, job.DialectCronexpr
	for meaning, c := range map[string]struct {
		dialect      job.Dialect
		text, normal string
	}{
		"quartz: seconds first, weekdays from 1 = Sunday": {quartz, "10 30 9 ? * 1,7", "10 30 9 * * 0,6 *"},
		"quartz: names":                                       {quartz, "0 0 0 ? jan-Mar SUN-TUE", "0 0 0 * 1-3 0-2 *"},
		"quartz: the year":                                    {quartz, "0 0 0 * * ? 2026-2028,2030", "0 0 0 * * * 2026-2028,2030"},
		"quartz: every year":                                  {quartz, "0 0 0 * * ? *", "0 0 0 * * * *"},
		"quartz: every day by its other field":                {quartz, "0 0 0 ? * *", "0 0 0 * * * *"},
		"quartz: an hour range over midnight":                 {quartz, "0 0 22-2 * * ?", "0 0 0-2,22-23 * * * *"},
		"quartz: weekdays over the week's end":                {quartz, "0 0 0 ? * FRI-MON", "0 0 0 * * 0-1,5-6 *"},
		"quartz: months over the year's end":                  {quartz, "0 0 0 1 NOV-FEB ?", "0 0 0 1 1-2,11-12 * *"},
		"quartz: L as weekday is Saturday":                    {quartz, "0 0 0 ? * L", "0 0 0 * * 6 *"},
		"quartz: the last Friday":                             {quartz, "0 0 0 ? * 6L", "0 0 0 * * 5L *"},
		"quartz: the third Friday, by name":                   {quartz, "0 0 0 ? * fri#3", "0 0 0 * * 5#3 *"},
		"quartz: a stepped weekday runs to Saturday":          {quartz, "0 0 0 ? * 2/2", "0 0 0 * * 1,3,5 *"},
		"quartz: L and LW and W in a list":                    {quartz, "0 0 0 L,LW,15W,3 * ?", "0 0 0 3,15W,L,LW * * *"},
		"aws: minutes first, the year last":                   {aws, "0/15 8-17 ? * 2-6 2026", "0 0,15,30,45 8-17 * * 1-5 2026"},
		"aws: in its wrapper":                                 {aws, " cron(0 10 * * ? *) ", "0 0 10 * * * *"},
		"aws: the first Monday":                               {aws, "0 9 ? * 2#1 *", "0 0 9 * * 1#1 *"},
		"cronexpr: five fields are unix":                      {cronexpr, "5 7 * * 1", "0 5 7 * * 1 *"},
		"cronexpr: a sixth is the year":                       {cronexpr, "5 7 * * 7 2026", "0 5 7 * * 0 2026"},
		"cronexpr: with seven the first is the second":        {cronexpr, "3 5 7 * * 7 2026", "3 5 7 * * 0 2026"},
		"cronexpr: years by step run to 2099":                 {cronexpr, "0 0 1 1 * 2095/2", "0 0 0 1 1 * 2095,2097,2099"},
		"cronexpr: years by step from 1970":                   {cronexpr, "0 0 1 1 * */43", "0 0 0 1 1 * 1970,2013,2056,2099"},
		"cronexpr: both day fields, joined with OR":           {cronexpr, "0 0 13 * 5 *", "0 0 0 13 * 5 *"},
		"cronexpr: nicknames":                                 {cronexpr, "@weekly", "0 0 0 * * 0 *"},
		"cronexpr: question marks in both day fields":         {cronexpr, "0 0 0 ? * ? *", "0 0 0 * * * *"},
		"cronexpr: every year written out is every year":      {cronexpr, "0 0 1 1 * 1970-2099", "0 0 0 1 1 * *"},
		"cronexpr: nearly every year":                         {cronexpr, "0 0 1 1 * 1971-2099", "0 0 0 1 1 * 1971-2099"},
		"quartz: ranges of one and steps of the largest size": {quartz, "5-5 */59 */23 */31 */12 ?", "5 0,59 0,23 1 1 * *"},
	} {
		t.Run(meaning, func(t *testing.T) {
			f, err := grammars[c.dialect](c.text)
			if err != nil {
				t.Fatalf("%q: %v", c.text, err)
			}
			if got := normalText(f); got != c.normal {
				t.Errorf("%q: got %q, want %q", c.text, got, c.normal)
			}
		})
	}
}

func TestLongerGrammarsRefuseAndNameFieldValueAndRule(t *testing.T) {
	const quartz, aws, cronexpr = job.DialectQuartz, job.DialectAWS, job.DialectCronexpr
	for reason, c := range map[string]struct {
		dialect job.Dialect
		refused
	}{
		"quartz: five fields":                        {quartz, refused{"0 0 * * *", "cron", "0 0 * * *", "five fields are the dialect unix"}},
		"quartz: eight fields":                       {quartz, refused{"0 0 0 * * ? * *", "cron", "0 0 0 * * ? * *", "8 given"}},
		"quartz: second 60":                          {quartz, refused{"60 0 0 * * ?", "second", "60", "0-59"}},
		"quartz: weekday 0":                          {quartz, refused{"0 0 0 ? * 0", "day-of-week", "0", "1-7 (1 = Sunday)"}},
		"quartz: weekday 8":                          {quartz, refused{"0 0 0 ? * 8", "day-of-week", "8", "1-7 (1 = Sunday)"}},
		"quartz: a long name":                        {quartz, refused{"0 0 0 ? * MONDAY", "day-of-week", "MONDAY", "not a value"}},
		"quartz: no question mark":                   {quartz, refused{"0 0 0 * * *", "day-of-week", "*", "write ? in day-of-week"}},
		"quartz: no question mark, a weekday":        {quartz, refused{"0 0 0 * * MON", "day-of-month", "*", "write ? in day-of-month"}},
		"quartz: days in both fields":                {quartz, refused{"0 0 0 13 * FRI", "day-of-week", "FRI", "cannot both choose days"}},
		"quartz: two question marks":                 {quartz, refused{"0 0 0 ? * ?", "day-of-week", "?", "no day is chosen"}},
		"quartz: a question mark for the month":      {quartz, refused{"0 0 0 * ? ?", "month", "?", "two day fields"}},
		"quartz: L in a list of weekdays":            {quartz, refused{"0 0 0 ? * 1,6L", "day-of-week", "1,6L", "must stand alone"}},
		"quartz: # in a list of weekdays":            {quartz, refused{"0 0 0 ? * 2#1,6#3", "day-of-week", "2#1,6#3", "must stand alone"}},
		"quartz: the sixth Friday":                   {quartz, refused{"0 0 0 ? * 6#6", "day-of-week", "6#6", "1-5"}},
		"quartz: L of a range":                       {quartz, refused{"0 0 0 ? * 2-6L", "day-of-week", "2-6L", "not a value"}},
		"quartz: L with more behind":                 {quartz, refused{"0 0 0 ? * 6LX", "day-of-week", "6LX", "not a value"}},
		"quartz: no days before the last":            {quartz, refused{"0 0 0 L-0 * ?", "day-of-month", "L-0", "L is the last day itself"}},
		"quartz: 31 days before the last":            {quartz, refused{"0 0 0 L-31 * ?", "day-of-month", "L-31", "L-1 to L-30"}},
		"quartz: nothing before the last":            {quartz, refused{"0 0 0 L- * ?", "day-of-month", "L-", "L-1 to L-30"}},
		"quartz: 32W":                                {quartz, refused{"0 0 0 32W * ?", "day-of-month", "32W", "1-31"}},
		"quartz: a year too early":                   {quartz, refused{"0 0 0 * * ? 1969", "year", "1969", "1970-2099"}},
		"quartz: years backwards":                    {quartz, refused{"0 0 0 * * ? 2030-2026", "year", "2030-2026", "write the earlier year first"}},
		"quartz: a nickname":                         {quartz, refused{"@daily", "cron", "@daily", "such as 0 0 0 * * ?"}},
		"quartz: the wrapper of aws":                 {quartz, refused{"cron(0 0 0 * * ?)", "cron", "cron(0 0 0 * * ?)", "dialect aws"}},
		"quartz: a step of 60":                       {quartz, refused{"0/60 * * * * ?", "second", "0/60", "1-59"}},
		"aws: five fields":                           {aws, refused{"0 10 * * ?", "cron", "0 10 * * ?", "five fields are the dialect unix"}},
		"aws: seven fields":                          {aws, refused{"0 0 10 * * ? *", "cron", "0 0 10 * * ? *", "7 given"}},
		"aws: a step among weekdays":                 {aws, refused{"0 10 ? * 2/2 *", "day-of-week", "2/2", "no steps in the field"}},
		"aws: hours backwards":                       {aws, refused{"0 22-2 * * ? *", "hour", "22-2", "write 22-23,0-2"}},
		"aws: weekdays backwards":                    {aws, refused{"0 0 ? * FRI-MON *", "day-of-week", "FRI-MON", "write 6-7,1-2"}},
		"aws: a year that it has and Belfry has not": {aws, refused{"0 0 1 1 ? 2150", "year", "2150", "1970-2099"}},
		"aws: a year out of range in a range":        {aws, refused{"0 0 1 1 ? 2026-2199", "year", "2026-2199", "1970-2099"}},
		"aws: a question mark for the year":          {aws, refused{"0 0 1 1 ? ?", "year", "?", "two day fields"}},
		"aws: an open wrapper":                       {aws, refused{"cron(0 10 * * ? *", "cron", "cron(0 10 * * ? *", "wrapper"}},
		"aws: a wrapper in capitals":                 {aws, refused{"CRON(0 10 * * ? *)", "cron", "CRON(0 10 * * ? *)", "lower case"}},
		"aws: an empty wrapper":                      {aws, refused{"cron()", "cron", "", "empty"}},
		"aws: a rate of minutes":                     {aws, refused{"rate(5 minutes)", "cron", "rate(5 minutes)", "every: 5m"}},
		"aws: a rate of one hour":                    {aws, refused{"rate(1 hour)", "cron", "rate(1 hour)", "every: 1h"}},
		"aws: a rate of days":                        {aws, refused{"rate(7 days)", "cron", "rate(7 days)", "every: 7d"}},
		"aws: a rate of nothing":                     {aws, refused{"rate(soon)", "cron", "rate(soon)", "such as every: 5m"}},
		"aws: one time":                              {aws, refused{"at(2026-07-12T01:30:00)", "cron", "at(2026-07-12T01:30:00)", "key at"}},
		"cronexpr: four fields":                      {cronexpr, refused{"* * * *", "cron", "* * * *", "5 to 7 fields, 4 given"}},
		"cronexpr: eight fields":                     {cronexpr, refused{"* * * * * * * x", "cron", "* * * * * * * x", "8 given"}},
		"cronexpr: seconds first with a ?":           {cronexpr, refused{"0 0 12 * * ?", "year", "?", "name dialect quartz"}},
		"cronexpr: L-n":                              {cronexpr, refused{"0 0 L-3 * ? *", "day-of-month", "L-3", "not part of this dialect"}},
		"cronexpr: a nickname that it has not":       {cronexpr, refused{"@midnight", "cron", "@midnight", "write @daily"}},
		"cronexpr: a year of five digits":            {cronexpr, refused{"0 0 1 1 * 02026", "year", "02026", "too many digits"}},
		"cronexpr: a year of two digits":             {cronexpr, refused{"0 0 1 1 * 26", "year", "26", "1970-2099"}},
		"cronexpr: seconds backwards":                {cronexpr, refused{"30-10/5 * * * * * *", "second", "30-10/5", "backwards"}},
		"cronexpr: a step over all years":            {cronexpr, refused{"0 0 1 1 * */2100", "year", "*/2100", "1-2099"}},
	} {
		t.Run(reason, func(t *testing.T) { c.checkWith(t, grammars[c.dialect]) })
	}
}

// The calendar here says the same as the engine wherever both have words.
func TestCalendarAgreesWithTheEngine(t *testing.T) {
	for _, text := range []string{
		"0 0 1-31 * *", "0 0 L * *", "0 0 LW * *", "0 0 1W,15W,31W * *", "0 0 * * 5L", "0 0 * * 0#5,3#1", "0 0 29,30,31 * *", "0 0 13 * 5", "0 0 LW * 1-2,6L", "0 0 30W 2,4 sun#1",
	} {
		f, err := parseUnix(text)
		if err != nil {
			t.Fatal(err)
		}
		w, err := newWall(f)
		if err != nil {
			t.Fatal(err)
		}
		at := instantOf(t, "2020-01-01T00:00:00Z")
		for ; at.Year() < 2032; at = at.AddDate(0, 0, 1) {
			midnight, ok := w.nextDay(at.Unix() - 1)
			engine := ok && midnight == at.Unix()
			if ours := f.months.has(int(at.Month())) && f.daysOf(at.Year(), at.Month()).has(at.Day()); ours != engine {
				t.Fatalf("%q on %s: the engine says %v, the calendar %v", text, at.Format(time.DateOnly), engine, ours)
			}
		}
	}
}

// One plan asked by many at once answers each as if it were alone; run with
// -race it shows that nothing is shared.
func TestPlansAreSafeForConcurrentUse(t *testing.T) {
	for _, s := range []job.Schedule{
		{Cron: "0 9 15W,L * *", Zone: "Europe/Berlin"}, {Cron: "0 0 0 L-3W * ?", Dialect: job.DialectQuartz}, {Cron: "0 0 ? * 6L *", Dialect: job.DialectAWS},
	} {
		plan, alone := compiled(t, s), compiled(t, s)
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				from := time.Date(2026, time.Month(1+i), 1, 0, 0, 0, 0, time.UTC)
				want, got := timesAfter(compiled(t, s), from, 20), timesAfter(plan, from, 20)
				if strings.Join(got, " ") != strings.Join(want, " ") {
					t.Errorf("%s: got %v, want %v", s.Cron, got, want)
				}
				PlanLate(plan, from, from.AddDate(1, 0, 0), job.Misfire{Policy: job.MisfireFireAll})
			})
		}
		group.Wait()
		if got, want := plan.Describe(), alone.Describe(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// checkWith sees the grammar refuse a text and name field, value and rule.
func (r refused) checkWith(t *testing.T, parse grammar) {
	t.Helper()
	_, err := parse(r.text)
	var refusal *job.Error
	if !errors.As(err, &refusal) {
		t.Fatalf("%q: accepted, or %T", r.text, err)
	}
	if refusal.Code != job.CodeScheduleInvalid || refusal.Field != r.field || refusal.Value != job.Shorten(r.value) {
		t.Errorf("%q: code %s, field %q, value %q", r.text, refusal.Code, refusal.Field, refusal.Value)
	}
	if !strings.Contains(err.Error(), r.message) || refusal.Bound == "" {
		t.Errorf("%q: %q with bound %q does not say %q", r.text, err, refusal.Bound, r.message)
	}
}
