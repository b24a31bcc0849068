package schedule

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// FiresAfter refuses a schedule that a job cannot be created with, or edited
// to, at now: SCHEDULE_NEVER_FIRES when no time lies between its start and its
// end, SCHEDULE_IN_THE_PAST when all of them have gone by.
func FiresAfter(p *Plan, now time.Time) error {
	if _, ok := p.Next(now); ok {
		return nil
	}
	value := p.source()
	if _, ok := p.next(-1); !ok {
		return withCode(job.CodeScheduleNever, withFix(
			refuse("schedule", value, "", "%s has no time between its start and its end that its policies keep", quote(value)),
			"move start or end, or change the times; a time that clocks jump over fires under gap SHIFT_FORWARD only"))
	}
	return withCode(job.CodeSchedulePast, withFix(
		refuse("schedule", value, "", "%s has no time after %s", quote(value), now.UTC().Format(time.RFC3339)),
		"choose a time in the future, or a later end"))
}

// source is the schedule's own text.
func (p *Plan) source() string {
	switch s := p.schedule; {
	case s.Cron != "":
		return s.Cron
	case s.Every != 0:
		return "every " + s.Every.String()
	default:
		return "at " + s.At.Format(time.RFC3339)
	}
}
