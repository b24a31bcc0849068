package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

type executionOutput struct {
	Body client.Execution
}

type resumeInput struct {
	Job      string `path:"job" doc:"Name of the job"`
	OnResume string `query:"on_resume" enum:"FROM_NOW,CATCH_UP" doc:"What becomes of the times that fell into the pause: passed over, or late and left to the misfire policy. Default: as the definition says"`
}

type runInput struct {
	Job            string `path:"job" doc:"Name of the job"`
	PayloadRef     string `query:"payload_ref" maxLength:"1100" doc:"Where this execution's payload lies, s3://bucket/key, in place of the job's own"`
	IdempotencyKey string `header:"Idempotency-Key" maxLength:"255" doc:"Makes the request safe to repeat for a day: the same key gives the same execution"`
}

type runOutput struct {
	Location string `header:"Location"`
	Body     client.Execution
}

func (a *api) registerVerbs() {
	register(a, huma.Operation{OperationID: "pause-job", Method: http.MethodPost, Path: "/v1/jobs/{job}/pause", Tags: []string{"jobs"}, Summary: "Pause a job",
		Description: "Stops new executions and withdraws those that have not begun; running ones go on. May be repeated."}, a.pauseJob)
	register(a, huma.Operation{OperationID: "resume-job", Method: http.MethodPost, Path: "/v1/jobs/{job}/resume", Tags: []string{"jobs"}, Summary: "Resume a job",
		Description: "Times that fell into the pause are passed over (FROM_NOW), or are late and left to the misfire policy (CATCH_UP). May be repeated."}, a.resumeJob)
	register(a, huma.Operation{OperationID: "run-job", Method: http.MethodPost, Path: "/v1/jobs/{job}/run", Tags: []string{"jobs"}, Summary: "Run a job now", DefaultStatus: http.StatusCreated,
		Description: "Makes one execution at once, whatever the schedule and whether or not the job is paused. Each call makes another one, unless it carries an Idempotency-Key that was seen before."}, a.runJob)
}

func (a *api) pauseJob(ctx context.Context, in *jobInput) (*jobOutput, error) {
	return a.changeState(ctx, in.Job, a.control.Pause)
}

func (a *api) resumeJob(ctx context.Context, in *resumeInput) (*jobOutput, error) {
	return a.changeState(ctx, in.Job, func(ctx context.Context, ref job.Ref, actor string) (*job.Head, error) {
		return a.control.Resume(ctx, ref, actor, job.OnResume(in.OnResume))
	})
}

func (a *api) changeState(ctx context.Context, name string, verb func(context.Context, job.Ref, string) (*job.Head, error)) (*jobOutput, error) {
	ref, err := jobRef(ctx, name)
	if err != nil {
		return nil, err
	}
	head, err := verb(ctx, ref, callerOf(ctx).Principal)
	if err != nil {
		return nil, err
	}
	return &jobOutput{ETag: etag(head.Revision), Body: a.showJob(ctx, head)}, nil
}

func (a *api) runJob(ctx context.Context, in *runInput) (*runOutput, error) {
	ref, err := jobRef(ctx, in.Job)
	if err != nil {
		return nil, err
	}
	e, err := a.control.RunNow(ctx, control.RunRequest{Ref: ref, Actor: callerOf(ctx).Principal, IdempotencyKey: in.IdempotencyKey, PayloadRef: in.PayloadRef})
	if err != nil {
		return nil, err
	}
	shown := showExecution(e, a.control.Clock.Now())
	return &runOutput{Location: "/v1/executions/" + shown.ID, Body: shown}, nil
}
