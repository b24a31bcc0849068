package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// CalendarBody is job.Calendar as a request carries it.
type CalendarBody struct {
	_ struct{} `additionalProperties:"false"`

	Calendar string       `json:"calendar,omitempty" doc:"Name; may be left out, since the path says it" example:"de-holidays"`
	Zone     string       `json:"zone,omitempty" doc:"IANA time zone whose days and hours these are; default UTC" example:"Europe/Berlin"`
	Dates    []string     `json:"dates,omitempty" nullable:"false" doc:"Whole days, such as 2026-12-24; with the yearly ones up to 2000"`
	Yearly   []string     `json:"yearly,omitempty" nullable:"false" doc:"Whole days of every year, such as 12-25"`
	Weekly   []WindowBody `json:"weekly,omitempty" nullable:"false" doc:"Up to 50 windows of every week"`
}

// WindowBody is job.Window.
type WindowBody struct {
	_ struct{} `additionalProperties:"false"`

	Days string `json:"days" doc:"Weekdays as in a unix cron expression" example:"mon-fri"`
	From string `json:"from,omitempty" doc:"hh:mm, inclusive; default 00:00"`
	To   string `json:"to,omitempty" doc:"hh:mm, exclusive; default 24:00. Before from: it ends on the next day"`
}

type putCalendarInput struct {
	Calendar string `path:"calendar" doc:"Name of the calendar"`
	IfMatch  string `header:"If-Match" doc:"Version that must be current, in quotes"`
	DryRun   bool   `query:"dry_run" doc:"Only say what would happen"`
	Body     CalendarBody
}

type putCalendarOutput struct {
	ETag string `header:"ETag"`
	Body client.CalendarResult
}

type calendarInput struct {
	Calendar string `path:"calendar" doc:"Name of the calendar"`
}

type calendarOutput struct {
	ETag string `header:"ETag"`
	Body client.Calendar
}

type deleteCalendarInput struct {
	Calendar string `path:"calendar" doc:"Name of the calendar"`
	IfMatch  string `header:"If-Match" doc:"Version that must be current, in quotes"`
}

type calendarsOutput struct {
	Body client.Page[client.Calendar]
}

type applyCalendarInput struct {
	Calendar string `path:"calendar" doc:"Name of the calendar"`
	Cursor   string `query:"cursor" maxLength:"4096" doc:"The next_cursor of the call before; empty = from the first job"`
}

type applyCalendarOutput struct {
	Body client.CalendarApplied
}

func (a *api) registerCalendars() {
	const path = "/v1/calendars/{calendar}"
	register(a, huma.Operation{OperationID: "put-calendar", Method: http.MethodPut, Path: path, Tags: []string{"calendars"}, Summary: "Make a calendar or change it",
		Description: "Jobs that name it keep to the content that their revisions hold until the calendar is applied to them, or they are put anew."}, a.putCalendar)
	register(a, huma.Operation{OperationID: "get-calendar", Method: http.MethodGet, Path: path, Tags: []string{"calendars"}, Summary: "Read a calendar and who keeps to it"}, a.getCalendar)
	register(a, huma.Operation{OperationID: "list-calendars", Method: http.MethodGet, Path: "/v1/calendars", Tags: []string{"calendars"}, Summary: "List calendars by name"}, a.listCalendars)
	register(a, huma.Operation{OperationID: "delete-calendar", Method: http.MethodDelete, Path: path, Tags: []string{"calendars"}, Summary: "Delete a calendar", DefaultStatus: http.StatusNoContent,
		Description: "Refused while jobs name it. Deleting a deleted one answers 204 again."}, a.deleteCalendar)
	register(a, huma.Operation{OperationID: "apply-calendar", Method: http.MethodPost, Path: path + "/apply", Tags: []string{"calendars"}, Summary: "Give jobs what a calendar holds now",
		Description: "An edit of each job that holds an older version: a new revision. It changes up to some hundred jobs; call it with next_cursor until that is null. All jobs are looked through, so that none is left out that names the calendar without being known to. Harmless to repeat."}, a.applyCalendar)
}

func (b CalendarBody) calendar() job.Calendar {
	c := job.Calendar{Name: b.Calendar, Zone: b.Zone, Dates: b.Dates, Yearly: b.Yearly}
	for _, w := range b.Weekly {
		c.Weekly = append(c.Weekly, job.Window{Days: w.Days, From: w.From, To: w.To})
	}
	return c
}

func calendarOf(name string) error { return job.CheckName("calendar", name) }

func (a *api) putCalendar(ctx context.Context, in *putCalendarInput) (*putCalendarOutput, error) {
	content := in.Body.calendar()
	content.Name = in.Calendar
	if in.Body.Calendar != "" && in.Body.Calendar != in.Calendar {
		return nil, &job.Error{Code: job.CodeInvalid, Field: "calendar", Value: job.Shorten(in.Body.Calendar),
			Message: "the calendar is named \"" + job.Shorten(in.Body.Calendar) + "\" but was sent to \"" + job.Shorten(in.Calendar) + "\"", Fix: "use one name"}
	}
	version, err := parseETag(in.IfMatch)
	if err != nil {
		return nil, err
	}
	caller := callerOf(ctx)
	result, err := a.control.PutCalendar(ctx, control.CalendarRequest{Tenant: caller.Tenant, Calendar: content, Actor: caller.Principal, IfMatch: version, DryRun: in.DryRun})
	if err != nil {
		return nil, err
	}
	shown := client.CalendarResult{Action: string(result.Action), DryRun: in.DryRun, Version: result.Calendar.Version, Use: client.CalendarUse(result.Use), Effects: []client.CalendarEffect{}}
	for _, e := range result.Effects {
		shown.Effects = append(shown.Effects, client.CalendarEffect{Job: e.Job, Appear: showTimes(e.Appear), Vanish: showTimes(e.Vanish)})
	}
	return &putCalendarOutput{ETag: etag(result.Calendar.Version), Body: shown}, nil
}

func showCalendar(c *job.StoredCalendar) client.Calendar {
	return client.Calendar{Calendar: c.Name, Version: c.Version, Days: len(c.Dates) + len(c.Yearly), Windows: len(c.Weekly), UpdatedAt: client.At(c.UpdatedAt), ChangedBy: client.Text(c.ChangedBy)}
}

func (a *api) getCalendar(ctx context.Context, in *calendarInput) (*calendarOutput, error) {
	if err := calendarOf(in.Calendar); err != nil {
		return nil, err
	}
	c, use, err := a.control.GetCalendar(ctx, callerOf(ctx).Tenant, in.Calendar)
	if err != nil {
		return nil, err
	}
	shown, shownUse := showCalendar(c), client.CalendarUse(use)
	shown.Content, shown.Use = &c.Calendar, &shownUse
	return &calendarOutput{ETag: etag(c.Version), Body: shown}, nil
}

func (a *api) listCalendars(ctx context.Context, in *listInput) (*calendarsOutput, error) {
	list, next, err := a.control.ListCalendars(ctx, callerOf(ctx).Tenant, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	page := client.Page[client.Calendar]{Items: make([]client.Calendar, len(list)), NextCursor: client.Text(next)}
	for i := range list {
		page.Items[i] = showCalendar(&list[i])
	}
	return &calendarsOutput{Body: page}, nil
}

func (a *api) deleteCalendar(ctx context.Context, in *deleteCalendarInput) (*struct{}, error) {
	if err := calendarOf(in.Calendar); err != nil {
		return nil, err
	}
	version, err := parseETag(in.IfMatch)
	if err != nil {
		return nil, err
	}
	caller := callerOf(ctx)
	return nil, a.control.DeleteCalendar(ctx, control.CalendarRequest{Tenant: caller.Tenant, Calendar: job.Calendar{Name: in.Calendar}, Actor: caller.Principal, IfMatch: version})
}

func (a *api) applyCalendar(ctx context.Context, in *applyCalendarInput) (*applyCalendarOutput, error) {
	if err := calendarOf(in.Calendar); err != nil {
		return nil, err
	}
	caller := callerOf(ctx)
	done, err := a.control.ApplyCalendar(ctx, caller.Tenant, in.Calendar, caller.Principal, in.Cursor)
	if err != nil {
		return nil, err
	}
	return &applyCalendarOutput{Body: client.CalendarApplied{Changed: done.Changed, Found: done.Found, PutOff: done.PutOff, NextCursor: client.Text(done.Next)}}, nil
}
