package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/signing"
)

// The values of BELFRY_AUTH.
const (
	authIAM    = "iam"
	authBearer = "bearer"
)

// signsIn makes the options say who calls: as BELFRY_AUTH says, and with the
// token of BELFRY_TOKEN when it says nothing.
func (a *app) signsIn(ctx context.Context, o *client.Options) error {
	token := a.env("BELFRY_TOKEN")
	switch auth := a.env("BELFRY_AUTH"); auth {
	case "":
		o.Token = token
	case authBearer:
		if token == "" {
			return &usageError{message: "BELFRY_AUTH is bearer, but BELFRY_TOKEN is empty", command: "belfry"}
		}
		o.Token = token
	case authIAM:
		return a.signsWithIAM(ctx, o)
	default:
		return &usageError{message: fmt.Sprintf("BELFRY_AUTH is %q (allowed: iam, bearer, or nothing)", job.Shorten(auth)), command: "belfry"}
	}
	return nil
}

// signsWithIAM signs each call with the credentials that the AWS SDK finds. The
// region is that of the API's own address, which no setting can know better;
// behind a domain of one's own it is the SDK's.
func (a *app) signsWithIAM(ctx context.Context, o *client.Options) error {
	aws, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return &signing.UnsentError{Message: "the AWS configuration cannot be read", Err: err, Fix: "see that AWS_PROFILE names a profile that ~/.aws/config has"}
	}
	region := aws.Region
	if base, err := url.Parse(o.BaseURL); err == nil && signing.RegionOf(base) != "" {
		region = signing.RegionOf(base)
	}
	if region == "" {
		return &signing.UnsentError{Message: "BELFRY_AUTH=iam signs for a region, and neither the API's address nor the AWS configuration names one",
			Fix: "set AWS_REGION to the region that the API is deployed in"}
	}
	o.HTTP.Transport = &signing.Transport{Service: signing.APIGateway, Region: region, Credentials: aws.Credentials, Now: a.now, Under: o.HTTP.Transport}
	return nil
}

// signatureLife is how far AWS lets the time of a signature be off its own.
const signatureLife = 5 * time.Minute

// letIn tells what to do about a call that was not let in.
func (a *app) letIn(d *client.Denied) string {
	switch auth := a.env("BELFRY_AUTH"); {
	case auth == authIAM:
		return a.signedOut(d)
	case auth == authBearer || a.env("BELFRY_TOKEN") != "":
		return "the token of BELFRY_TOKEN was not accepted: see that it has not expired, and that issuer and audience are those of api.jwt_issuer and api.jwt_audience"
	case d.Status == http.StatusForbidden:
		return "this API may want signed calls: set BELFRY_AUTH=iam, with AWS credentials; or a token: set BELFRY_TOKEN"
	}
	return "this API wants a token: set BELFRY_TOKEN; or signed calls: set BELFRY_AUTH=iam, with AWS credentials"
}

// signedOut tells why a signature may have been refused, the clock first: it is
// the one cause that can be seen from here.
func (a *app) signedOut(d *client.Denied) string {
	if ahead := a.now().Sub(d.At); !d.At.IsZero() && ahead.Abs() >= signatureLife {
		side := "ahead of"
		if ahead < 0 {
			side = "behind"
		}
		return fmt.Sprintf("this machine's clock is %s %s the service's, and a signature is good for %s: set the clock", ahead.Abs().Round(time.Second), side, signatureLife)
	}
	return "see who you are with aws sts get-caller-identity; allow that one execute-api:Invoke on the API; " +
		"behind a domain of your own set AWS_REGION to the API's region"
}

// notLetIn is what to say of a call that could not be signed or was not let in;
// false when err is neither.
func (a *app) notLetIn(err error) (told, bool) {
	var denied *client.Denied
	var unsent *signing.UnsentError
	switch {
	case errors.As(err, &denied):
		return told{Code: "DENIED", Value: denied.URL, Message: denied.Error(), Fix: a.letIn(denied)}, true
	case errors.As(err, &unsent):
		return told{Code: "NOT_SIGNED", Message: unsent.Error(), Fix: unsent.Fix}, true
	}
	return told{}, false
}
