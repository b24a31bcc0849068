package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// BackfillBody asks for a backfill.
type BackfillBody struct {
	_ struct{} `additionalProperties:"false"`

	From  string  `json:"from" maxLength:"64" doc:"RFC 3339 instant; scheduled times at and after it"`
	To    string  `json:"to,omitempty" maxLength:"64" doc:"RFC 3339 instant, not in the future; scheduled times up to it; default now"`
	Rate  float64 `json:"rate,omitempty" minimum:"0.001" maximum:"10" doc:"Executions a second at most; default 1"`
	Rerun bool    `json:"rerun,omitempty" doc:"Run again what has an execution that has ended, under the same idempotency key and a higher fencing token"`
	Force bool    `json:"force,omitempty" doc:"Also times whose history is no longer kept: they may have run"`
}

type backfillInput struct {
	Job    string `path:"job" doc:"Name of the job"`
	DryRun bool   `query:"dry_run" doc:"Only say what would happen"`
	Body   BackfillBody
}

type backfillAnswerOutput struct {
	Status   int
	Location string `header:"Location"`
	Body     client.BackfillAnswer
}

type backfillsInput struct {
	Job    string `path:"job" doc:"Name of the job"`
	Cursor string `query:"cursor" maxLength:"4096" doc:"next_cursor of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Most items of a page"`
}

type backfillsOutput struct {
	Body client.Page[client.Backfill]
}

type oneBackfillInput struct {
	Job      string `path:"job" doc:"Name of the job"`
	Backfill string `path:"backfill" maxLength:"64" doc:"Id of the backfill"`
}

type backfillOutput struct {
	Body client.Backfill
}

func (a *api) registerBackfills() {
	const path = "/v1/jobs/{job}/backfills"
	register(a, huma.Operation{OperationID: "backfill-job", Method: http.MethodPost, Path: path, Tags: []string{"backfills"}, Summary: "Make the executions of times that have passed", DefaultStatus: http.StatusCreated,
		Description: "For scheduled times without an execution, under the job's current revision, at a rate; at most 100 000 times. A dry run (200) counts them."}, a.backfillJob)
	answers := a.huma.OpenAPI().Paths[path].Post.Responses
	dry := *answers["201"]
	dry.Description = "A dry run: nothing was made"
	dry.Headers = nil
	answers["200"] = &dry
	register(a, huma.Operation{OperationID: "list-backfills", Method: http.MethodGet, Path: path, Tags: []string{"backfills"}, Summary: "List a job's backfills, newest first",
		Description: "Those that its misfire policy makes at a rate are among them."}, a.listBackfills)
	register(a, huma.Operation{OperationID: "get-backfill", Method: http.MethodGet, Path: path + "/{backfill}", Tags: []string{"backfills"}, Summary: "Read a backfill and how far it has come"}, a.getBackfill)
	register(a, huma.Operation{OperationID: "cancel-backfill", Method: http.MethodPost, Path: path + "/{backfill}/cancel", Tags: []string{"backfills"}, Summary: "Cancel a backfill",
		Description: "It makes no more, and what it made that has not begun is canceled; what runs goes on. May be repeated; one that is done is a conflict."}, a.cancelBackfill)
}

func (a *api) backfillJob(ctx context.Context, in *backfillInput) (*backfillAnswerOutput, error) {
	ref, err := jobRef(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	var r reading
	request := control.BackfillRequest{Ref: ref, From: r.instant("from", in.Body.From), To: r.instant("to", in.Body.To), Rate: in.Body.Rate, Rerun: in.Body.Rerun,
		Force: in.Body.Force, DryRun: in.DryRun, Actor: callerOf(ctx).Principal}
	if err := r.err(); err != nil {
		return nil, err
	}
	result, err := a.control.Backfill(ctx, request)
	if err != nil {
		return nil, err
	}
	out := &backfillAnswerOutput{Status: http.StatusCreated, Body: client.BackfillAnswer{Backfill: showBackfill(&result.Backfill), DryRun: in.DryRun, JobState: result.Job}}
	if in.DryRun {
		out.Status, out.Body.There = http.StatusOK, &result.There
		return out, nil
	}
	out.Location = "/v1/jobs/" + ref.Job + "/backfills/" + result.Backfill.ID
	return out, nil
}

func (a *api) listBackfills(ctx context.Context, in *backfillsInput) (*backfillsOutput, error) {
	ref, err := jobRef(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	found, next, err := a.control.ListBackfills(ctx, ref, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	page := client.Page[client.Backfill]{Items: make([]client.Backfill, len(found)), NextCursor: client.Text(next)}
	for i := range found {
		page.Items[i] = showBackfill(&found[i])
	}
	return &backfillsOutput{Body: page}, nil
}

func (a *api) getBackfill(ctx context.Context, in *oneBackfillInput) (*backfillOutput, error) {
	ref, err := jobRef(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	b, err := a.control.GetBackfill(ctx, ref, in.Backfill)
	if err != nil {
		return nil, err
	}
	return &backfillOutput{Body: showBackfill(b)}, nil
}

func (a *api) cancelBackfill(ctx context.Context, in *oneBackfillInput) (*backfillOutput, error) {
	ref, err := jobRef(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	b, err := a.control.CancelBackfill(ctx, ref, in.Backfill, callerOf(ctx).Principal)
	if err != nil {
		return nil, err
	}
	return &backfillOutput{Body: showBackfill(b)}, nil
}

// showBackfill is a backfill as people read it.
func showBackfill(b *job.Backfill) client.Backfill {
	return client.Backfill{ID: client.Text(b.ID), Job: b.Job, State: b.State, From: client.At(b.From), To: client.At(b.To), Count: b.Total, Made: b.Made, Skipped: b.Skipped,
		Revision: b.Revision, Rate: b.Rate, Rerun: b.Rerun, Force: b.Kept == 0 && b.Actor != "", Reason: client.Text(b.Reason), Actor: client.Text(b.Actor),
		CreatedAt: client.At(b.CreatedAt), DoneAt: client.At(b.DoneAt), EndReason: client.Text(b.EndReason), CanceledBy: client.Text(b.EndedBy)}
}
