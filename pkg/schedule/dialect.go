package schedule

import (
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

const knownDialects = "unix, quartz, aws, cronexpr"

// checkDialect refuses names that are no dialect and dialects that this build
// cannot read.
func checkDialect(d job.Dialect) error {
	if d == "" || grammars[d] != nil {
		return nil
	}
	if d == job.DialectQuartz || d == job.DialectAWS || d == job.DialectCronexpr {
		return withCode(job.CodeNotSupported, withFix(
			refuse("dialect", string(d), "unix", "this build does not have the dialect %s yet", d),
			"write the expression in the 5 fields of the dialect unix"))
	}
	return refuse("dialect", string(d), knownDialects, "%s is not a cron dialect", quote(string(d)))
}

// chooseGrammar fills in the dialect of a cron schedule and returns its
// grammar. Five fields without a dialect are unix; six or seven could be three
// different things, so they are refused with what each would mean.
func chooseGrammar(s *job.Schedule) (grammar, error) {
	if s.Dialect == "" {
		if words, err := splitWords(s.Cron); err == nil && readings[len(words)] != nil && !wrapped(words[0]) {
			return nil, refuseAmbiguous(s.Cron, words)
		}
		s.Dialect = job.DialectUnix
	}
	return grammars[s.Dialect], nil
}

// readings lists, for six and for seven fields, what each dialect would make
// of them.
var readings = map[int][]struct {
	dialect job.Dialect
	fields  []string
}{
	6: {
		{job.DialectQuartz, []string{"second", "minute", "hour", "day-of-month", "month", "day-of-week"}},
		{job.DialectAWS, []string{"minute", "hour", "day-of-month", "month", "day-of-week", "year"}},
		{job.DialectCronexpr, []string{"minute", "hour", "day-of-month", "month", "day-of-week", "year"}},
	},
	7: {
		{job.DialectQuartz, []string{"second", "minute", "hour", "day-of-month", "month", "day-of-week", "year"}},
		{job.DialectCronexpr, []string{"second", "minute", "hour", "day-of-month", "month", "day-of-week", "year"}},
	},
}

// wrapped tells whether an expression begins with something that is no field: a
// nickname, a zone, another system's wrapper.
func wrapped(word string) bool { return strings.ContainsAny(word, "@=(") }

func refuseAmbiguous(text string, words []string) error {
	var b strings.Builder
	for i, reading := range readings[len(words)] {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString("as " + string(reading.dialect) + ": ")
		for j, name := range reading.fields {
			if j > 0 {
				b.WriteString(", ")
			}
			b.WriteString(name + " " + job.Shorten(words[j]))
		}
	}
	return withCode(job.CodeScheduleDialect, withFix(
		refuse("cron", text, "5 fields unless dialect is given", "%d fields mean different things in different dialects: %s", len(words), b.String()),
		"remove the seconds or the year, or name the dialect"))
}
