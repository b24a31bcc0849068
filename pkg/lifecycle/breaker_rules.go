package lifecycle

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// BreakerBound says what ParseBreakerRules takes.
const BreakerBound = "on, off, or some of failures=, within=, wait=, longest= and probes=, joined by commas"

// ParseBreakerRules reads the rules of an installation's circuit breakers; what the
// text does not say is as by default. on is false for "off": there are none. The
// error says what is wrong, to follow the text.
func ParseBreakerRules(text string) (r BreakerRules, on bool, err error) {
	r = DefaultBreakerRules()
	if text == "on" || text == "off" {
		return r, text == "on", nil
	}
	said := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if said[name] {
			return BreakerRules{}, false, errors.New("says " + job.Shorten(name) + " twice")
		}
		said[name] = true
		if err := r.set(name, value); err != nil {
			return BreakerRules{}, false, err
		}
	}
	if r.Longest < r.Wait {
		return BreakerRules{}, false, errors.New("has a longest wait of " + r.Longest.String() + " below the first one of " + r.Wait.String())
	}
	return r, true, nil
}

func (r *BreakerRules) set(name, value string) (err error) {
	switch name {
	case "failures":
		r.Failures, err = between(name, value, 2, 1000)
	case "probes":
		r.Probes, err = between(name, value, 1, 20)
	case "within":
		r.Within, err = lengthBetween(name, value, time.Second, time.Hour)
	case "wait":
		r.Wait, err = lengthBetween(name, value, time.Second, 15*time.Minute)
	case "longest":
		r.Longest, err = lengthBetween(name, value, time.Second, 15*time.Minute)
	default:
		err = errors.New("names \"" + job.Shorten(name) + "\", which is none of failures, within, wait, longest and probes")
	}
	return err
}

func between(name, text string, least, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, errors.New("has a value for " + name + " that is not within " + strconv.Itoa(least) + " to " + strconv.Itoa(most))
	}
	return n, nil
}

func lengthBetween(name, text string, least, most time.Duration) (time.Duration, error) {
	d, err := job.ParseDuration(text)
	if err != nil || d.Std() < least || d.Std() > most {
		return 0, errors.New("has a value for " + name + " that is not within " + job.Duration(least).String() + " to " + job.Duration(most).String())
	}
	return d.Std(), nil
}
