package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// The enumerator here shares nothing with the package but the zone's file: it
// walks a zone minute by minute with time.Time.In and tests each clock reading
// against a predicate that was drawn together with the expression's text.

// drawn is an expression with an independent reading of it.
type drawn struct {
	text    string
	matches func(clock time.Time) bool
}

func drawExpression(t *rapid.T) drawn {
	minute, minuteMatches := drawField(t, "minute", 0, 59)
	hour, hourMatches := drawField(t, "hour", 0, 23)
	month, monthMatches := drawField(t, "month", 1, 12)
	if rapid.Bool().Draw(t, "every month") {
		month, monthMatches = "*", func(int) bool { return true }
	}
	day, dayOpen, dayMatches := drawDay(t)
	weekday, weekdayOpen, weekdayMatches := drawWeekday(t)
	return drawn{
		text: strings.Join([]string{minute, hour, day, month, weekday}, " "),
		matches: func(c time.Time) bool {
			if !minuteMatches(c.Minute()) || !hourMatches(c.Hour()) || !monthMatches(int(c.Month())) || c.Second() != 0 {
				return false
			}
			switch {
			case dayOpen && weekdayOpen:
				return true
			case dayOpen:
				return weekdayMatches(c)
			case weekdayOpen:
				return dayMatches(c)
			}
			return dayMatches(c) || weekdayMatches(c)
		},
	}
}

func drawField(t *rapid.T, name string, low, high int) (string, func(int) bool) {
	a := rapid.IntRange(low, high).Draw(t, name)
	b := rapid.IntRange(a, high).Draw(t, name+" end")
	step := rapid.IntRange(1, min(high, 20)).Draw(t, name+" step")
	stepped := func(from, to int) func(int) bool {
		return func(v int) bool { return v >= from && v <= to && (v-from)%step == 0 }
	}
	switch rapid.IntRange(0, 5).Draw(t, name+" kind") {
	case 0:
		return "*", func(int) bool { return true }
	case 1:
		return strconv.Itoa(a), func(v int) bool { return v == a }
	case 2:
		return fmt.Sprintf("%d-%d", a, b), func(v int) bool { return v >= a && v <= b }
	case 3:
		return fmt.Sprintf("*/%d", step), stepped(low, high)
	case 4:
		return fmt.Sprintf("%d/%d", a, step), stepped(a, high)
	}
	return fmt.Sprintf("%02d,%d", b, a), func(v int) bool { return v == a || v == b }
}

func drawDay(t *rapid.T) (string, bool, func(time.Time) bool) {
	n := rapid.IntRange(1, 31).Draw(t, "day")
	switch rapid.IntRange(0, 6).Draw(t, "day kind") {
	case 0:
		return "L", false, func(c time.Time) bool { return c.AddDate(0, 0, 1).Day() == 1 }
	case 1:
		return "LW", false, func(c time.Time) bool {
			return isWorkday(c) && !monthHas(c, 1) && !monthHas(c, 2) && !monthHas(c, 3)
		}
	case 2:
		return fmt.Sprintf("%dw", min(n, 28)), false, func(c time.Time) bool { return nearestWorkday(c, min(n, 28)) == c.Day() }
	case 3:
		return fmt.Sprintf("%d-%d", min(n, 20), min(n, 20)+5), false, func(c time.Time) bool {
			return c.Day() >= min(n, 20) && c.Day() <= min(n, 20)+5
		}
	case 4:
		return "*/2", false, func(c time.Time) bool { return c.Day()%2 == 1 }
	}
	return []string{"*", "?"}[n%2], true, nil
}

// monthHas tells whether the day that many days after c is a workday of the
// same month.
func monthHas(c time.Time, days int) bool {
	later := c.AddDate(0, 0, days)
	return later.Month() == c.Month() && isWorkday(later)
}

func isWorkday(c time.Time) bool { return c.Weekday() >= time.Monday && c.Weekday() <= time.Friday }

// nearestWorkday tries the days around n in the order of their distance,
// within the month.
func nearestWorkday(c time.Time, n int) int {
	for _, d := range []int{0, -1, 1, -2, 2} {
		day := time.Date(c.Year(), c.Month(), n+d, 0, 0, 0, 0, time.UTC)
		if day.Month() == c.Month() && isWorkday(day) && (d != -2 || day.Weekday() == time.Friday) {
			return day.Day()
		}
	}
	return 0
}

func drawWeekday(t *rapid.T) (string, bool, func(time.Time) bool) {
	d := rapid.IntRange(0, 6).Draw(t, "weekday")
	nth := rapid.IntRange(1, 4).Draw(t, "nth")
	name := time.Weekday(d).String()
	on := func(c time.Time) bool { return int(c.Weekday()) == d }
	switch rapid.IntRange(0, 6).Draw(t, "weekday kind") {
	case 0:
		return strings.ToUpper(name[:3]), false, on
	case 1:
		return fmt.Sprintf("%dL", d), false, func(c time.Time) bool { return on(c) && c.AddDate(0, 0, 7).Month() != c.Month() }
	case 2:
		return fmt.Sprintf("%s#%d", name, nth), false, func(c time.Time) bool { return on(c) && (c.Day()-1)/7+1 == nth }
	case 3:
		return fmt.Sprintf("%d-7", d), false, func(c time.Time) bool { return int(c.Weekday()) >= d || c.Weekday() == time.Sunday }
	}
	return "*", true, nil
}

const outer, inner = 62 * time.Hour, 27 * time.Hour

// walk is what a zone's clock shows, minute by minute, around an instant.
type walk struct {
	loc        *time.Location
	around     time.Time
	start, end time.Time
	shown      map[int64][]time.Time // clock reading as if in UTC → instants
}

// walkAround looks at the clock at every full minute that it shows.
func walkAround(loc *time.Location, around time.Time) *walk {
	w := &walk{loc: loc, around: around, start: around.Add(-outer), end: around.Add(outer), shown: map[int64][]time.Time{}}
	for at := w.start; at.Before(w.end); {
		local := at.In(loc)
		if s := local.Second(); s != 0 {
			at = at.Add(time.Duration(60-s) * time.Second)
			continue
		}
		reading := civilOf(local).Unix()
		w.shown[reading] = append(w.shown[reading], at)
		at = at.Add(time.Minute)
	}
	return w
}

// bruteForce lists the instants within inner of around at which x is due.
func bruteForce(x drawn, w *walk, gap job.GapPolicy, overlap job.OverlapPolicy) []time.Time {
	due := map[time.Time]bool{}
	first, last := civilOf(w.start.In(w.loc)), civilOf(w.end.In(w.loc))
	for clock := first.Truncate(time.Minute).Add(time.Hour); clock.Before(last.Add(-time.Hour)); clock = clock.Add(time.Minute) {
		if !x.matches(clock) {
			continue
		}
		at := w.shown[clock.Unix()]
		switch {
		case len(at) == 0 && gap == job.GapShiftForward:
			due[firstAtOrPast(clock, w.loc, w.start, w.end)] = true
		case len(at) == 0:
		case overlap == job.OverlapFirst:
			due[at[0]] = true
		case overlap == job.OverlapSecond:
			due[at[min(1, len(at)-1)]] = true
		default:
			for _, a := range at {
				due[a] = true
			}
		}
	}
	list := slices.SortedFunc(maps.Keys(due), time.Time.Compare)
	return slices.DeleteFunc(list, func(at time.Time) bool {
		return !at.After(w.around.Add(-inner)) || at.After(w.around.Add(inner))
	})
}

// civilOf reads the clock of t as if it stood in UTC.
func civilOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// firstAtOrPast finds, second by second around the jump, the first instant
// whose clock shows clock or later.
func firstAtOrPast(clock time.Time, loc *time.Location, start, end time.Time) time.Time {
	for at := start; at.Before(end); at = at.Add(time.Minute) {
		if civilOf(at.In(loc)).Before(clock) {
			continue
		}
		for at = at.Add(-time.Minute); civilOf(at.In(loc)).Before(clock); {
			at = at.Add(time.Second)
		}
		return at
	}
	panic("the clock never gets there")
}

// drawChange draws a zone and one of its changes of clocks.
func drawChange(t *rapid.T, names []string) (*zone, time.Time) {
	name := rapid.SampledFrom(names).Draw(t, "zone")
	z, err := loadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(z.periods) < 2 {
		return z, time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	}
	i := rapid.IntRange(1, len(z.periods)-1).Draw(t, "change")
	at := instant(z.periods[i].start)
	if at.Year() < 1970 || at.Year() == 1970 && at.YearDay() < 5 || at.Year() > 2099 {
		return z, time.Date(1999, 10, 31, 1, 0, 0, 0, time.UTC)
	}
	return z, at
}

// oddZones changed clocks in ways that break assumptions: half an hour, at
// midnight, over the date line, by odd seconds, in winter, for Ramadan.
var oddZones = []string{
	"Australia/Lord_Howe", "Pacific/Apia", "Pacific/Kwajalein", "Pacific/Enderbury", "America/Sao_Paulo", "Africa/Cairo",
	"Europe/Dublin", "Africa/Casablanca", "Africa/Monrovia", "Asia/Kathmandu", "Antarctica/Troll", "Antarctica/Casey",
	"America/Caracas", "Asia/Pyongyang", "Asia/Gaza", "America/St_Johns", "Africa/Juba", "America/Scoresbysund",
}

// allPolicies are the ways to meet a change of clocks.
var allPolicies = []struct {
	gap     job.GapPolicy
	overlap job.OverlapPolicy
}{
	{job.GapSkip, job.OverlapFirst}, {job.GapSkip, job.OverlapSecond}, {job.GapSkip, job.OverlapBoth},
	{job.GapShiftForward, job.OverlapFirst}, {job.GapShiftForward, job.OverlapSecond}, {job.GapShiftForward, job.OverlapBoth},
}

func TestEveryFireIsOneOfTheEnumerator(t *testing.T) {
	all := slices.Sorted(maps.Keys(tzdbFiles()))
	for name, zones := range map[string][]string{"in any zone": all, "in odd zones": oddZones} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			z, around := drawChange(t, zones)
			x := drawExpression(t)
			policy := rapid.SampledFrom(allPolicies).Draw(t, "policy")
			plan, err := Compile(job.Schedule{Cron: x.text, Zone: z.name, Gap: policy.gap, Overlap: policy.overlap}, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			want := bruteForce(x, walkAround(z.loc, around), policy.gap, policy.overlap)
			got := plan.Between(around.Add(-inner), around.Add(inner), 0)
			if !sameTimes(got, want) {
				t.Fatalf("%q in %s, %v, around %s\n got %v\nwant %v", x.text, z.name, policy, around, got, want)
			}
			checkCounts(t, plan, around)
		}))
	}
}

// checkCounts compares counting and looking back with visiting each time.
func checkCounts(t *rapid.T, plan *Plan, around time.Time) {
	from := around.Add(-time.Duration(rapid.IntRange(0, 200*3600).Draw(t, "seconds before")) * time.Second)
	to := around.Add(time.Duration(rapid.IntRange(0, 200*3600).Draw(t, "seconds after")) * time.Second)
	each := plan.Between(from, to, 0)
	if n := plan.count(from.Unix(), to.Unix()); n != int64(len(each)) {
		t.Fatalf("counted %d times of %s from %s to %s, visited %d", n, plan.source(), from, to, len(each))
	}
	n := rapid.IntRange(1, 50).Draw(t, "latest")
	var latest []time.Time
	for _, at := range plan.latest(from.Unix(), to.Unix(), n) {
		latest = append(latest, instant(at))
	}
	if want := each[max(0, len(each)-n):]; !sameTimes(latest, want) {
		t.Fatalf("latest %d: got %v, want %v", n, latest, want)
	}
}
