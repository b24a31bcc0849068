package schedule

import (
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// The fields of the dialect aws, as the scheduler of that platform documents
// them: weekdays from 1 = Sunday, and no steps among weekdays. Its years go on
// to 2199; Belfry's calendar ends with 2099.
var (
	awsDay     = &field{name: "day-of-month", min: 1, max: 31, stepMax: 31, open: true, fromLast: true}
	awsMonth   = &field{name: "month", min: 1, max: 12, stepMax: 12, names: shortMonths, bounds: "1-12 or a name JAN-DEC"}
	awsWeekday = &field{name: "day-of-week", min: 1, max: 7, names: fromOne(shortWeekdays), bounds: "1-7 (1 = Sunday) or a name SUN-SAT", open: true}
)

// awsNotation is how an expression of the dialect aws is written.
var awsNotation = notation{
	dialect: job.DialectAWS,
	fewest:  6, most: 6,
	bound: "6 fields: minute hour day-of-month month day-of-week year",
	daily: "0 0 * * ? *",
}

// parseAWS is the grammar of the dialect aws, with or without cron(…) around
// the fields.
func parseAWS(text string) (fields, error) {
	words, err := awsNotation.words(unwrapped(text))
	if err != nil {
		return fields{}, err
	}
	if err := oneQuestionMark(job.DialectAWS, words[2], words[4]); err != nil {
		return fields{}, err
	}
	var r reader
	f := fields{
		seconds:  onTheFull,
		minutes:  r.set(minuteField, words[0]),
		hours:    r.set(hourField, words[1]),
		days:     r.days(awsDay, words[2]),
		months:   r.set(awsMonth, words[3]),
		weekdays: read(&r, parseOneBased, awsWeekday, words[4]),
		years:    r.years(yearField, words[5]),
	}
	return f, r.err
}

// unwrapped takes cron( and ) off, if both are there.
func unwrapped(text string) string {
	trimmed := strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(trimmed, "cron("); ok {
		if inner, ok = strings.CutSuffix(inner, ")"); ok {
			return inner
		}
	}
	return text
}
