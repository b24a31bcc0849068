package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/belfry-scheduler/belfry/cmd/belfry/jobfile"
	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// appliedCalendar is one calendar of an apply's answer.
type appliedCalendar struct {
	Calendar string `json:"calendar"`
	client.CalendarResult
	File string `json:"file"`
	Line int    `json:"line"`
}

// putCalendars sends every calendar and answers in the files' order; of one that is
// refused the action stays empty.
func (a *app) putCalendars(ctx context.Context, api *client.Client, calendars []jobfile.Calendar, dryRun bool) ([]appliedCalendar, error) {
	answers := make([]appliedCalendar, len(calendars))
	refused, err := a.sendAll(ctx, "calendars", dryRun, len(calendars), func(ctx context.Context, i int) error {
		c := &calendars[i]
		result, err := api.PutCalendar(ctx, c.Content, 0, dryRun)
		answers[i] = appliedCalendar{Calendar: c.Content.Name, CalendarResult: result, File: c.File, Line: c.Line}
		return err
	})
	return answers, refusedOf(refused, err, func(i int, e *job.Error) string {
		e.Line = calendars[i].LineOf(e.Field)
		return calendars[i].File
	})
}

// recount asks who is still behind a calendar, now that the jobs of the files are not.
func (a *app) recount(ctx context.Context, api *client.Client, calendars []appliedCalendar) error {
	for i := range calendars {
		c := &calendars[i]
		if c.Action == "unchanged" && c.Use.Behind == 0 {
			continue
		}
		now, err := api.Calendar(ctx, c.Calendar)
		if err != nil {
			return err
		}
		c.Use = *now.Use
	}
	return nil
}

// add puts calendars into the answer.
func (answer *applyAnswer) add(calendars []appliedCalendar) {
	answer.Calendars = append([]appliedCalendar{}, calendars...)
	answer.Changes += changedCalendars(calendars)
}

func changedCalendars(calendars []appliedCalendar) (n int) {
	for _, c := range calendars {
		if c.Action != "" && c.Action != "unchanged" {
			n++
		}
	}
	return n
}

// countText says how many of what an apply names would change.
func (answer *applyAnswer) countText() string {
	changed := changedCalendars(answer.Calendars)
	jobs := fmt.Sprintf("%d of %d jobs", answer.Changes-changed, len(answer.Jobs))
	if len(answer.Calendars) == 0 {
		return jobs
	}
	return fmt.Sprintf("%d of %d calendars and %s", changed, len(answer.Calendars), jobs)
}

// showCalendars shows what became of calendars, and what they do to jobs that no file
// names; the others have lines of their own.
func (a *app) showCalendars(answer applyAnswer) {
	for _, c := range answer.Calendars {
		c.Effects = slices.DeleteFunc(slices.Clone(c.Effects), func(e client.CalendarEffect) bool {
			return slices.ContainsFunc(answer.Jobs, func(j applied) bool { return j.Job == e.Job })
		})
		a.showCalendarResult(c.Calendar, c.CalendarResult, true)
	}
}
