package schedule

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestPlanLate(t *testing.T) {
	hourly := compiled(t, job.Schedule{Cron: "0 * * * *"})
	midnight := instantOf(t, "2024-05-01T00:00:00Z")
	at := func(hours float64) time.Time { return midnight.Add(time.Duration(hours * float64(time.Hour))) }
	hour := job.Duration(time.Hour)
	for name, c := range map[string]struct {
		cursor, now time.Time
		misfire     job.Misfire
		missed      []float64 // hours of the first and the last
		fire        []float64
		onTime      []float64
		coalesced   []float64
	}{
		"nothing came due":                          {at(10), at(10.5), job.Misfire{Policy: job.MisfireFireAll}, nil, nil, nil, nil},
		"an empty policy fires the latest":          {at(8), at(11.5), job.Misfire{}, []float64{9, 11}, []float64{11}, nil, nil},
		"FIRE_ONCE fires the latest":                {at(8), at(11.5), job.Misfire{Policy: job.MisfireFireOnce}, []float64{9, 11}, []float64{11}, nil, nil},
		"SKIP fires none but records all":           {at(8), at(11.5), job.Misfire{Policy: job.MisfireSkip}, []float64{9, 11}, nil, nil, nil},
		"FIRE_ALL fires each, oldest first":         {at(8), at(11.5), job.Misfire{Policy: job.MisfireFireAll}, []float64{9, 11}, []float64{9, 10, 11}, nil, nil},
		"max keeps the latest, oldest first":        {at(0), at(11.5), job.Misfire{Policy: job.MisfireFireAll, Max: 2}, []float64{1, 11}, []float64{10, 11}, nil, nil},
		"a window keeps what is exactly as old":     {at(0), at(11.5), job.Misfire{Policy: job.MisfireFireAll, Window: hour * 5 / 2}, []float64{1, 11}, []float64{9, 10, 11}, nil, nil},
		"window and max both bound":                 {at(0), at(11.5), job.Misfire{Policy: job.MisfireFireAll, Window: hour * 5 / 2, Max: 1}, []float64{1, 11}, []float64{11}, nil, nil},
		"the latest is too old for the window":      {at(8), at(11.5), job.Misfire{Window: hour / 4}, []float64{9, 11}, nil, nil, nil},
		"due this very second is on time":           {at(8), at(11), job.Misfire{Policy: job.MisfireFireAll}, []float64{9, 10}, []float64{9, 10}, []float64{11}, nil},
		"as late as the tolerance is on time":       {at(8), at(11.5), job.Misfire{Policy: job.MisfireFireAll, Tolerance: hour / 2}, []float64{9, 10}, []float64{9, 10}, []float64{11}, nil},
		"a moment later it is not":                  {at(8), at(11.5).Add(time.Nanosecond), job.Misfire{Policy: job.MisfireFireAll, Tolerance: hour / 2}, []float64{9, 11}, []float64{9, 10, 11}, nil, nil},
		"a tolerance over all of it":                {at(8), at(11.5), job.Misfire{Policy: job.MisfireSkip, Tolerance: 9 * hour}, nil, nil, []float64{9, 10, 11}, nil},
		"COALESCE fires one for all":                {at(8), at(11.5), job.Misfire{Policy: job.MisfireCoalesce}, []float64{9, 11}, []float64{11}, nil, []float64{9, 11}},
		"COALESCE stands for what the window keeps": {at(8), at(11.5), job.Misfire{Policy: job.MisfireCoalesce, Window: hour * 2}, []float64{9, 11}, []float64{11}, nil, []float64{10, 11}},
		"COALESCE with all too old":                 {at(8), at(11.5), job.Misfire{Policy: job.MisfireCoalesce, Window: hour / 4}, []float64{9, 11}, nil, nil, nil},
		"a clock that was set back":                 {at(10), at(9.1), job.Misfire{Policy: job.MisfireFireAll}, nil, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			late := PlanLate(hourly, c.cursor, c.now, c.misfire)
			hours := func(list []float64) []time.Time {
				times := []time.Time{}
				for _, h := range list {
					times = append(times, at(h))
				}
				return times
			}
			if !sameTimes(late.Fire, hours(c.fire)) || !sameTimes(late.OnTime, hours(c.onTime)) {
				t.Errorf("fires %v, on time %v", late.Fire, late.OnTime)
			}
			checkRange(t, "missed", late.Missed, hours(c.missed))
			checkRange(t, "coalesced", late.Coalesced, hours(c.coalesced))
			if want, _ := hourly.Next(maxTime(c.cursor, c.now)); !late.HasNext || !late.Next.Equal(want) {
				t.Errorf("next %v", late.Next)
			}
		})
	}
}

func TestPlanLateOfTheOtherKinds(t *testing.T) {
	noon := instantOf(t, "2026-07-12T12:00:00Z")
	for name, c := range map[string]struct {
		schedule job.Schedule
		cursor   time.Time
		missed   int
		fire     []time.Time
		hasNext  bool
	}{
		"a time gone by":                 {job.Schedule{At: noon.Add(-time.Hour)}, time.Time{}, 1, []time.Time{noon.Add(-time.Hour)}, false},
		"a time handled before":          {job.Schedule{At: noon.Add(-time.Hour)}, noon.Add(-time.Hour), 0, nil, false},
		"a time to come":                 {job.Schedule{At: noon.Add(time.Hour)}, time.Time{}, 0, nil, true},
		"an interval from its start":     {job.Schedule{Every: 600 * second, Start: noon.Add(-time.Hour)}, time.Time{}, 6, []time.Time{noon.Add(-10 * time.Minute)}, true},
		"an interval that has ended":     {job.Schedule{Every: 600 * second, Start: noon.Add(-time.Hour), End: noon.Add(-time.Minute)}, noon.Add(-time.Hour), 5, []time.Time{noon.Add(-10 * time.Minute)}, false},
		"a daily job that never ran":     {job.Schedule{Cron: "0 11 * * *", Start: noon.AddDate(0, 0, -3)}, time.Time{}, 3, []time.Time{noon.Add(-time.Hour)}, true},
		"a daily job since 1970":         {job.Schedule{Cron: "0 11 * * *"}, time.Time{}, 20647, []time.Time{noon.Add(-time.Hour)}, true},
		"every minute of every January":  {job.Schedule{Cron: "* * * 1 *"}, noon.AddDate(-10, 0, 0), 10 * 31 * 1440, []time.Time{instantOf(t, "2026-01-31T23:59:00Z")}, true},
		"every minute over many changes": {job.Schedule{Cron: "* * * * *", Zone: "Europe/Berlin"}, noon.AddDate(-10, 0, 0), 3652*1440 - 1, []time.Time{noon.Add(-time.Minute)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			late := PlanLate(compiled(t, c.schedule), c.cursor, noon, job.Misfire{})
			if late.Missed.Count != c.missed || !sameTimes(late.Fire, c.fire) || late.HasNext != c.hasNext {
				t.Errorf("got %+v", late)
			}
		})
	}
}

// checkRange compares a range of an hourly schedule with its first and last.
func checkRange(t *testing.T, name string, got Range, ends []time.Time) {
	t.Helper()
	want := Range{}
	if len(ends) > 0 {
		want = Range{First: ends[0], Last: ends[1], Count: int(ends[1].Sub(ends[0])/time.Hour) + 1}
	}
	if got != want {
		t.Errorf("%s %+v, want %+v", name, got, want)
	}
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func TestPlanLateOfAnEverySecondJobDownForAWeekVisitsNoMoreThanItFires(t *testing.T) {
	now := instantOf(t, "2026-07-12T00:00:00.5Z")
	plan := compiledFrom(t, job.Schedule{Every: second}, now.AddDate(-1, 0, 0))
	counted := &counting{times: plan.times}
	plan.times = counted
	late := PlanLate(plan, now.AddDate(0, 0, -7), now, job.Misfire{Policy: job.MisfireFireAll, Max: 1000, Tolerance: 60 * second})
	if late.Missed.Count != 7*86400-60 || len(late.Fire) != 1000 || len(late.OnTime) != 60 {
		t.Errorf("missed %+v, fires %d, on time %d", late.Missed, len(late.Fire), len(late.OnTime))
	}
	if last := instantOf(t, "2026-07-11T23:59:00Z"); !late.Fire[999].Equal(last) || !late.Missed.Last.Equal(last) {
		t.Errorf("last fire %v, last missed %v", late.Fire[999], late.Missed.Last)
	}
	if counted.asked > 4000 {
		t.Errorf("asked for %d times to fire 1000", counted.asked)
	}
}

// counting counts how often a plan's source is asked for a time.
type counting struct {
	times
	asked int
}

func (c *counting) next(after int64) (int64, bool) {
	c.asked++
	return c.times.next(after)
}

func TestPlanLateAgreesWithVisitingEachTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		z, around := drawChange(t, oddZones)
		x := drawExpression(t)
		plan := compiledRapid(t, job.Schedule{Cron: x.text, Zone: z.name})
		hours := func(label string, most int) time.Duration {
			return time.Duration(rapid.IntRange(0, most*3600).Draw(t, label)) * time.Second
		}
		now := around.Add(hours("after the change", 50))
		cursor := now.Add(-hours("down", 100))
		m := job.Misfire{Policy: job.MisfireFireAll, Max: rapid.IntRange(0, 20).Draw(t, "max"), Window: job.Duration(hours("window", 60)), Tolerance: job.Duration(hours("tolerance", 2))}
		var missed, fire, onTime []time.Time
		for _, at := range plan.Between(cursor, now, 0) {
			age := job.Duration(now.Sub(at))
			if age <= m.Tolerance {
				onTime = append(onTime, at)
				continue
			}
			missed = append(missed, at)
			if m.Window == 0 || age <= m.Window {
				fire = append(fire, at)
			}
		}
		if m.Max > 0 {
			fire = fire[max(0, len(fire)-m.Max):]
		}
		late := PlanLate(plan, cursor, now, m)
		if !sameTimes(late.Fire, fire) || !sameTimes(late.OnTime, onTime) || late.Missed.Count != len(missed) {
			t.Fatalf("%q %+v from %v to %v:\n got %+v\nwant fire %v, on time %v, missed %d", x.text, m, cursor, now, late, fire, onTime, len(missed))
		}
		if n := len(missed); n > 0 && (!late.Missed.First.Equal(missed[0]) || !late.Missed.Last.Equal(missed[n-1])) {
			t.Fatalf("missed %+v, want %v to %v", late.Missed, missed[0], missed[n-1])
		}
	})
}
