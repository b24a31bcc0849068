package schedule

import (
	"fmt"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// lintWithoutClock warns of words about the wall clock in a schedule that has
// none: an interval, or one time.
func (l *linter) lintWithoutClock(z *zone) {
	what := "an interval, which follows elapsed time"
	if !l.written.At.IsZero() {
		what = "one instant"
	}
	for _, policy := range []struct{ field, value string }{{"gap", string(l.written.Gap)}, {"overlap", string(l.written.Overlap)}} {
		if policy.value != "" {
			l.warn(WarnNoClock, policy.field, fmt.Sprintf("%s %s says nothing about %s", policy.field, policy.value, what),
				"leave it out, or write times of day as a cron expression")
		}
	}
	const day = job.Duration(24 * time.Hour)
	if every := l.written.Every; every > 0 && every%day == 0 && z.changesForGood() {
		l.warn(WarnNoClock, "every", fmt.Sprintf("every %s counts hours, so that its time of day moves where the clocks of %s change", every, z.name),
			"write a cron expression if the time of day is meant, such as cron: 30 2 * * *")
	}
}

// changesForGood tells whether the zone's clock still changes at the end of all
// schedules, as far as anybody knows.
func (z *zone) changesForGood() bool {
	last := z.periods[len(z.periods)-1].start
	return len(z.periods) > 1 && instant(last).Year() >= lastYear-1
}
