package httpapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Filter selects executions in a list.
type Filter struct {
	Cursor   string   `query:"cursor" maxLength:"4096" doc:"next_cursor of the page before"`
	Limit    int      `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Most items of a page"`
	Status   []string `query:"status,explode" nullable:"false" enum:"SCHEDULED,RUNNING,RETRY_WAIT,SUCCEEDED,FAILED,DEAD,CANCELED,SKIPPED,MISSED,WITHDRAWN,NEEDS_REVIEW" doc:"Only these statuses; may be repeated"`
	Upcoming bool     `query:"upcoming" doc:"Also those whose time has not come"`
}

type jobExecutionsInput struct {
	Job string `path:"job" doc:"Name of the job"`
	Filter
}

type executionsOutput struct {
	Body client.Page[client.Execution]
}

type executionInput struct {
	ID string `path:"id" doc:"Id of the execution, such as nightly~20260712T013000Z~v3; that of another revision finds it too"`
}

type childrenInput struct {
	ID     string `path:"id" doc:"Id of the execution that fanned out"`
	Cursor string `query:"cursor" maxLength:"16" doc:"next_cursor of the page before"`
}

type timelineOutput struct {
	Body client.Page[client.Entry]
}

func (a *api) registerExecutions() {
	const order = "Newest scheduled time first. Executions whose time has not come are left out unless upcoming is set or status asks for SCHEDULED."
	register(a, huma.Operation{OperationID: "list-job-executions", Method: http.MethodGet, Path: "/v1/jobs/{job}/executions", Tags: []string{"executions"},
		Summary: "List the executions of a job", Description: order}, a.jobExecutions)
	register(a, huma.Operation{OperationID: "list-executions", Method: http.MethodGet, Path: "/v1/executions", Tags: []string{"executions"},
		Summary: "List the latest executions of all jobs", Description: order}, a.allExecutions)
	register(a, huma.Operation{OperationID: "get-execution", Method: http.MethodGet, Path: "/v1/executions/{id}", Tags: []string{"executions"}, Summary: "Read an execution"}, a.getExecution)
	register(a, huma.Operation{OperationID: "list-children", Method: http.MethodGet, Path: "/v1/executions/{id}/children", Tags: []string{"executions"},
		Summary: "List the children of an execution", Description: "In their order, up to 250 a page. An execution without children has none."}, a.children)
	register(a, huma.Operation{OperationID: "get-timeline", Method: http.MethodGet, Path: "/v1/executions/{id}/timeline", Tags: []string{"executions"},
		Summary: "Read how an execution came to be what it is", Description: "Oldest entry first. READY is a view: the time had come and nothing was written."}, a.getTimeline)
	register(a, huma.Operation{OperationID: "cancel-execution", Method: http.MethodPost, Path: "/v1/executions/{id}/cancel", Tags: []string{"executions"},
		Summary: "Cancel an execution", Description: "One that is not running ends at once; a running one is asked to stop (cancel is set, the status follows). One that has ended is a conflict."}, a.cancelExecution)
}

func (a *api) jobExecutions(ctx context.Context, in *jobExecutionsInput) (*executionsOutput, error) {
	ref, err := jobRef(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	return a.listExecutions(ctx, ref, in.Filter)
}

func (a *api) allExecutions(ctx context.Context, in *Filter) (*executionsOutput, error) {
	return a.listExecutions(ctx, job.Ref{Tenant: callerOf(ctx).Tenant}, *in)
}

func (a *api) listExecutions(ctx context.Context, ref job.Ref, in Filter) (*executionsOutput, error) {
	query := control.ExecutionQuery{Ref: ref, Cursor: in.Cursor, Limit: in.Limit}
	for _, s := range in.Status {
		query.Statuses = append(query.Statuses, job.Status(s))
	}
	list, next, err := a.control.ListExecutions(ctx, query, in.Upcoming)
	if err != nil {
		return nil, err
	}
	shown, err := a.showListed(ctx, list)
	if err != nil {
		return nil, err
	}
	return &executionsOutput{Body: client.Page[client.Execution]{Items: shown, NextCursor: client.Text(next)}}, nil
}

// executionKey takes an id apart; the key is looked up among the caller's jobs.
func executionKey(ctx context.Context, id string) (job.Ref, job.Key, error) {
	name, key, _, err := job.ParseID(id)
	if err != nil {
		return job.Ref{}, job.Key{}, err
	}
	return job.Ref{Tenant: callerOf(ctx).Tenant, Job: name}, key, nil
}

func (a *api) getExecution(ctx context.Context, in *executionInput) (*executionOutput, error) {
	view, err := a.execution(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	shown, err := a.showWhole(ctx, &view.Execution)
	shown.FanOut = showFanOut(view.FanOut)
	return &executionOutput{Body: shown}, err
}

func (a *api) execution(ctx context.Context, id string) (*control.ExecutionView, error) {
	ref, key, err := executionKey(ctx, id)
	if err != nil {
		return nil, err
	}
	view, err := a.control.GetExecution(ctx, ref, key)
	return view, asGiven(id, err)
}

// asGiven makes a refusal of an id show it as the caller wrote it, not as the
// key under which it is stored.
func asGiven(id string, err error) error {
	var known *job.Error
	if !errors.As(err, &known) || known.Field != "id" {
		return err
	}
	shown := *known
	shown.Value = job.Shorten(id)
	return &shown
}

func (a *api) children(ctx context.Context, in *childrenInput) (*executionsOutput, error) {
	ref, key, err := executionKey(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	page := 0
	if in.Cursor != "" {
		if page, err = strconv.Atoi(in.Cursor); err != nil {
			return nil, &job.Error{Code: job.CodeInvalid, Field: "cursor", Value: job.Shorten(in.Cursor), Message: "the cursor is none that this list gave", Fix: "begin without a cursor"}
		}
	}
	list, next, err := a.control.Children(ctx, ref, key, page)
	if err != nil {
		return nil, asGiven(in.ID, err)
	}
	shown, err := a.showListed(ctx, list)
	if err != nil {
		return nil, err
	}
	out := &executionsOutput{Body: client.Page[client.Execution]{Items: shown}}
	if next > 0 {
		out.Body.NextCursor = client.Text(strconv.Itoa(next))
	}
	return out, nil
}

func (a *api) getTimeline(ctx context.Context, in *executionInput) (*timelineOutput, error) {
	view, err := a.execution(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &timelineOutput{Body: client.Page[client.Entry]{Items: showTimeline(view, a.control.Clock.Now())}}, nil
}

func (a *api) cancelExecution(ctx context.Context, in *executionInput) (*executionOutput, error) {
	return a.onExecution(ctx, in.ID, func(ref job.Ref, key job.Key, actor string) (*job.Execution, error) {
		return a.control.Cancel(ctx, ref, key, actor)
	})
}
