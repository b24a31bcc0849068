package schedule

import (
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// The fields of the unix dialect, in the order in which they are written.
var (
	minuteField  = &field{name: "minute", min: 0, max: 59, stepMax: 59}
	hourField    = &field{name: "hour", min: 0, max: 23, stepMax: 23}
	dayField     = &field{name: "day-of-month", min: 1, max: 31, stepMax: 31, open: true}
	monthField   = &field{name: "month", min: 1, max: 12, stepMax: 12, names: monthNames}
	weekdayField = &field{name: "day-of-week", min: 0, max: 6, stepMax: 7, names: weekdayNames, open: true, week: true}
)

// nicknames stand for a whole expression of the unix dialect. They are lower
// case and stand alone.
var nicknames = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

// parseUnix is the grammar of the dialect unix: minute, hour, day of month,
// month and day of week, with L, W and #.
func parseUnix(text string) (fields, error) {
	words, err := splitUnix(text)
	if err != nil {
		return fields{}, err
	}
	f := fields{seconds: span(0, 0, 1)}
	if f.minutes, err = parseSet(minuteField, words[0]); err != nil {
		return fields{}, err
	}
	if f.hours, err = parseSet(hourField, words[1]); err != nil {
		return fields{}, err
	}
	if f.days, err = parseDays(dayField, words[2]); err != nil {
		return fields{}, err
	}
	if f.months, err = parseSet(monthField, words[3]); err != nil {
		return fields{}, err
	}
	if f.weekdays, err = parseWeekdays(weekdayField, words[4]); err != nil {
		return fields{}, err
	}
	return f, nil
}

// splitUnix cuts an expression into its five words.
func splitUnix(text string) ([]string, error) {
	words, err := splitWords(text)
	if err != nil {
		return nil, err
	}
	if len(words) > 0 && words[0][0] == '@' {
		long, known := nicknames[words[0]]
		if !known || len(words) != 1 {
			return nil, refuseNickname(words)
		}
		return strings.Fields(long), nil
	}
	if len(words) != 5 {
		return nil, refuseFieldCount(text, words)
	}
	return words, nil
}

func refuseNickname(words []string) error {
	const bound = "@yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly"
	err := refuse("cron", words[0], bound, "%s is not a nickname that the unix dialect knows", quote(words[0]))
	lower := strings.ToLower(words[0])
	switch {
	case nicknames[words[0]] != "":
		err.Message = quote(words[0]) + " stands for all five fields, nothing may follow it"
		return withFix(err, "remove "+quote(strings.Join(words[1:], " ")))
	case lower == "@every":
		return withFix(err, "use the schedule key every instead, such as every: 5m")
	case lower == "@reboot":
		return withFix(err, "nothing here boots: use a schedule key at, or run the job by hand")
	case nicknames[lower] != "":
		return withFix(err, "write "+lower+" in lower case")
	}
	return err
}

func refuseFieldCount(text string, words []string) error {
	const bound = "5 fields: minute hour day-of-month month day-of-week"
	err := refuse("cron", text, bound, "the unix dialect has 5 fields, %d given in %s", len(words), quote(text))
	if len(words) == 0 {
		err.Message = "the cron expression is empty"
		return err
	}
	first := strings.ToUpper(words[0])
	switch {
	case strings.HasPrefix(first, "TZ=") || strings.HasPrefix(first, "CRON_TZ="):
		return withFix(err, "name the zone in the schedule key zone")
	case strings.HasPrefix(first, "CRON(") || strings.HasPrefix(first, "RATE("):
		return withFix(err, "write the fields without the wrapper; rate(5 minutes) is every: 5m")
	case strings.HasPrefix(first, "P") && len(words) == 1:
		return withFix(err, "use the schedule key every for an interval, such as every: 5m")
	}
	return err
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

var _ grammar = parseUnix

// grammar turns the text of one dialect into fields, or says as a *job.Error
// which field is wrong. A grammar accepts nothing that it does not fully
// understand.
type grammar func(text string) (fields, error)

// grammars holds the dialects that this build reads.
var grammars = map[job.Dialect]grammar{
	job.DialectUnix: parseUnix,
}
