package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/belfry-scheduler/belfry/pkg/client"
	"github.com/belfry-scheduler/belfry/pkg/control"
)

// payloadBody announces a payload.
type payloadBody struct {
	_ struct{} `additionalProperties:"false"`

	SHA256 string `json:"sha256" minLength:"64" maxLength:"64" doc:"SHA-256 of the payload, in lower-case hex"`
	Size   int64  `json:"size" minimum:"1" maximum:"16777216" doc:"Bytes of the payload"`
}

type payloadInput struct{ Body payloadBody }

type payloadOutput struct{ Body client.PayloadPlace }

func (a *api) registerPayloads() {
	register(a, huma.Operation{OperationID: "store-payload", Method: http.MethodPost, Path: "/v1/payloads", Tags: []string{"jobs"}, Summary: "Give a payload a place",
		Description: "Answers the reference of a payload in the installation's own bucket, and the request that stores it there: a signed PUT, which goes to S3 and not through this API, and which " +
			"S3 refuses with any other content. The same payload has the same reference, so both may be repeated."}, a.storePayload)
}

func (a *api) storePayload(ctx context.Context, in *payloadInput) (*payloadOutput, error) {
	ref, upload, err := a.control.StorePayload(ctx, control.PayloadRequest{Tenant: callerOf(ctx).Tenant, Digest: in.Body.SHA256, Size: in.Body.Size})
	if err != nil {
		return nil, err
	}
	return &payloadOutput{Body: client.PayloadPlace{PayloadRef: ref.String(), SHA256: in.Body.SHA256, Size: in.Body.Size,
		Upload: client.Upload{Method: upload.Method, URL: upload.URL, Headers: upload.Headers, Until: client.At(upload.Until)}}}, nil
}
