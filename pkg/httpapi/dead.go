package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

type deadInput struct {
	Cursor string   `query:"cursor" maxLength:"4096" doc:"next_cursor of the page before"`
	Limit  int      `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Most items of a page"`
	Job    string   `query:"job" maxLength:"64" doc:"Only of this job"`
	Type   string   `query:"type" maxLength:"64" doc:"Only of jobs of this type"`
	Code   []string `query:"code,explode" nullable:"false" doc:"Only with one of these error codes; may be repeated"`
	Status []string `query:"status,explode" nullable:"false" enum:"FAILED,DEAD,NEEDS_REVIEW" doc:"Only these statuses; may be repeated"`
	Since  string   `query:"since" maxLength:"64" doc:"RFC 3339 instant: only what came into its state at or after it"`
	Until  string   `query:"until" maxLength:"64" doc:"RFC 3339 instant: only what came into its state at or before it"`
	Open   bool     `query:"open" doc:"Only what nobody has replayed, closed or decided yet"`
}

type deadOutput struct {
	Body client.Page[client.DeadLetter]
}

// ResolveBody closes a dead letter.
type ResolveBody struct {
	_ struct{} `additionalProperties:"false"`

	As    string `json:"as" doc:"handled: somebody saw to what it should have done; ignored: nobody needs to"`
	Note  string `json:"note,omitempty" doc:"Up to 1000 bytes"`
	Force bool   `json:"force,omitempty" doc:"Replace another verdict"`
}

type resolveInput struct {
	ID   string `path:"id" doc:"Id of the execution"`
	Body ResolveBody
}

// ReviewBody ends a doubt.
type ReviewBody struct {
	_ struct{} `additionalProperties:"false"`

	As   string `json:"as" doc:"succeeded: it took effect; failed: it did not, and becomes a dead letter; retry: another attempt begins at once"`
	Note string `json:"note,omitempty" doc:"What the verdict rests on, up to 1000 bytes; needed"`
}

type reviewInput struct {
	ID   string `path:"id" doc:"Id of the execution"`
	Body ReviewBody
}

func (a *api) registerDead() {
	register(a, huma.Operation{OperationID: "list-dead", Method: http.MethodGet, Path: "/v1/dead", Tags: []string{"dead letters"}, Summary: "List what needs, or needed, a person",
		Description: "Executions that are FAILED, DEAD or NEEDS_REVIEW, latest end first. The list lags by seconds. A page may hold fewer items than limit, or none, although there are more: the last one has no next_cursor."}, a.listDead)
	register(a, huma.Operation{OperationID: "resolve-dead", Method: http.MethodPost, Path: "/v1/dead/{id}/resolve", Tags: []string{"dead letters"}, Summary: "Close a dead letter",
		Description: "It is no longer open; how it ended stays. The same verdict again changes nothing, another one is a conflict unless force is set."}, a.resolveDead)
	register(a, huma.Operation{OperationID: "review-execution", Method: http.MethodPost, Path: "/v1/executions/{id}/resolve", Tags: []string{"dead letters"}, Summary: "Decide what became of an execution in doubt",
		Description: "Ends NEEDS_REVIEW, which nothing else does. The same verdict again changes nothing, another one is a conflict."}, a.reviewExecution)
	register(a, huma.Operation{OperationID: "retry-execution", Method: http.MethodPost, Path: "/v1/executions/{id}/retry", Tags: []string{"executions"}, Summary: "Let the next attempt begin at once",
		Description: "Of an execution in RETRY_WAIT; its attempts stay counted. Any other is a conflict."}, a.retryExecution)
}

func (a *api) listDead(ctx context.Context, in *deadInput) (*deadOutput, error) {
	var r reading
	f := control.DeadFilter{Job: in.Job, Type: in.Type, Codes: in.Code, Since: r.instant("since", in.Since), Until: r.instant("until", in.Until), Open: in.Open}
	for _, s := range in.Status {
		f.Statuses = append(f.Statuses, job.Status(s))
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	found, next, err := a.control.Dead(ctx, callerOf(ctx).Tenant, f, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	executions := make([]job.Execution, len(found))
	for i := range found {
		executions[i] = found[i].Execution
	}
	shown, err := a.showListed(ctx, executions)
	if err != nil {
		return nil, err
	}
	page := client.Page[client.DeadLetter]{Items: make([]client.DeadLetter, len(found)), NextCursor: client.Text(next)}
	for i := range found {
		page.Items[i] = client.DeadLetter{Execution: shown[i], Since: client.At(found[i].At), Open: found[i].Open}
	}
	return &deadOutput{Body: page}, nil
}

func (a *api) resolveDead(ctx context.Context, in *resolveInput) (*executionOutput, error) {
	return a.onExecution(ctx, in.ID, func(ref job.Ref, key job.Key, actor string) (*job.Execution, error) {
		return a.control.ResolveDead(ctx, control.ResolveRequest{Ref: ref, Key: key, As: job.Verdict(in.Body.As), Note: in.Body.Note, Force: in.Body.Force, Actor: actor})
	})
}

func (a *api) reviewExecution(ctx context.Context, in *reviewInput) (*executionOutput, error) {
	return a.onExecution(ctx, in.ID, func(ref job.Ref, key job.Key, actor string) (*job.Execution, error) {
		return a.control.Review(ctx, control.ReviewRequest{Ref: ref, Key: key, As: job.Verdict(in.Body.As), Note: in.Body.Note, Actor: actor})
	})
}

func (a *api) retryExecution(ctx context.Context, in *executionInput) (*executionOutput, error) {
	return a.onExecution(ctx, in.ID, func(ref job.Ref, key job.Key, actor string) (*job.Execution, error) {
		return a.control.RetryNow(ctx, ref, key, actor)
	})
}

// onExecution carries out a verb on the execution that an id names.
func (a *api) onExecution(ctx context.Context, id string, verb func(job.Ref, job.Key, string) (*job.Execution, error)) (*executionOutput, error) {
	ref, key, err := executionKey(ctx, id)
	if err != nil {
		return nil, err
	}
	e, err := verb(ref, key, callerOf(ctx).Principal)
	if err != nil {
		return nil, asGiven(id, err)
	}
	shown, err := a.showWhole(ctx, e)
	if err != nil {
		return nil, err
	}
	return &executionOutput{Body: shown}, nil
}

// showListed are executions as a list shows them: with the digests of their input,
// and without stacks.
func (a *api) showListed(ctx context.Context, executions []job.Execution) ([]client.Execution, error) {
	digests, err := a.control.InputDigests(ctx, executions)
	if err != nil {
		return nil, err
	}
	now := a.control.Clock.Now()
	shown := make([]client.Execution, len(executions))
	for i := range executions {
		shown[i] = showExecution(&executions[i], now)
		shown[i].InputDigest = client.Text(digests[i])
	}
	return shown, nil
}

// showWhole is an execution with all that is kept of it.
func (a *api) showWhole(ctx context.Context, e *job.Execution) (client.Execution, error) {
	shown, err := a.showListed(ctx, []job.Execution{*e})
	if err != nil {
		return client.Execution{}, err
	}
	shown[0].Stack = client.Text(e.Stack)
	return shown[0], nil
}

func showVerdict(r *job.Resolution) *client.Verdict {
	if r == nil {
		return nil
	}
	return &client.Verdict{As: string(r.As), By: r.By, At: client.At(r.At), Note: client.Text(r.Note)}
}
