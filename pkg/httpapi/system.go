package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

type healthOutput struct {
	Body client.Health
}

type reconcileOutput struct {
	Body client.Reconciled
}

type questionInput struct {
	Body Question
}

// Question asks which times a schedule has, without any job.
type Question struct {
	_ struct{} `additionalProperties:"false"`

	Schedule
	After string `json:"after,omitempty" doc:"Strictly after this RFC 3339 instant; default now"`
	Count int    `json:"count,omitempty" minimum:"1" maximum:"1000" doc:"How many times; default 5"`
}

func (a *api) registerSystem() {
	register(a, huma.Operation{OperationID: "health", Method: http.MethodGet, Path: "/v1/health", Tags: []string{"system"}, Summary: "Ask whether the service can serve"}, a.health)
	register(a, huma.Operation{OperationID: "reconcile", Method: http.MethodPost, Path: "/v1/reconcile", Tags: []string{"system"}, Summary: "Send again what is due and has no message",
		Description: "Harmless to repeat: a message for what has been taken already is dropped."}, a.reconcile)
}

func (a *api) registerSchedule() {
	register(a, huma.Operation{OperationID: "schedule-next", Method: http.MethodPost, Path: "/v1/schedule/next", Tags: []string{"schedule"}, Summary: "Try a schedule without making a job",
		Description: "The phase of every without start is the second of the question."}, a.scheduleNext)
}

func (a *api) health(ctx context.Context, _ *struct{}) (*healthOutput, error) {
	if a.options.Ready != nil {
		if err := a.options.Ready(ctx); err != nil {
			a.options.Logger.ErrorContext(ctx, "not ready", "request", requestID(ctx), "error", err)
			return nil, &job.Error{Code: job.CodeUnavailable, Message: "the service is not ready to serve", Fix: "try again; if it stays so, look for request " + requestID(ctx) + " in the service's log"}
		}
	}
	return &healthOutput{Body: client.Health{Status: "ok", Version: a.options.Version, TZDB: schedule.TZDBVersion(), Time: client.At(a.control.Clock.Now())}}, nil
}

func (a *api) reconcile(ctx context.Context, _ *struct{}) (*reconcileOutput, error) {
	if a.options.Reconciler == nil {
		return nil, &job.Error{Code: job.CodeNotSupported, Message: "this service was started without a way to reconcile", Fix: "ask a service that runs the trigger plane"}
	}
	scanned, sent, err := a.options.Reconciler.Reconcile(ctx)
	if err != nil {
		return nil, err
	}
	return &reconcileOutput{Body: client.Reconciled{Scanned: scanned, Sent: sent}}, nil
}

func (a *api) scheduleNext(_ context.Context, in *questionInput) (*firesOutput, error) {
	var r reading
	now := a.control.Clock.Now()
	asked, after, count := r.schedule("", in.Body.Schedule), r.instant("after", in.Body.After), in.Body.Count
	if err := r.err(); err != nil {
		return nil, err
	}
	if after.IsZero() {
		after = now
	}
	if count == 0 {
		count = 5
	}
	compiled, err := schedule.Compile(asked, now.Truncate(time.Second))
	if err != nil {
		return nil, err
	}
	return &firesOutput{Body: showFires(compiled, compiled.Preview(after, count), count)}, nil
}
