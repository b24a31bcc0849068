package schedule

import "github.com/belfry-scheduler/belfry/pkg/job"

// The fields of the unix dialect, in the order in which they are written.
var (
	minuteField  = &field{name: "minute", min: 0, max: 59, stepMax: 59}
	hourField    = &field{name: "hour", min: 0, max: 23, stepMax: 23}
	dayField     = &field{name: "day-of-month", min: 1, max: 31, stepMax: 31, open: true}
	monthField   = &field{name: "month", min: 1, max: 12, stepMax: 12, names: monthNames, bounds: "1-12 or a name jan-dec"}
	weekdayField = &field{name: "day-of-week", min: 0, max: 6, stepMax: 7, names: weekdayNames, bounds: "0-7 or a name sun-sat", open: true, week: true}
)

// unixNotation is how an expression of the dialect unix is written.
var unixNotation = notation{
	dialect: job.DialectUnix,
	fewest:  5, most: 5,
	bound: "5 fields: minute hour day-of-month month day-of-week",
	nicknames: map[string]string{
		"@yearly":   "0 0 1 1 *",
		"@annually": "0 0 1 1 *",
		"@monthly":  "0 0 1 * *",
		"@weekly":   "0 0 * * 0",
		"@daily":    "0 0 * * *",
		"@midnight": "0 0 * * *",
		"@hourly":   "0 * * * *",
	},
}

// parseUnix is the grammar of the dialect unix: minute, hour, day of month,
// month and day of week, with L, W and #.
func parseUnix(text string) (fields, error) {
	words, err := unixNotation.words(text)
	if err != nil {
		return fields{}, err
	}
	var r reader
	f := fields{
		seconds:  onTheFull,
		minutes:  r.set(minuteField, words[0]),
		hours:    r.set(hourField, words[1]),
		days:     r.days(dayField, words[2]),
		months:   r.set(monthField, words[3]),
		weekdays: r.weekdays(weekdayField, words[4]),
		years:    allYears,
	}
	return f, r.err
}
