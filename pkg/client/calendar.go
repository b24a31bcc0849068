package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Calendar is a stored calendar as the API shows it. Lists leave its content and
// its use out.
type Calendar struct {
	Calendar  string        `json:"calendar" doc:"Name of the calendar" example:"de-holidays"`
	Version   int           `json:"version" doc:"Raised by each change, from 1; it is also the ETag"`
	Days      int           `json:"days" doc:"How many dates and yearly days it holds"`
	Windows   int           `json:"windows" doc:"How many windows of the week it holds"`
	UpdatedAt Time          `json:"updated_at" format:"date-time"`
	ChangedBy Text          `json:"changed_by" nullable:"true" doc:"Who made the last change"`
	Content   *job.Calendar `json:"content,omitempty" doc:"The calendar itself; left out of lists"`
	Use       *CalendarUse  `json:"use,omitempty" doc:"Who keeps to it; left out of lists"`
}

// CalendarUse tells who keeps to a calendar.
type CalendarUse struct {
	Jobs   int  `json:"jobs" doc:"Jobs whose schedules name it"`
	Behind int  `json:"behind" doc:"Of those, jobs whose revision holds an older version: apply the calendar"`
	More   bool `json:"more" doc:"Whether there are more than were counted (1000)"`
}

// CalendarResult tells what a put of a calendar did or, in a dry run, would do.
type CalendarResult struct {
	Action  string           `json:"action" enum:"created,updated,unchanged"`
	DryRun  bool             `json:"dry_run" doc:"True when nothing was written"`
	Version int              `json:"version" doc:"Current version afterwards"`
	Use     CalendarUse      `json:"use"`
	Effects []CalendarEffect `json:"effects" nullable:"false" doc:"What it does to the first few jobs that name it, once it is applied"`
}

// CalendarEffect is what a calendar does to the coming times of one job.
type CalendarEffect struct {
	Job    string `json:"job"`
	Appear []Time `json:"appear" nullable:"false" doc:"Coming scheduled times that it adds, the first 20 compared"`
	Vanish []Time `json:"vanish" nullable:"false" doc:"Coming scheduled times that it takes away"`
}

// CalendarApplied tells what one call of an apply did.
type CalendarApplied struct {
	Changed    int  `json:"changed" doc:"Jobs that got a new revision"`
	Found      int  `json:"found" doc:"Jobs that name it without having been known to, as after a restore; they are known again"`
	PutOff     int  `json:"put_off" doc:"Jobs that cannot be changed now and stay behind"`
	NextCursor Text `json:"next_cursor" nullable:"true" doc:"Hand it back as cursor to go on; null = every job was looked at"`
}

// Calendar reads a calendar and who keeps to it.
func (c *Client) Calendar(ctx context.Context, name string) (Calendar, error) {
	var out Calendar
	return out, c.do(ctx, call{method: http.MethodGet, path: []string{"calendars", name}}, &out)
}

// Calendars reads one page of calendars by name. limit 0 = 100.
func (c *Client) Calendars(ctx context.Context, cursor string, limit int) (Page[Calendar], error) {
	var out Page[Calendar]
	return out, c.do(ctx, call{method: http.MethodGet, path: []string{"calendars"}, query: paging(cursor, limit)}, &out)
}

// PutCalendar makes the calendar or changes it. ifMatch 0 = any version.
func (c *Client) PutCalendar(ctx context.Context, content job.Calendar, ifMatch int, dryRun bool) (CalendarResult, error) {
	k := call{method: http.MethodPut, path: []string{"calendars", content.Name}, body: content, query: url.Values{}, header: http.Header{}, once: ifMatch != 0 && !dryRun}
	if dryRun {
		k.query.Set("dry_run", "true")
	}
	if ifMatch != 0 {
		k.header.Set("If-Match", fmt.Sprintf("%q", strconv.Itoa(ifMatch)))
	}
	var out CalendarResult
	return out, c.do(ctx, k, &out)
}

// DeleteCalendar ends a calendar that no job names. ifMatch 0 = any version.
func (c *Client) DeleteCalendar(ctx context.Context, name string, ifMatch int) error {
	k := call{method: http.MethodDelete, path: []string{"calendars", name}, header: http.Header{}}
	if ifMatch != 0 {
		k.header.Set("If-Match", fmt.Sprintf("%q", strconv.Itoa(ifMatch)))
	}
	return c.do(ctx, k, nil)
}

// ApplyCalendar gives some of the jobs that are behind a calendar what it holds now.
func (c *Client) ApplyCalendar(ctx context.Context, name, cursor string) (CalendarApplied, error) {
	k := call{method: http.MethodPost, path: []string{"calendars", name, "apply"}, query: url.Values{}}
	if cursor != "" {
		k.query.Set("cursor", cursor)
	}
	var out CalendarApplied
	return out, c.do(ctx, k, &out)
}
