package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

type breakersInput struct {
	Cursor string `query:"cursor" maxLength:"4096" doc:"next_cursor of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Most items of a page"`
}

type breakersOutput struct {
	Body client.Page[client.Breaker]
}

// BreakerBody closes a breaker.
type BreakerBody struct {
	_ struct{} `additionalProperties:"false"`

	Resource string `json:"resource" minLength:"1" maxLength:"512" doc:"As the list names it"`
	Note     string `json:"note,omitempty" doc:"Up to 1000 bytes"`
}

type breakerInput struct {
	Body BreakerBody
}

type breakerOutput struct {
	Body client.Breaker
}

func (a *api) registerBreakers() {
	register(a, huma.Operation{OperationID: "list-breakers", Method: http.MethodGet, Path: "/v1/breakers", Tags: []string{"breakers"}, Summary: "List the circuit breakers that are open",
		Description: "By resource, half-open ones included. While one is open, attempts that call the resource wait, and none is used up. A page may hold fewer items than limit, or none, although there are more: the last one has no next_cursor."}, a.listBreakers)
	register(a, huma.Operation{OperationID: "close-breaker", Method: http.MethodPost, Path: "/v1/breakers/close", Tags: []string{"breakers"}, Summary: "Close a circuit breaker by hand",
		Description: "Workers know within seconds; what was held back begins within two minutes or so. The next failures in a row open it again. Closing a closed one changes nothing."}, a.closeBreaker)
}

func (a *api) listBreakers(ctx context.Context, in *breakersInput) (*breakersOutput, error) {
	found, next, err := a.control.OpenBreakers(ctx, callerOf(ctx).Tenant, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	page := client.Page[client.Breaker]{Items: make([]client.Breaker, len(found)), NextCursor: client.Text(next)}
	for i := range found {
		page.Items[i] = showBreaker(&found[i], a.control.Clock.Now())
	}
	return &breakersOutput{Body: page}, nil
}

func (a *api) closeBreaker(ctx context.Context, in *breakerInput) (*breakerOutput, error) {
	caller := callerOf(ctx)
	b, err := a.control.CloseBreaker(ctx, control.BreakerRequest{Tenant: caller.Tenant, Resource: in.Body.Resource, Note: in.Body.Note, Actor: caller.Principal})
	if err != nil {
		return nil, err
	}
	return &breakerOutput{Body: showBreaker(b, a.control.Clock.Now())}, nil
}

func showBreaker(b *job.Breaker, now time.Time) client.Breaker {
	shown := client.Breaker{Resource: b.Resource, State: string(b.State(now)), Since: client.At(b.OpenedAt), Until: client.At(b.Until), ErrorCode: client.Text(b.LastCode),
		LastAt: client.At(b.LastAt), Failures: b.Failures, Jobs: b.Jobs, EveryJob: b.State(now) != job.BreakerClosed && b.Wide()}
	if shown.Jobs == nil {
		shown.Jobs = []string{}
	}
	return shown
}
