package signing

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// APIGateway is the service name under which requests to an API are signed.
const APIGateway = "execute-api"

// Transport signs each request and hands it on. It is safe for concurrent use.
// All fields are required, but for Under.
type Transport struct {
	Service     string // such as APIGateway
	Region      string // of the service, not of the caller
	Credentials aws.CredentialsProvider
	Now         func() time.Time
	Under       http.RoundTripper // nil = http.DefaultTransport
}

var signer = v4.NewSigner()

// RoundTrip signs a copy of the request and sends it. The error of a request
// that could not be signed, or would go in clear, is an *UnsentError.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	signed, err := t.sign(r)
	if err != nil {
		return nil, err
	}
	under := t.Under
	if under == nil {
		under = http.DefaultTransport
	}
	return under.RoundTrip(signed)
}

func (t *Transport) sign(r *http.Request) (*http.Request, error) {
	body, err := bodyOf(r)
	if err != nil {
		return nil, &UnsentError{Message: "the request's body could not be read", Err: err}
	}
	if err := private(r.URL); err != nil {
		return nil, err
	}
	ctx := r.Context()
	keys, err := t.keys(ctx)
	if err != nil {
		return nil, err
	}
	signed := r.Clone(ctx)
	signed.Body, signed.ContentLength, signed.GetBody = http.NoBody, 0, nil
	if len(body) > 0 {
		// Kept for the transport, which may send on another connection what a closed
		// one refused: the signature covers the same bytes.
		signed.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		signed.Body, _ = signed.GetBody()
		signed.ContentLength = int64(len(body))
	}
	sum := sha256.Sum256(body)
	if err := signer.SignHTTP(ctx, keys, signed, hex.EncodeToString(sum[:]), t.Service, t.Region, t.Now()); err != nil {
		return nil, &UnsentError{Message: "the request could not be signed", Err: err}
	}
	return signed, nil
}

// bodyOf reads a request's body to its end and closes it, as a RoundTripper has to.
func bodyOf(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	return io.ReadAll(r.Body)
}

func (t *Transport) keys(ctx context.Context) (aws.Credentials, error) {
	if t.Credentials == nil {
		return aws.Credentials{}, noCredentials(nil)
	}
	keys, err := t.Credentials.Retrieve(ctx)
	switch {
	case ctx.Err() != nil:
		return keys, ctx.Err()
	case err != nil:
		return keys, noCredentials(err)
	case !keys.HasKeys():
		return keys, noCredentials(nil)
	}
	return keys, nil
}

func noCredentials(err error) error {
	return &UnsentError{Message: "no AWS credentials were found to sign with", Err: err,
		Fix: "log in (aws sso login, with AWS_PROFILE set), or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; aws sts get-caller-identity tells whether it worked"}
}

// UnsentError is the end of a request that was not sent. Repeating it does not
// help.
type UnsentError struct {
	Message string
	Fix     string // what to do next; may be empty
	Err     error  // may be nil
}

// Error says what was missing, and what was met on the way.
func (e *UnsentError) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return fmt.Sprintf("%s: %v", e.Message, e.Err)
}

// Unwrap gives what was met.
func (e *UnsentError) Unwrap() error { return e.Err }

// NotSent tells callers that nothing was sent.
func (e *UnsentError) NotSent() bool { return true }
