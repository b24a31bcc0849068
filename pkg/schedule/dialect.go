package schedule

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

const knownDialects = "unix, quartz, aws, cronexpr"

// checkDialect refuses names that are no dialect.
func checkDialect(d job.Dialect) error {
	if d == "" || grammars[d] != nil {
		return nil
	}
	return refuse("dialect", string(d), knownDialects, "%s is not a cron dialect", quote(string(d)))
}

// chooseGrammar fills in the dialect of a cron schedule and returns its
// grammar. Five fields without a dialect are unix; six or seven could be three
// different things, so they are refused with what each would mean after the
// given instant.
func chooseGrammar(s *job.Schedule, after time.Time) (grammar, error) {
	if s.Dialect == "" {
		if words, err := splitWords(s.Cron); err == nil && readings[len(words)] != nil && !wrapped(words[0]) {
			return nil, refuseAmbiguous(*s, words, after)
		}
		s.Dialect = job.DialectUnix
	}
	return grammars[s.Dialect], nil
}

// readings lists, for six and for seven fields, what each dialect would make
// of them.
var readings = map[int][]reading{
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

// reading is how one dialect names the fields of an expression.
type reading struct {
	dialect job.Dialect
	fields  []string
}

// wrapped tells whether an expression begins with something that is no field: a
// nickname, a zone, another system's wrapper.
func wrapped(word string) bool { return strings.ContainsAny(word, "@=(") }

func refuseAmbiguous(s job.Schedule, words []string, after time.Time) error {
	var meanings []string
	for _, reading := range readings[len(words)] {
		var named []string
		for i, name := range reading.fields {
			named = append(named, name+" "+job.Shorten(words[i]))
		}
		meanings = append(meanings, "as "+string(reading.dialect)+": "+strings.Join(named, ", ")+" – "+reading.outcome(s, words, after))
	}
	return withCode(job.CodeScheduleDialect, withFix(
		refuse("cron", s.Cron, "5 fields unless dialect is given", "%d fields mean different things in different dialects: %s", len(words), strings.Join(meanings, "; ")),
		"remove the seconds or the year, or name the dialect"))
}

// outcome says when the schedule would fire next under a reading, or why it
// would be refused. Where a dialect only misses its question mark, it says when
// the expression with one would fire.
func (r reading) outcome(s job.Schedule, words []string, after time.Time) string {
	const shown = 3
	s.Dialect = r.dialect
	would := "would fire at "
	plan, err := Compile(s, after)
	if marked, ok := r.withQuestionMark(words); err != nil && ok {
		s.Cron = marked
		if mended, mendedErr := Compile(s, after); mendedErr == nil {
			plan, err, would = mended, nil, "written "+quote(marked)+" "+would
		}
	}
	if err != nil {
		var refusal *job.Error
		if errors.As(err, &refusal) {
			return "would be refused, " + refusal.Field + ": " + refusal.Message
		}
		return "would be refused, " + err.Error()
	}
	var times []string
	at, ok := plan.Next(after)
	for ; ok && len(times) < shown; at, ok = plan.Next(at) {
		times = append(times, at.Format(time.RFC3339))
	}
	if len(times) == 0 {
		return "would not fire any more"
	}
	return would + joined(times)
}

// withQuestionMark writes the expression with ? for a star in one of its day
// fields; false when the dialect wants none or neither field is a star.
func (r reading) withQuestionMark(words []string) (string, bool) {
	day := slices.Index(r.fields, "day-of-month")
	if r.dialect == job.DialectCronexpr || words[day] == "?" || words[day+2] == "?" {
		return "", false
	}
	for _, i := range []int{day + 2, day} {
		if words[i] == "*" {
			marked := slices.Clone(words)
			marked[i] = "?"
			return strings.Join(marked, " "), true
		}
	}
	return "", false
}
