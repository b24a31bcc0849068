package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// notation is how a dialect writes an expression as a whole: how many fields,
// and which words stand for all of them.
type notation struct {
	dialect      job.Dialect
	fewest, most int
	bound        string            // the fields, for people
	nicknames    map[string]string // lower case; each stands alone
	daily        string            // midnight in this dialect, where there are no nicknames
}

// words cuts an expression into its fields and refuses, by name, what is
// written in another system's way.
func (n *notation) words(text string) ([]string, error) {
	words, err := splitWords(text)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, refuse("cron", text, n.bound, "the cron expression is empty")
	}
	if words[0][0] == '@' {
		long, known := n.nicknames[words[0]]
		if !known || len(words) != 1 {
			return nil, n.refuseNickname(words)
		}
		return strings.Fields(long), nil
	}
	if err := n.refuseForeign(text, words); err != nil {
		return nil, err
	}
	if len(words) < n.fewest || len(words) > n.most {
		return nil, n.refuseCount(text, len(words))
	}
	return words, nil
}

func (n *notation) refuseCount(text string, given int) error {
	has := fmt.Sprint(n.fewest)
	if n.most > n.fewest {
		has += " to " + fmt.Sprint(n.most)
	}
	err := refuse("cron", text, n.bound, "the %s dialect has %s fields, %d given in %s", n.dialect, has, given, quote(text))
	switch {
	case n.dialect == job.DialectUnix && readings[given] != nil:
		return withFix(err, "name the dialect that was meant, quartz, aws or cronexpr, or remove the seconds or the year")
	case given == 5:
		return withFix(err, "five fields are the dialect unix")
	}
	return err
}

func (n *notation) refuseNickname(words []string) error {
	known := slices.Sorted(maps.Keys(n.nicknames))
	bound := strings.Join(known, ", ")
	if len(known) == 0 {
		bound = "no nicknames, only fields"
	}
	err := refuse("cron", words[0], bound, "%s is not a nickname that the %s dialect knows", quote(words[0]), n.dialect)
	lower := strings.ToLower(words[0])
	switch {
	case n.nicknames[words[0]] != "":
		err.Message = quote(words[0]) + " stands for all the fields, nothing may follow it"
		return withFix(err, "remove "+quote(strings.Join(words[1:], " ")))
	case lower == "@every":
		return withFix(err, "use the schedule key every instead, such as every: 5m")
	case lower == "@reboot":
		return withFix(err, "nothing here boots: use a schedule key at, or run the job by hand")
	case n.nicknames[lower] != "":
		return withFix(err, "write "+lower+" in lower case")
	case lower == "@midnight" && n.nicknames["@daily"] != "":
		return withFix(err, "write @daily")
	case len(known) == 0 && unixNotation.nicknames[lower] != "":
		return withFix(err, "write the fields, such as "+n.daily+" for every midnight, or use the dialect unix")
	}
	return err
}

// refuseForeign refuses what begins with something that is no field: a zone,
// another system's wrapper, a duration; nil for anything else.
func (n *notation) refuseForeign(text string, words []string) error {
	refused := func(message, fix string) error {
		return withFix(refuse("cron", text, "fields alone", "%s", message), fix)
	}
	first := strings.ToUpper(words[0])
	switch {
	case strings.HasPrefix(first, "TZ=") || strings.HasPrefix(first, "CRON_TZ="):
		return refused("a zone stands in front of the fields in "+quote(text), "name the zone in the schedule key zone")
	case strings.HasPrefix(first, "CRON(") && n.dialect == job.DialectAWS:
		return refused("the wrapper in "+quote(text)+" is not cron( in lower case, six fields and )", "write cron(…) once around all of the fields, or leave it out")
	case strings.HasPrefix(first, "CRON("):
		return refused("the wrapper cron(…) in "+quote(text)+" belongs to the dialect aws, in lower case", "name dialect aws, or write the fields without the wrapper")
	case strings.HasPrefix(first, "RATE("):
		return refused(quote(text)+" is an interval, not a cron expression", "use the schedule key every instead of cron: "+rateAsEvery(text))
	case strings.HasPrefix(first, "AT("):
		return refused(quote(text)+" is one time, not a cron expression", "use the schedule key at instead of cron, such as at: 2026-07-12T01:30:00Z")
	case first[0] == 'P' && len(words) == 1, first == "EVERY", isDuration(words):
		return refused(quote(text)+" is not a cron expression", "use the schedule key every for an interval, such as every: 5m")
	}
	return nil
}

func isDuration(words []string) bool {
	_, err := job.ParseDuration(words[0])
	return len(words) == 1 && err == nil
}

// rateAsEvery writes rate(n unit) as the schedule key that means the same. What
// is no such rate is answered with an example.
func rateAsEvery(text string) string {
	var n int
	var unit string
	inner := strings.TrimSuffix(strings.TrimSpace(text), ")")
	if _, err := fmt.Sscanf(inner[strings.IndexByte(inner, '(')+1:], "%d %s", &n, &unit); err == nil && n > 0 {
		for long, short := range map[string]string{"minute": "m", "hour": "h", "day": "d"} {
			if unit == long || unit == long+"s" {
				return fmt.Sprintf("every: %d%s", n, short)
			}
		}
	}
	return "such as every: 5m for rate(5 minutes)"
}
