package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
)

// FenceMetadata is the name of the metadata in which an object keeps the highest
// fence that has written it.
const FenceMetadata = "last-fencing-token"

// rounds is how often a write is decided anew when others write at the same time.
const rounds = 8

// Client is what is needed of *s3.Client.
type Client interface {
	// HeadObject is the SDK's.
	HeadObject(context.Context, *s3.HeadObjectInput, ...func(*s3.Options)) (*s3.HeadObjectOutput, error)
	// GetObject is the SDK's.
	GetObject(context.Context, *s3.GetObjectInput, ...func(*s3.Options)) (*s3.GetObjectOutput, error)
	// PutObject is the SDK's.
	PutObject(context.Context, *s3.PutObjectInput, ...func(*s3.Options)) (*s3.PutObjectOutput, error)
}

// Put is PutObject for the newest attempt. It reads who has written, and writes on
// condition that this is still so (If-Match, or If-None-Match where nothing is). in
// must not have a condition of its own; its Body must be an io.Seeker, or nil.
//
// Requires: no object, one without a fence, or one whose fence is not above f. An
// attempt may write again and again: its own fence is no obstacle.
// Writes: the object with f in its metadata.
// Loses when: a newer attempt has written: *idempotent.StaleError. A write that met
// another's (412, 409, or 404 where the object was deleted) is decided anew; when that
// happens again and again, a retryable error.
// What it does not see: see the package, about equal bytes.
func Put(ctx context.Context, client Client, in *s3.PutObjectInput, f idempotent.Fence) (*s3.PutObjectOutput, error) {
	rewind, err := check(in, f)
	if err != nil {
		return nil, err
	}
	fenced := *in
	if fenced.Metadata = maps.Clone(in.Metadata); fenced.Metadata == nil {
		fenced.Metadata = map[string]string{}
	}
	fenced.Metadata[FenceMetadata] = string(f)
	var met error
	for range rounds {
		there, err := look(ctx, client, in)
		if err != nil {
			return nil, err
		}
		if there.holder > f {
			return nil, &idempotent.StaleError{What: name(in), Fence: f, Holder: there.holder}
		}
		if err := rewind(); err != nil {
			return nil, fmt.Errorf("rewind the body of %s: %w", name(in), err)
		}
		fenced.IfMatch, fenced.IfNoneMatch = there.etag, aws.String("*")
		if there.etag != nil {
			fenced.IfNoneMatch = nil
		}
		out, err := client.PutObject(ctx, &fenced)
		if err == nil {
			return out, nil
		}
		if met = err; !metAnother(err, there) {
			return nil, fmt.Errorf("put %s: %w", name(in), err)
		}
	}
	return nil, worker.Retry(fmt.Errorf("put %s: others wrote at each of %d tries: %w", name(in), rounds, met))
}

// standing is what is there; no ETag = nothing.
type standing struct {
	etag   *string
	holder idempotent.Fence
}

func look(ctx context.Context, client Client, in *s3.PutObjectInput) (standing, error) {
	out, err := client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: in.Bucket, Key: in.Key, ExpectedBucketOwner: in.ExpectedBucketOwner, RequestPayer: in.RequestPayer,
		SSECustomerAlgorithm: in.SSECustomerAlgorithm, SSECustomerKey: in.SSECustomerKey, SSECustomerKeyMD5: in.SSECustomerKeyMD5})
	switch {
	case answered(err, http.StatusNotFound):
		return standing{}, nil
	case err != nil:
		return standing{}, fmt.Errorf("look at %s: %w", name(in), err)
	}
	return standing{out.ETag, idempotent.Fence(out.Metadata[FenceMetadata])}, nil
}

// metAnother reports whether a write failed since something else had come, is under
// way, or what was there has gone.
func metAnother(err error, there standing) bool {
	return answered(err, http.StatusPreconditionFailed) || answered(err, http.StatusConflict) || there.etag != nil && answered(err, http.StatusNotFound)
}

func answered(err error, status int) bool {
	var answer *smithyhttp.ResponseError
	return errors.As(err, &answer) && answer.HTTPStatusCode() == status
}

// check refuses what cannot be fenced, and gives the way back to the body's beginning.
func check(in *s3.PutObjectInput, f idempotent.Fence) (rewind func() error, err error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	if in.IfMatch != nil || in.IfNoneMatch != nil {
		return nil, &job.Error{Code: job.CodeInvalid, Field: "IfMatch", Message: "a fenced write has a condition of its own", Fix: "leave IfMatch and IfNoneMatch out"}
	}
	if in.Body == nil {
		return func() error { return nil }, nil
	}
	body, ok := in.Body.(io.Seeker)
	if !ok {
		return nil, &job.Error{Code: job.CodeInvalid, Field: "Body", Value: job.Shorten(fmt.Sprintf("%T", in.Body)), Bound: "an io.ReadSeeker",
			Message: "the body cannot be sent a second time", Fix: "give a bytes.Reader or a file"}
	}
	begin, err := body.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, fmt.Errorf("find the beginning of the body of %s: %w", name(in), err)
	}
	return func() error {
		_, err := body.Seek(begin, io.SeekStart)
		return err
	}, nil
}

func name(in *s3.PutObjectInput) string {
	return "s3://" + aws.ToString(in.Bucket) + "/" + aws.ToString(in.Key)
}
