package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// stamp is an instant on a zone's wall clock with its offset.
func stamp(t time.Time, zone *time.Location) string {
	if zone == time.UTC {
		return t.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return t.In(zone).Format("2006-01-02 15:04:05 -07:00")
}

// when is a stamp and how far it lies from now; "-" for an absent time.
func (a *app) when(t client.Time, zone *time.Location) string {
	if t.IsZero() {
		return "-"
	}
	return stamp(t.Time, zone) + " (" + distance(t.Sub(a.now())) + ")"
}

// distance says in two units at most how far a time lies ahead or behind.
func distance(d time.Duration) string {
	if d > -time.Second && d < time.Second {
		return "now"
	}
	if d < 0 {
		return span(-d) + " ago"
	}
	return "in " + span(d)
}

// span is a length of time in its two largest units; below a second in ms.
func span(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	units := []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}}
	for i, u := range units {
		if d < u.length {
			continue
		}
		text := fmt.Sprintf("%d %s", d/u.length, u.name)
		if i+1 < len(units) {
			if rest := d % u.length / units[i+1].length; rest > 0 {
				text += fmt.Sprintf(" %d %s", rest, units[i+1].name)
			}
		}
		return text
	}
	return "0 s"
}

// zoneOf is the zone of a job's schedule; UTC when it can no longer be read.
func zoneOf(s job.Schedule) *time.Location {
	plan, err := schedule.Compile(job.Schedule{Every: job.Duration(time.Second), Zone: s.Zone}, time.Time{})
	if err != nil {
		return time.UTC
	}
	if plan.Location().String() == "UTC" {
		return time.UTC
	}
	return plan.Location()
}

// scheduleText is a schedule in the words of a job file, for tables.
func scheduleText(s job.Schedule) string {
	switch {
	case s.Cron != "" && s.Zone != "" && s.Zone != job.DefaultZone:
		return s.Cron + "  " + s.Zone
	case s.Cron != "":
		return s.Cron
	case s.Every != 0:
		return "every " + s.Every.String()
	case !s.At.IsZero():
		return "at " + s.At.Format(time.RFC3339)
	}
	return "-"
}

// describe is a schedule in plain words, or as written when it cannot be read.
// What an interval without start is counted from, the service alone knows.
func describe(s job.Schedule) string {
	if s.Every != 0 && s.Start.IsZero() {
		text := scheduleText(s)
		if !s.End.IsZero() {
			text += ", not after " + s.End.UTC().Format(time.RFC3339)
		}
		return text
	}
	plan, err := schedule.Compile(s.Bare(), time.Time{})
	if err != nil {
		return scheduleText(s)
	}
	text := plan.Describe()
	if len(s.Include) > 0 {
		text += ", only within " + strings.Join(s.Include, ", ")
	}
	if len(s.Exclude) > 0 {
		text += ", not within " + strings.Join(s.Exclude, ", ")
	}
	if s.OnExcluded != "" && s.OnExcluded != job.ExcludedSkip {
		text += " (" + string(s.OnExcluded) + ")"
	}
	return text
}

func orDash[T ~string](text T) string {
	if text == "" {
		return "-"
	}
	return safe(string(text))
}
