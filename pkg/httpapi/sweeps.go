package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// Sweeper tells how far the walks over all jobs have come.
type Sweeper interface {
	// Sweeps is the record of them; the zero value when there was none.
	Sweeps(ctx context.Context) (job.Sweeps, error)
}

type sweepsOutput struct {
	Body client.Sweeps
}

func (a *api) registerSweeps() {
	register(a, huma.Operation{OperationID: "sweeps", Method: http.MethodGet, Path: "/v1/sweeps", Tags: []string{"system"}, Summary: "Ask how far the walks over all jobs have come",
		Description: "One walk follows a newer time zone database, one purges deleted jobs each day. Ticks do them, in pieces."}, a.sweeps)
}

func (a *api) sweeps(ctx context.Context, _ *struct{}) (*sweepsOutput, error) {
	if a.options.Sweeper == nil {
		return nil, &job.Error{Code: job.CodeNotSupported, Message: "this service was started without a way to look at its sweeps", Fix: "ask a service that runs the trigger plane"}
	}
	all, err := a.options.Sweeper.Sweeps(ctx)
	if err != nil {
		return nil, err
	}
	shown := client.Sweeps{TZDB: showTZDB(all.TZDB), Purge: showPurge(all.Purge)}
	err = a.control.Jobs.Restored(ctx)
	if shown.RestorePending = job.CodeOf(err) == job.CodeRestorePending; err != nil && !shown.RestorePending {
		return nil, err
	}
	return &sweepsOutput{Body: shown}, nil
}

func showTZDB(t job.TZDBSweep) client.TZDBSweep {
	state := "waiting"
	switch {
	case t.Version == "":
		state = "none"
	case t.Walk.Running():
		state = "walking"
	case t.Settled():
		state = "settled"
	}
	return client.TZDBSweep{State: state, Version: client.Text(t.Version), Service: schedule.TZDBVersion(), NotedAt: client.At(t.NotedAt), OlderAt: client.At(t.OtherAt),
		Walks: t.Walks, Jobs: t.Walk.Jobs, Left: t.Walk.Left, Moved: t.Moved, Withdrawn: t.Withdrawn, BegunAt: client.At(t.Walk.BegunAt), DoneAt: client.At(t.Walk.DoneAt)}
}

func showPurge(p job.PurgeSweep) client.PurgeSweep {
	state := "done"
	switch {
	case p.Walk.BegunAt.IsZero():
		state = "none"
	case p.Walk.Running():
		state = "walking"
	}
	return client.PurgeSweep{State: state, Jobs: p.Walk.Jobs, Purged: p.Walk.Changed, InAll: p.Purged, BegunAt: client.At(p.Walk.BegunAt), DoneAt: client.At(p.Walk.DoneAt)}
}
