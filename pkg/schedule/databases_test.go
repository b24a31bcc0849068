package schedule

import (
	"os"
	"path/filepath"
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
