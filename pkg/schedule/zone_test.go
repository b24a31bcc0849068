package schedule

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestZonesAreNamedExactly(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Berlin", "EST5EDT", "Etc/GMT+12", "GMT0", "America/Argentina/ComodRivadavia", "Asia/Calcutta"} {
		if _, err := loadZone(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, says := range map[string]string{
		"":                       "write UTC",
		"Local":                  "machine",
		"europe/berlin":          "did you mean Europe/Berlin?",
		"Europe/London ":         "did you mean Europe/London?",
		"America/NewYork":        "did you mean America/New_York?",
		"Asia/Calcuta":           "did you mean Asia/Calcutta?",
		"PST":                    "name the place, such as America/Los_Angeles",
		"IST":                    "name the place, such as America/Los_Angeles",
		"CEST":                   "did you mean CET?",
		"Z":                      "write UTC",
		"UTC+3":                  "name the place, such as Europe/Berlin; a clock that never changes is Etc/GMT-2",
		"+02:00":                 "a clock that never changes is Etc/GMT-2",
		"gmt-05:30":              "a clock that never changes is Etc/GMT-2",
		"-":                      "not a time zone",
		"<+03>-3":                "not a time zone",
		"Europe":                 "not a time zone",
		"Europe/":                "not a time zone",
		"../../etc/passwd":       "not a time zone",
		"/Europe/Berlin":         "not a time zone",
		"posix/Europe/London":    "not a time zone",
		"posixrules":             "not a time zone",
		"Factory":                "not a time zone",
		"Europe/Paris\x00":       "not a time zone",
		strings.Repeat("A", 500): "not a time zone",
	} {
		_, err := loadZone(name)
		if job.CodeOf(err) != job.CodeZoneUnknown || !strings.Contains(err.Error(), says) || len(err.Error()) > 400 {
			t.Errorf("%q: %v, want %q", name, err, says)
		}
	}
}

func TestTheMachinesOwnZonesAreNeverAsked(t *testing.T) {
	t.Setenv("ZONEINFO", t.TempDir())
	embedded().loaded.Clear()
	plan := compiled(t, job.Schedule{Cron: "0 9 * * *", Zone: "Europe/Paris"})
	if plan.Location().String() != "Europe/Paris" {
		t.Errorf("location %s", plan.Location())
	}
	next, _ := plan.Next(instantOf(t, "2026-07-01T00:00:00Z"))
	if got := next.Format(time.RFC3339); got != "2026-07-01T07:00:00Z" {
		t.Errorf("got %s", got)
	}
	if !regexp.MustCompile(`^20\d\d[a-z]$`).MatchString(TZDBVersion()) {
		t.Errorf("version %q", TZDBVersion())
	}
}

func TestEveryZoneOfTheDatabaseHasOrderedPeriods(t *testing.T) {
	names := slices.Sorted(maps.Keys(tzdbFiles()))
	if len(names) < 590 {
		t.Fatalf("only %d zones", len(names))
	}
	for _, name := range names {
		z, err := loadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range z.periods[1:] {
			before := z.periods[i]
			if before.end != p.start || before.offset == p.offset || p.start >= p.end {
				t.Errorf("%s: %+v then %+v", name, before, p)
			}
			if apart := math.Abs(float64(p.offset - before.offset)); apart > reach {
				t.Errorf("%s: offsets lie %v s apart at %v, more than reach", name, apart, instant(p.start))
			}
		}
	}
}

func TestPeriodsAgreeWithTheLibraryEveryThreeHours(t *testing.T) {
	const step = 3 * 3600
	for _, name := range append([]string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Tehran"}, oddZones...) {
		z, err := loadZone(name)
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for at := int64(-1); at < horizon; at += step {
			for at >= z.periods[i].end {
				i++
			}
			if want := offsetAt(z.loc, at); z.periods[i].offset != want {
				t.Fatalf("%s at %v: offset %d, want %d", name, instant(at), z.periods[i].offset, want)
			}
		}
	}
}

func TestDistanceCountsUpToTwoLetters(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"berlin", "berlin", 0}, {"berlin", "berlinn", 1}, {"berlin", "brlin", 1}, {"berlin", "bärlin", 2}, {"berlin", "merlyn", 2},
		{"", "ab", 2}, {"ab", "", 2}, {"berlin", "paris", 3}, {"", "abc", 3}, {"europe/berlin", "berlin", 3}, {"a", strings.Repeat("a", 99), 3},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
