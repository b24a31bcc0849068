package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

type putInput struct {
	Job         string `path:"job" doc:"Name of the job"`
	IfMatch     string `header:"If-Match" doc:"Revision that must be current, in quotes, such as \"3\""`
	IfNoneMatch string `header:"If-None-Match" doc:"* refuses when the job exists"`
	DryRun      bool   `query:"dry_run" doc:"Only say what would happen"`
	EffectiveAt string `query:"effective_at" doc:"An edit takes effect after this RFC 3339 instant, up to a year ahead: times up to it are those of the definition before. Default: at once"`
	Body        PutBody
}

// PutBody is a definition, and calendars that it is tried under.
type PutBody struct {
	_ struct{} `additionalProperties:"false"`
	Definition

	Calendars []CalendarBody `json:"calendars,omitempty" nullable:"false" maxItems:"5" doc:"With dry_run alone: calendars that are taken to hold this, whether they are there or not"`
}

type putOutput struct {
	Status int
	ETag   string `header:"ETag"`
	Body   client.PutResult
}

type jobInput struct {
	Job string `path:"job" doc:"Name of the job"`
}

type jobOutput struct {
	ETag string `header:"ETag"`
	Body client.Job
}

type listInput struct {
	Cursor string `query:"cursor" maxLength:"4096" doc:"next_cursor of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Most items of a page"`
}

type jobsOutput struct {
	Body client.Page[client.Job]
}

type deleteInput struct {
	Job     string `path:"job" doc:"Name of the job"`
	IfMatch string `header:"If-Match" doc:"Revision that must be current, in quotes"`
}

type nextInput struct {
	Job   string `path:"job" doc:"Name of the job"`
	Count int    `query:"count" minimum:"1" maximum:"1000" default:"5" doc:"How many times"`
	After string `query:"after" doc:"Strictly after this RFC 3339 instant; default now"`
}

type firesOutput struct {
	Body client.Fires
}

func (a *api) registerJobs() {
	register(a, huma.Operation{OperationID: "put-job", Method: http.MethodPut, Path: "/v1/jobs/{job}", Tags: []string{"jobs"}, Summary: "Create or edit a job",
		Description: "The same definition again changes nothing (action unchanged). 201 when the job was created."}, a.putJob)
	answers := a.huma.OpenAPI().Paths["/v1/jobs/{job}"].Put.Responses
	created := *answers["200"]
	created.Description = "The job was created"
	answers["201"] = &created
	register(a, huma.Operation{OperationID: "get-job", Method: http.MethodGet, Path: "/v1/jobs/{job}", Tags: []string{"jobs"}, Summary: "Read a job with its definition"}, a.getJob)
	register(a, huma.Operation{OperationID: "list-jobs", Method: http.MethodGet, Path: "/v1/jobs", Tags: []string{"jobs"}, Summary: "List jobs", Description: "In no promised order, without definitions."}, a.listJobs)
	register(a, huma.Operation{OperationID: "delete-job", Method: http.MethodDelete, Path: "/v1/jobs/{job}", Tags: []string{"jobs"}, Summary: "Delete a job", DefaultStatus: http.StatusNoContent,
		Description: "Deleting a deleted job answers 204 again; only a name that never was a job is 404. Its history stays until retention ends."}, a.deleteJob)
	register(a, huma.Operation{OperationID: "next-fires", Method: http.MethodGet, Path: "/v1/jobs/{job}/next", Tags: []string{"jobs"}, Summary: "Preview a job's coming times",
		Description: "A job that is not enabled has none."}, a.nextFires)
}

func (a *api) putJob(ctx context.Context, in *putInput) (*putOutput, error) {
	ref, err := jobRef(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	request := control.PutRequest{Ref: ref, Actor: callerOf(ctx).Principal, DryRun: in.DryRun}
	if request.IfMatch, err = parseETag(in.IfMatch); err != nil {
		return nil, err
	}
	switch in.IfNoneMatch {
	case "":
	case "*":
		request.IfAbsent = true
	default:
		return nil, &job.Error{Code: job.CodeInvalid, Field: "If-None-Match", Value: job.Shorten(in.IfNoneMatch), Bound: "*", Message: "only * is understood", Fix: "send If-None-Match: *, or leave it out"}
	}
	if request.Definition, err = in.Body.definition(); err != nil {
		return nil, err
	}
	if request.EffectiveAt, err = effectiveAt(in.EffectiveAt); err != nil {
		return nil, err
	}
	for _, c := range in.Body.Calendars {
		request.Calendars = append(request.Calendars, c.calendar())
	}
	result, err := a.control.Put(ctx, request)
	if err != nil {
		return nil, err
	}
	out := &putOutput{Status: http.StatusOK, ETag: etag(result.Head.Revision), Body: a.showPut(ctx, result, request.Definition, in.DryRun)}
	if result.Action == control.Created && !in.DryRun {
		out.Status = http.StatusCreated
	}
	return out, nil
}

// effectiveAt reads when an edit takes effect; absent is at once.
func effectiveAt(text string) (time.Time, error) {
	var r reading
	at := r.instant("effective_at", text)
	return at, r.err()
}

func etag(revision int) string { return strconv.Quote(strconv.Itoa(revision)) }

// parseETag reads If-Match; absent is 0.
func parseETag(text string) (int, error) {
	if text == "" {
		return 0, nil
	}
	inner, err := strconv.Unquote(text)
	revision, numberErr := strconv.Atoi(inner)
	if err != nil || numberErr != nil || revision < 1 || text != etag(revision) {
		return 0, &job.Error{Code: job.CodeInvalid, Field: "If-Match", Value: job.Shorten(text), Bound: `one revision in quotes, such as "3"`,
			Message: "the value names no revision", Fix: "send the ETag that reading the job gave"}
	}
	return revision, nil
}

func (a *api) getJob(ctx context.Context, in *jobInput) (*jobOutput, error) {
	ref, err := jobRef(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	view, err := a.control.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	shown := a.showJob(ctx, &view.Head)
	shown.Definition, shown.Waiting = &view.Definition, view.Waiting
	return &jobOutput{ETag: etag(shown.Revision), Body: shown}, nil
}

func (a *api) listJobs(ctx context.Context, in *listInput) (*jobsOutput, error) {
	heads, next, err := a.control.List(ctx, callerOf(ctx).Tenant, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	page := client.Page[client.Job]{Items: make([]client.Job, len(heads)), NextCursor: client.Text(next)}
	for i := range heads {
		page.Items[i] = a.showJob(ctx, &heads[i])
	}
	return &jobsOutput{Body: page}, nil
}

func (a *api) deleteJob(ctx context.Context, in *deleteInput) (*struct{}, error) {
	ref, err := jobRef(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	revision, err := parseETag(in.IfMatch)
	if err != nil {
		return nil, err
	}
	_, err = a.control.Delete(ctx, ref, callerOf(ctx).Principal, revision)
	return nil, err
}

func (a *api) nextFires(ctx context.Context, in *nextInput) (*firesOutput, error) {
	ref, err := jobRef(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	var after time.Time
	if in.After != "" {
		if after, err = schedule.ParseTime("after", in.After); err != nil {
			return nil, err
		}
	}
	fires, err := a.control.NextFires(ctx, ref, after, in.Count)
	if err != nil {
		return nil, err
	}
	view, err := a.control.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	course, err := a.control.CourseOf(ctx, &view.Head)
	if err != nil {
		return nil, err
	}
	if after.IsZero() {
		after = a.control.Clock.Now()
	}
	return &firesOutput{Body: showFires(course[0].Plan, course.DescribeAt(after), view.Head.Schedule, fires, in.Count)}, nil
}
