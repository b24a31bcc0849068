package schedule

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// databases are the two of testdata/zones: Berlin's clock is an hour further
// ahead in the later one, Tokyo's an hour less, New York's the same.
func databases(t *testing.T) (before, after *Zones) {
	t.Helper()
	open := func(version, file string) *Zones {
		archive, err := os.ReadFile(filepath.Join("testdata", "zones", file))
		if err != nil {
			t.Fatal(err)
		}
		z, err := OpenZones(version, archive)
		if err != nil {
			t.Fatal(err)
		}
		return z
	}
	return open("1999a", "before.zip"), open("2000a", "after.zip")
}

func TestAScheduleHasTheTimesOfTheDatabaseThatItIsCompiledWith(t *testing.T) {
	before, after := databases(t)
	for name, c := range map[string]struct {
		zones      *Zones
		zone, next string
	}{
		"Berlin before":             {before, "Europe/Berlin", "2000-01-03T08:00:00Z"},
		"Berlin an hour earlier":    {after, "Europe/Berlin", "2000-01-03T07:00:00Z"},
		"Tokyo before":              {before, "Asia/Tokyo", "2000-01-03T00:00:00Z"},
		"Tokyo an hour later":       {after, "Asia/Tokyo", "2000-01-03T01:00:00Z"},
		"New York stays":            {after, "America/New_York", "2000-01-03T14:00:00Z"},
		"the embedded one is meant": {nil, "Europe/Berlin", "2000-01-03T08:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, err := c.zones.Compile(job.Schedule{Cron: "0 9 * * 1", Zone: c.zone}, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			if next, _ := plan.Next(instantOf(t, "2000-01-02T12:00:00Z")); next.Format(time.RFC3339) != c.next {
				t.Errorf("next %s, want %s", next.Format(time.RFC3339), c.next)
			}
		})
	}
	if before.Version() != "1999a" || (*Zones)(nil).Version() != TZDBVersion() {
		t.Errorf("versions %q and %q", before.Version(), (*Zones)(nil).Version())
	}
}

func TestAZoneThatOneDatabaseLacksIsRefusedByThatOneAlone(t *testing.T) {
	before, after := databases(t)
	asked := job.Schedule{Cron: "0 9 * * *", Zone: "Pacific/Apia"}
	if _, err := before.Compile(asked, time.Time{}); err != nil {
		t.Error(err)
	}
	if _, err := after.Compile(asked, time.Time{}); job.CodeOf(err) != job.CodeZoneUnknown {
		t.Errorf("refused with %v", err)
	}
	if _, err := OpenZones("none", []byte("no archive")); job.CodeOf(err) != job.CodeInvalid {
		t.Errorf("no archive: %v", err)
	}
}

func TestWhichTimesMoveFromOneDatabaseToAnother(t *testing.T) {
	before, after := databases(t)
	for name, c := range map[string]struct {
		cron, zone string
		limit      int
		gone, come []string
		upto       string
	}{
		"each day an hour earlier":             {"0 9 * * *", "Europe/Berlin", 100, []string{"1 08:00", "2 08:00"}, []string{"1 07:00", "2 07:00"}, "3 00:00"},
		"an hour later, past the end":          {"30 8 * * *", "Asia/Tokyo", 100, []string{"1 23:30", "2 23:30"}, []string{"1 00:30", "2 00:30"}, "3 00:00"},
		"a zone that stays":                    {"0 9 * * *", "America/New_York", 100, nil, nil, "3 00:00"},
		"a job that runs each hour":            {"0 * * * *", "Europe/Berlin", 100, nil, nil, "3 00:00"},
		"no further than both lists reach":     {"0 9 * * *", "Europe/Berlin", 1, nil, []string{"1 07:00"}, "1 07:00"},
		"only from the moment of a transition": {"0 9 * * *", "Africa/Cairo", 100, []string{"2 07:00"}, []string{"2 06:00"}, "3 00:00"},
	} {
		t.Run(name, func(t *testing.T) {
			var plans []*Plan
			for _, z := range []*Zones{before, after} {
				plan, err := z.Compile(job.Schedule{Cron: c.cron, Zone: c.zone}, time.Time{})
				if err != nil {
					t.Fatal(err)
				}
				plans = append(plans, plan)
			}
			gone, come, upto := Moved(plans[0], plans[1], instantOf(t, "2000-01-01T00:00:00Z"), instantOf(t, "2000-01-03T00:00:00Z"), c.limit)
			written := func(list []time.Time) (texts []string) {
				for _, at := range list {
					texts = append(texts, at.Format("2 15:04"))
				}
				return texts
			}
			if !slices.Equal(written(gone), c.gone) || !slices.Equal(written(come), c.come) || upto.Format("2 15:04") != c.upto {
				t.Errorf("gone %v, come %v, up to %s", written(gone), written(come), upto)
			}
		})
	}
}
