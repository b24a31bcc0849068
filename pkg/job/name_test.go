package job_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestNames(t *testing.T) {
	for name, row := range map[string]struct {
		given string
		valid bool
	}{
		"one letter":                      {"a", true},
		"a digit first":                   {"7zip", true},
		"dots, dashes and lines inside":   {"eu-west.prod_2", true},
		"the longest":                     {strings.Repeat("a", 63), true},
		"nothing":                         {"", false},
		"one too long":                    {strings.Repeat("a", 64), false},
		"a capital letter":                {"Nightly", false},
		"a dot first":                     {".hidden", false},
		"a dash first":                    {"-rf", false},
		"a separator of keys":             {"a#b", false},
		"a separator of ids":              {"a~b", false},
		"a separator of partitions":       {"a/b", false},
		"a space":                         {"a b", false},
		"a line break behind it":          {"a\n", false},
		"a letter outside ASCII":          {"zoë", false},
		"a letter that only looks like a": {"\u0430", false},
		"a zero byte":                     {"a\x00", false},
		"a megabyte":                      {strings.Repeat("a", 1<<20), false},
	} {
		t.Run(name, func(t *testing.T) {
			err := job.CheckName("pool", row.given)
			if row.valid {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			var refusal *job.Error
			if !errors.As(err, &refusal) || refusal.Field != "pool" || refusal.Bound != job.NamePattern || refusal.Value != job.Shorten(row.given) {
				t.Fatalf("want a refusal with field, value and bound, got %+v", err)
			}
			if text := refusal.Error(); len(text) > 500 || strings.ContainsAny(text, "\n\x00") {
				t.Errorf("the refusal is not one bounded line: %q", text)
			}
		})
	}
}

func TestTheNamePatternSaysWhatIsChecked(t *testing.T) {
	pattern := regexp.MustCompile(`\A` + job.NamePattern + `\z`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-zA-Z0-9._\-\n#/~]{0,70}`)).Draw(t, "text")
		if got := job.CheckName("job", text) == nil; got != pattern.MatchString(text) {
			t.Fatalf("CheckName(%q) accepts: %v", text, got)
		}
	})
}

func TestAReferenceIsItsPartition(t *testing.T) {
	if got := (job.Ref{Tenant: "acme", Job: "nightly"}).String(); got != "acme/nightly" {
		t.Errorf("got %q", got)
	}
}
