package functions

import (
	"crypto/rand"
	"net/http"

	"github.com/belfry-scheduler/belfry/pkg/httpapi"
	"github.com/belfry-scheduler/belfry/pkg/job"
)

// API is the handler of the function behind API Gateway.
func API(i *Installation) HTTPHandler {
	return Gateway(httpapi.New(i.Control, httpapi.Options{Identify: identify, Reconciler: i.Trigger, Backlogs: i.Trigger, Restorer: i.Restore, Sweeper: i.Store, Version: i.Environment.Version,
		Entropy: rand.Reader, Logger: i.Log}))
}

// identify names the caller as the gateway's authorizer knows it. Who may call
// at all is the gateway's to decide: what it passes on without an authorizer is
// anonymous.
func identify(r *http.Request) (httpapi.Caller, error) {
	caller := httpapi.Caller{Tenant: job.DefaultTenant, Principal: "anonymous"}
	c, _ := gatewayContext(r)
	if c.Authorizer == nil {
		return caller, nil
	}
	if c.Authorizer.IAM != nil && c.Authorizer.IAM.UserARN != "" {
		caller.Principal = c.Authorizer.IAM.UserARN
	}
	if c.Authorizer.JWT != nil && c.Authorizer.JWT.Claims["sub"] != "" {
		caller.Principal = c.Authorizer.JWT.Claims["sub"]
	}
	return caller, nil
}
