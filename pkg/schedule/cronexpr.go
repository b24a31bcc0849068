package schedule

import "github.com/belfry-scheduler/belfry/pkg/job"

// The fields that only the longer dialects have.
var (
	secondField = &field{name: "second", min: 0, max: 59, stepMax: 59}
	yearField   = &field{name: "year", min: firstYear, max: lastYear, stepMax: lastYear, width: 4}
)

// cronexprNotation is how an expression of the dialect cronexpr is written.
var cronexprNotation = notation{
	dialect: job.DialectCronexpr,
	fewest:  5, most: 7,
	bound: "5 fields as unix, a sixth for the year, and with seven a first one for the second",
	nicknames: map[string]string{
		"@yearly":   "0 0 1 1 *",
		"@annually": "0 0 1 1 *",
		"@monthly":  "0 0 1 * *",
		"@weekly":   "0 0 * * 0",
		"@daily":    "0 0 * * *",
		"@hourly":   "0 * * * *",
	},
}

// parseCronexpr is the grammar of the dialect cronexpr: the five fields of
// unix, then the year if there are six, and the second in front if there are
// seven.
func parseCronexpr(text string) (fields, error) {
	words, err := cronexprNotation.words(text)
	if err != nil {
		return fields{}, err
	}
	second, year := "0", "*"
	if len(words) == 7 {
		second, words = words[0], words[1:]
	}
	if len(words) == 6 {
		year = words[5]
	}
	if year == "?" {
		return fields{}, withFix(refuse("year", year, yearField.bound(), "? is only allowed in the two day fields"),
			"write * for every year; if the first field is the second, name dialect quartz")
	}
	var r reader
	f := fields{
		seconds:  r.set(secondField, second),
		minutes:  r.set(minuteField, words[0]),
		hours:    r.set(hourField, words[1]),
		days:     r.days(dayField, words[2]),
		months:   r.set(monthField, words[3]),
		weekdays: r.weekdays(weekdayField, words[4]),
		years:    r.years(yearField, year),
	}
	return f, r.err
}
