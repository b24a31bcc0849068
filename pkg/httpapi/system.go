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

type reconcileInput struct {
	Cursor string `query:"cursor" doc:"The next_cursor of the call before; empty = from the first"`
}

type restoreOutput struct {
	Body client.Restored
}

type shardsOutput struct {
	Body client.Shards
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
	register(a, huma.Operation{OperationID: "shards", Method: http.MethodGet, Path: "/v1/shards", Tags: []string{"system"}, Summary: "Ask which shards hold overdue jobs",
		Description: "Reads the due index once for each shard (half a read unit each). An installation that keeps up answers with no items."}, a.shards)
	register(a, huma.Operation{OperationID: "reconcile", Method: http.MethodPost, Path: "/v1/reconcile", Tags: []string{"system"}, Summary: "Send again what is due and has no message",
		Description: "Harmless to repeat: a message for what has been taken already is dropped. It answers after some seconds; call it with next_cursor until that is null."}, a.reconcile)
	register(a, huma.Operation{OperationID: "restore", Method: http.MethodPost, Path: "/v1/restore", Tags: []string{"system"}, Summary: "Repair what a restore from backups leaves behind",
		Description: "For an installation whose restore_epoch was raised. It answers after some seconds; call it until phase is done. Harmless to repeat. Until then nothing becomes due and verbs are refused."}, a.restore)
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

func (a *api) shards(ctx context.Context, _ *struct{}) (*shardsOutput, error) {
	if a.options.Backlogs == nil {
		return nil, &job.Error{Code: job.CodeNotSupported, Message: "this service was started without a way to look at its shards", Fix: "ask a service that runs the trigger plane"}
	}
	layouts, behind, err := a.options.Backlogs.Backlogs(ctx)
	if err != nil {
		return nil, err
	}
	now := a.control.Clock.Now()
	shown := client.Shards{Layouts: layouts, Items: []client.Shard{}}
	for _, b := range behind {
		item := client.Shard{Generation: b.Generation, Number: b.Number, Overdue: b.Jobs, More: b.More, OldestAt: client.At(b.Since), BehindMS: now.Sub(b.Since).Milliseconds()}
		if b.Oldest.Tenant == callerOf(ctx).Tenant {
			item.OldestJob = client.Text(b.Oldest.Job)
		}
		shown.Items = append(shown.Items, item)
	}
	return &shardsOutput{Body: shown}, nil
}

func (a *api) reconcile(ctx context.Context, in *reconcileInput) (*reconcileOutput, error) {
	if a.options.Reconciler == nil {
		return nil, &job.Error{Code: job.CodeNotSupported, Message: "this service was started without a way to reconcile", Fix: "ask a service that runs the trigger plane"}
	}
	r, err := a.options.Reconciler.Reconcile(ctx, in.Cursor)
	if err != nil {
		return nil, err
	}
	return &reconcileOutput{Body: client.Reconciled{Scanned: r.Scanned, Sent: r.Sent, NextCursor: client.Text(r.Next)}}, nil
}

func (a *api) restore(ctx context.Context, _ *struct{}) (*restoreOutput, error) {
	if a.options.Restorer == nil {
		return nil, &job.Error{Code: job.CodeNotSupported, Message: "this service was started without a way to repair a restore", Fix: "ask a service that runs the trigger plane"}
	}
	p, err := a.options.Restorer.Step(ctx, callerOf(ctx).Principal)
	if err != nil {
		return nil, err
	}
	return &restoreOutput{Body: client.Restored{Phase: string(p.Phase), Executions: p.Executions, Rearmed: p.Rearmed, Withdrawn: p.Withdrawn,
		GivenUp: p.GivenUp, Jobs: p.Jobs, Lifted: p.Lifted, SetBack: p.SetBack, BegunAt: client.At(p.BegunAt), DoneAt: client.At(p.DoneAt)}}, nil
}

func (a *api) scheduleNext(ctx context.Context, in *questionInput) (*firesOutput, error) {
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
	compiled, err := a.control.PlanAsked(ctx, callerOf(ctx).Tenant, asked, now.Truncate(time.Second))
	if err != nil {
		return nil, err
	}
	return &firesOutput{Body: showFires(compiled, compiled.DescribeAt(after), asked, compiled.Preview(after, count, job.Ref{}), count)}, nil
}
