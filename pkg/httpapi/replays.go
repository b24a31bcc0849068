package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

type replayInput struct {
	ID             string `path:"id" doc:"Id of the dead letter"`
	FromScratch    bool   `query:"from_scratch" doc:"Begin anew: do not go on from what the execution has saved (its checkpoint)"`
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"255" doc:"Makes the request safe to repeat: the same key gives the same replay"`
}

// ReplaysBody selects which dead letters a run replays.
type ReplaysBody struct {
	_ struct{} `additionalProperties:"false"`

	Job     string   `json:"job,omitempty" maxLength:"64" doc:"Only of this job"`
	Type    string   `json:"type,omitempty" maxLength:"64" doc:"Only of jobs of this type"`
	Code    []string `json:"code,omitempty" nullable:"false" doc:"Only with one of these error codes"`
	Status  []string `json:"status,omitempty" nullable:"false" enum:"FAILED,DEAD,NEEDS_REVIEW" doc:"Only FAILED, or only DEAD"`
	Since   string   `json:"since,omitempty" maxLength:"64" doc:"RFC 3339 instant: only what ended at or after it"`
	Until   string   `json:"until,omitempty" maxLength:"64" doc:"RFC 3339 instant: only what ended at or before it; never later than the run was named"`
	All     bool     `json:"all,omitempty" doc:"Needed when nothing else selects"`
	Scratch bool     `json:"from_scratch,omitempty" doc:"Begin anew: none goes on from what it had saved (its checkpoint)"`
	Again   bool     `json:"again,omitempty" doc:"Also what has been replayed or closed"`
	Run     string   `json:"run,omitempty" maxLength:"64" doc:"Name of the run, as an earlier page or a dry run gave it; default a new one"`
	Cursor  string   `json:"cursor,omitempty" maxLength:"4096" doc:"next_cursor of the page before"`
	Limit   int      `json:"limit,omitempty" minimum:"1" maximum:"100" default:"100" doc:"Most replays of a page"`
}

type replaysInput struct {
	DryRun bool `query:"dry_run" doc:"Only say which"`
	Body   ReplaysBody
}

type replaysOutput struct {
	Body client.Replays
}

func (a *api) registerReplays() {
	register(a, huma.Operation{OperationID: "replay-execution", Method: http.MethodPost, Path: "/v1/executions/{id}/replay", Tags: []string{"dead letters"}, Summary: "Replay a dead letter", DefaultStatus: http.StatusCreated,
		Description: "Makes a new execution at once, under the job's current revision and the same business idempotency key; each names the other. Each call makes another one, unless it carries an Idempotency-Key that was seen before."}, a.replayExecution)
	register(a, huma.Operation{OperationID: "replay-many", Method: http.MethodPost, Path: "/v1/replays", Tags: []string{"dead letters"}, Summary: "Replay one page of the dead letters that a filter selects",
		Description: "The caller decides the rate, by the size of pages and the pauses between them. A run never replays a dead letter twice, from whichever page it goes on. A page may hold fewer items than limit although there are more."}, a.replayMany)
}

func (a *api) replayExecution(ctx context.Context, in *replayInput) (*runOutput, error) {
	out, err := a.onExecution(ctx, in.ID, func(ref job.Ref, key job.Key, actor string) (*job.Execution, error) {
		return a.control.Replay(ctx, control.ReplayRequest{Ref: ref, Key: key, Actor: actor, IdempotencyKey: in.IdempotencyKey, FromScratch: in.FromScratch})
	})
	if err != nil {
		return nil, err
	}
	return &runOutput{Location: "/v1/executions/" + out.Body.ID, Body: out.Body}, nil
}

func (a *api) replayMany(ctx context.Context, in *replaysInput) (*replaysOutput, error) {
	var r reading
	b := in.Body
	request := control.ReplaysRequest{Tenant: callerOf(ctx).Tenant, All: b.All, Again: b.Again, FromScratch: b.Scratch, Run: b.Run, DryRun: in.DryRun, Cursor: b.Cursor, Limit: b.Limit, Actor: callerOf(ctx).Principal,
		Filter: control.DeadFilter{Job: b.Job, Type: b.Type, Codes: b.Code, Since: r.instant("since", b.Since), Until: r.instant("until", b.Until)}}
	for _, s := range b.Status {
		request.Filter.Statuses = append(request.Filter.Statuses, job.Status(s))
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	result, err := a.control.Replays(ctx, request)
	if err != nil {
		return nil, err
	}
	out := &replaysOutput{Body: client.Replays{Run: result.Run, DryRun: in.DryRun, Items: make([]client.Replay, len(result.Results)), NextCursor: client.Text(result.Next)}}
	for i, one := range result.Results {
		out.Body.Items[i] = showReplay(one)
	}
	return out, nil
}

func showReplay(one control.ReplayResult) client.Replay {
	shown := client.Replay{Execution: one.Of.ID(), Made: one.Made}
	var refusal *job.Error
	if errors.As(one.Refused, &refusal) {
		fault := client.FaultOf(refusal)
		shown.Refused = &fault
	} else if one.Replay != nil {
		shown.Replay = client.Text(one.Replay.ID())
	}
	return shown
}
