package schedule

import (
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// grammar turns the text of one dialect into fields, or says as a *job.Error
// which field is wrong. A grammar accepts nothing that it does not fully
// understand.
type grammar func(text string) (fields, error)

// grammars holds the dialects that this build reads.
var grammars = map[job.Dialect]grammar{
	job.DialectUnix:     parseUnix,
	job.DialectQuartz:   parseQuartz,
	job.DialectAWS:      parseAWS,
	job.DialectCronexpr: parseCronexpr,
}

// reader reads the words of an expression one after the other and keeps the
// first refusal; after it, nothing is read any more.
type reader struct{ err error }

func (r *reader) set(f *field, text string) set           { return read(r, parseSet, f, text) }
func (r *reader) days(f *field, text string) days         { return read(r, parseDays, f, text) }
func (r *reader) weekdays(f *field, text string) weekdays { return read(r, parseWeekdays, f, text) }
func (r *reader) years(f *field, text string) years       { return read(r, parseYears, f, text) }

func read[T any](r *reader, parse func(*field, string) (T, error), f *field, text string) (value T) {
	if r.err == nil {
		value, r.err = parse(f, text)
	}
	return value
}

// splitWords cuts text at spaces and tabs. An expression is one line of ASCII:
// other blanks look like separators and are not, so they are refused by name.
func splitWords(text string) ([]string, error) {
	if len(text) > maxExpression {
		return nil, refuse("cron", text, "at most 1000 characters", "the cron expression has %d characters", len(text))
	}
	trimmed := strings.Trim(text, " \t\r\n")
	for i, r := range trimmed {
		if r < ' ' && r != '\t' || r >= 0x7f {
			return nil, withFix(
				refuse("cron", trimmed, "printable ASCII, spaces and tabs", "character %d of %s is %U", i+1, quote(trimmed), r),
				"type the expression again with plain spaces, digits and letters")
		}
	}
	return strings.Fields(trimmed), nil
}

// maxExpression bounds an expression, in bytes. The longest one that says
// nothing twice has under 400.
const maxExpression = 1000
