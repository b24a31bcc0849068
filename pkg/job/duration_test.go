package job_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

const day = 24 * time.Hour

func TestADurationReadsAsItIsWritten(t *testing.T) {
	for name, row := range map[string]struct {
		text, shown string
		want        time.Duration
	}{
		"seconds":                                  {"30s", "30s", 30 * time.Second},
		"minutes lose their zero seconds":          {"15m0s", "15m", 15 * time.Minute},
		"ten minutes keep their zero":              {"10m", "10m", 10 * time.Minute},
		"an hour loses both zeros":                 {"1h0m0s", "1h", time.Hour},
		"an hour and a second keep the minutes":    {"1h1s", "1h0m1s", time.Hour + time.Second},
		"a fraction":                               {"1.5s", "1.5s", 1500 * time.Millisecond},
		"less than a millisecond":                  {"1.5µs", "1.5µs", 1500},
		"whole days":                               {"7d", "7d", 7 * day},
		"days and hours":                           {"1d12h", "1d12h", 36 * time.Hour},
		"hours that make days show as days":        {"48h", "2d", 2 * day},
		"zero in days":                             {"0d", "0s", 0},
		"a bare zero":                              {"0", "0s", 0},
		"the longest":                              {"106751d23h47m16.854775807s", "106751d23h47m16.854775807s", math.MaxInt64},
		"days beyond sixteen bits":                 {"65536d", "65536d", 65536 * day},
		"days with less than a minute beside them": {"1d5s", "1d5s", day + 5*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := job.ParseDuration(row.text)
			if err != nil || got.Std() != row.want {
				t.Fatalf("ParseDuration(%q) = %v, %v; want %v", row.text, got, err, row.want)
			}
			if got.String() != row.shown {
				t.Errorf("it shows as %q, want %q", got, row.shown)
			}
		})
	}
}

func TestWhatIsNoDurationIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                           "",
		"a bare number":                     "30",
		"a bare number after days":          "1d30",
		"a unit alone":                      "s",
		"the day's unit alone":              "d",
		"a negative duration":               "-5s",
		"a sign":                            "+5s",
		"a negative rest after days":        "2d-5h",
		"negative days":                     "-1d",
		"half a day":                        "1.5d",
		"days twice":                        "1d1d",
		"days at the end":                   "1h1d",
		"a space":                           "1 h",
		"a month":                           "1mo",
		"more days than fit":                "106752d",
		"days and hours that overflow":      "106751d24h",
		"two halves that overflow together": "65535d2562047h",
		"more than an integer holds":        "99999999999999999999d",
		"a number with separators":          "1_000s",
		"other digits":                      "٣s",
		"a hostile kilobyte":                strings.Repeat("9", 1024) + "h",
		"bytes that are no text":            "\xff\xfed",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := job.ParseDuration(text)
			var refusal *job.Error
			if !errors.As(err, &refusal) {
				t.Fatalf("ParseDuration(%q) = %v, %v; want a refusal", text, got, err)
			}
			if refusal.Code != job.CodeInvalid || refusal.Value != job.Shorten(text) || refusal.Bound == "" || refusal.Fix == "" {
				t.Errorf("the refusal does not name value, bound and fix: %+v", refusal)
			}
		})
	}
}

func TestEveryDurationReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := []time.Duration{1, time.Microsecond, time.Millisecond, time.Second, time.Minute, time.Hour, day}
		unit := rapid.SampledFrom(units).Draw(t, "unit")
		d := job.Duration(unit * time.Duration(rapid.Int64Range(0, math.MaxInt64/int64(unit)).Draw(t, "n")))
		if rapid.Bool().Draw(t, "crooked") && d < math.MaxInt64-job.Duration(day) {
			d += job.Duration(rapid.Int64Range(0, int64(day)).Draw(t, "rest"))
		}
		back, err := job.ParseDuration(d.String())
		if err != nil || back != d {
			t.Fatalf("%d shows as %q, which reads as %d, %v", d, d, back, err)
		}
		var decoded job.Duration
		encoded, err := json.Marshal(d)
		if err == nil {
			err = json.Unmarshal(encoded, &decoded)
		}
		if err != nil || decoded != d {
			t.Fatalf("%v goes through JSON as %s and comes back as %v, %v", d, encoded, decoded, err)
		}
	})
}

func TestParseDurationNeverGivesANegativeOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-9]{0,7}d?([0-9]{0,20}(\.[0-9]{0,4})?(ns|us|ms|s|m|h)){0,3}`).Draw(t, "text")
		if d, err := job.ParseDuration(text); err == nil && d < 0 {
			t.Fatalf("%q reads as %d", text, d)
		}
	})
}

func TestAnEmptyTextIsNoDuration(t *testing.T) {
	d := job.Duration(time.Hour)
	if err := d.UnmarshalText(nil); err != nil || d != 0 {
		t.Errorf("empty text gives %v, %v; want zero: not given", d, err)
	}
	if text, err := job.Duration(0).MarshalText(); err != nil || len(text) != 0 {
		t.Errorf("zero writes as %q, %v; want nothing", text, err)
	}
	if err := d.UnmarshalText([]byte("soon")); job.CodeOf(err) != job.CodeInvalid {
		t.Errorf("a word gives %v, want a refusal", err)
	}
}
