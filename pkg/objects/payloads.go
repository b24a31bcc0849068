package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Payloads reads what jobs refer to, in whatever buckets the rules open. It is safe
// for concurrent use.
type Payloads struct {
	client *s3.Client
	rules  job.PayloadRules
}

// NewPayloads reads through client. It makes no call.
func NewPayloads(client *s3.Client, rules job.PayloadRules) *Payloads {
	return &Payloads{client: client, rules: rules}
}

// Payload reads the object that ref names on behalf of a tenant. PAYLOAD_FORBIDDEN
// refuses what the tenant may not refer to now, whatever was allowed when the job was
// written; PAYLOAD_TOO_LARGE what is beyond job.MaxPayloadObject. pinned is the digest
// that the name itself promises.
func (p *Payloads) Payload(ctx context.Context, tenant string, ref job.PayloadRef) (content []byte, pinned string, err error) {
	var refusal *job.Error
	if err := p.rules.Check(tenant, ref); errors.As(err, &refusal) {
		refusal.Code = job.CodePayloadForbidden
		return nil, "", refusal
	}
	out, err := p.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &ref.Bucket, Key: &ref.Key})
	if err != nil {
		return nil, "", readFault(ref, err)
	}
	defer func() { _ = out.Body.Close() }()
	if out.ContentLength != nil && *out.ContentLength > job.MaxPayloadObject {
		return nil, "", tooLarge(ref, *out.ContentLength)
	}
	content, err = io.ReadAll(io.LimitReader(out.Body, job.MaxPayloadObject+1))
	if err != nil {
		return nil, "", readFault(ref, err)
	}
	if len(content) > job.MaxPayloadObject {
		return nil, "", tooLarge(ref, int64(len(content)))
	}
	return content, p.rules.Pinned(tenant, ref), nil
}

func tooLarge(ref job.PayloadRef, size int64) error {
	return &job.Error{Code: job.CodePayloadTooLarge, Field: "payload_ref", Value: job.Shorten(ref.String()), Bound: fmt.Sprintf("%d bytes", job.MaxPayloadObject),
		Message: fmt.Sprintf("the payload has %d bytes", size), Fix: "make the payload a list of where the data lies"}
}

// readFault says what a person can act on: neither request ids nor hosts.
func readFault(ref job.PayloadRef, err error) error {
	var answer *smithyhttp.ResponseError
	if errors.As(err, &answer) {
		switch code := answer.HTTPStatusCode(); code {
		case http.StatusNotFound, http.StatusForbidden:
			// Whoever may not list a bucket is not told which of the two it is.
			return fmt.Errorf("%s is not there, or workers may not read it (%d)", ref, code)
		default:
			return fmt.Errorf("%s answers %d", ref, code)
		}
	}
	return fmt.Errorf("read %s: %w", ref, err)
}
