package control

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// PlanAsked is the plan of a schedule that no job has, under the calendars as they
// are now.
func (s *Service) PlanAsked(ctx context.Context, tenant string, asked job.Schedule, anchor time.Time) (*schedule.Plan, error) {
	pinned, err := s.pin(ctx, tenant, asked)
	if err != nil {
		return nil, err
	}
	return s.Zones.CompileUnder(asked, anchor, pinned)
}

// samePins reports whether two revisions keep to the same content.
func samePins(a, b []job.PinnedCalendar) bool {
	return slices.EqualFunc(a, b, func(x, y job.PinnedCalendar) bool { return x.Name == y.Name && x.Version == y.Version })
}

// checkTried refuses calendars that a put cannot try.
func checkTried(r PutRequest) error {
	if len(r.Calendars) > 0 && !r.DryRun {
		return &job.Error{Code: job.CodeInvalid, Field: "calendars", Value: job.Shorten(r.Calendars[0].Name), Bound: "in a dry run alone",
			Message: "calendars are tried in a dry run, and no put writes them", Fix: "put the calendars first, and leave them out here"}
	}
	for _, c := range r.Calendars {
		if err := checkCalendar(c); err != nil {
			return err
		}
	}
	return nil
}

// pin reads the calendars that a schedule names, as they are now, or would be once
// those that are tried were put. What is not there is refused, all of it at once.
func (s *Service) pin(ctx context.Context, tenant string, written job.Schedule, tried ...job.Calendar) ([]job.PinnedCalendar, error) {
	var pinned []job.PinnedCalendar
	var unknown []string
	for _, name := range written.Calendars() {
		c, err := s.Calendars.Calendar(ctx, tenant, name)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(tried, func(t job.Calendar) bool { return t.Name == name }); i >= 0 {
			c = putOver(c, tried[i])
		}
		if c == nil || c.Deleted {
			unknown = append(unknown, name)
			continue
		}
		pinned = append(pinned, job.PinnedCalendar{Calendar: c.Calendar, Version: c.Version})
	}
	if len(unknown) == 0 {
		return pinned, nil
	}
	field := "schedule.exclude"
	if slices.Contains(written.Include, unknown[0]) {
		field = "schedule.include"
	}
	list := strings.Join(unknown, ", ")
	return nil, &job.Error{Code: job.CodeInvalid, Field: field, Value: job.Shorten(list), Message: "there is no calendar " + list, Fix: "make it with: belfry calendars put, or as a document beside the job for belfry apply; see belfry calendars list"}
}

// putOver is what a put of content makes of a stored calendar, if there is one.
func putOver(old *job.StoredCalendar, content job.Calendar) *job.StoredCalendar {
	switch {
	case old == nil:
		return &job.StoredCalendar{Calendar: content, Version: 1}
	case !old.Deleted && sameCalendar(old.Calendar, content):
		return old
	}
	return &job.StoredCalendar{Calendar: content, Version: old.Version + 1}
}
