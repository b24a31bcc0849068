package job_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestARefusalIsOneLine(t *testing.T) {
	for name, row := range map[string]struct {
		refusal job.Error
		want    string
	}{
		"a message alone":                {job.Error{Message: "no such job"}, "no such job"},
		"everything":                     {job.Error{Line: 7, Field: "minute", Message: "61 is out of bounds", Bound: "0-59", Fix: "choose 0 to 59"}, "line 7: minute: 61 is out of bounds (allowed: 0-59); choose 0 to 59"},
		"a bound that the message tells": {job.Error{Field: "minute", Message: "61 is not within 0-59", Bound: "0-59"}, "minute: 61 is not within 0-59"},
		"no field":                       {job.Error{Line: 1, Message: "broken", Fix: "mend it"}, "line 1: broken; mend it"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := row.refusal.Error(); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

func TestRefusalsAreKnownByTheirCode(t *testing.T) {
	lost := fmt.Errorf("write the plan: %w", &job.Error{Code: job.CodeStateConflict, Message: "changed"})
	if !errors.Is(lost, job.ErrLost) {
		t.Error("a conflict deep in the chain is a lost compare-and-set")
	}
	if errors.Is(&job.Error{Code: job.CodeUnavailable}, job.ErrLost) || errors.Is(errors.New("x"), job.ErrLost) || errors.Is(lost, errors.New("x")) {
		t.Error("another code, or no refusal at all, is not")
	}
	if job.CodeOf(lost) != job.CodeStateConflict || job.CodeOf(errors.New("x")) != "" || job.CodeOf(nil) != "" {
		t.Error("CodeOf finds the code in the chain, or nothing")
	}
}

func TestEveryCodeHasItsClass(t *testing.T) {
	for class, codes := range map[job.Class][]job.Code{
		job.ClassRefused: {job.CodeInvalid, job.CodeUnknownField, job.CodeNotSupported, job.CodeScheduleInvalid, job.CodeScheduleDialect,
			job.CodeScheduleNever, job.CodeSchedulePast, job.CodeZoneUnknown, job.CodeTimeInvalid, job.CodePolicyUnknown, job.CodeTooLarge},
		job.ClassMissing:  {job.CodeNotFound},
		job.ClassConflict: {job.CodeAlreadyExists, job.CodeRevisionConflict, job.CodeStateConflict, job.CodeLeaseLost},
		job.ClassBusy:     {job.CodeThrottled, job.CodeUnavailable},
		job.ClassBroken:   {job.CodeInternal, "", "SOMETHING_NEWER"},
	} {
		for _, code := range codes {
			if got := code.Class(); got != class {
				t.Errorf("%q is %s, want %s", code, got, class)
			}
		}
	}
}

func TestEchoedValuesAreBoundedText(t *testing.T) {
	for name, row := range map[string]struct{ given, want string }{
		"a short one stays":                {"30 3 * * *", "30 3 * * *"},
		"one of just the bound stays":      {strings.Repeat("a", 120), strings.Repeat("a", 120)},
		"a longer one is cut":              {strings.Repeat("a", 121), strings.Repeat("a", 120) + "…"},
		"never within a character":         {strings.Repeat("a", 119) + "ä", strings.Repeat("a", 119) + "…"},
		"bytes that are no text":           {"a\xffb", "a\uFFFDb"},
		"a line break":                     {"a\nb", "a\uFFFDb"},
		"a terminal's escape":              {"\x1b[2J", "\uFFFD[2J"},
		"a line separator":                 {"a\u2028b", "a\uFFFDb"},
		"half a character without a start": {strings.Repeat("\x80", 200), "…"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := job.Shorten(row.given); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestNoEchoForgesALineOrSpeaksToATerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		given := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		got := job.Shorten(given)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x1b\x00\u0085\u2028\u2029") || (len(given) > 120) != strings.HasSuffix(got, "…") && !strings.HasSuffix(given, "…") {
			t.Fatalf("%q is echoed as %q", given, got)
		}
	})
}
