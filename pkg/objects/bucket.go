package objects

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// NewClient reaches S3 as the configuration says. Of an endpoint of its own (an
// emulator) it asks without the bucket's name in the host's. It makes no call.
func NewClient(c aws.Config) *s3.Client {
	return s3.NewFromConfig(c, func(o *s3.Options) { o.UsePathStyle = o.BaseEndpoint != nil })
}

// Bucket is one bucket of S3. It is safe for concurrent use.
type Bucket struct {
	client *s3.Client
	name   string
}

// New is the bucket of that name, reached through client. It makes no call.
func New(client *s3.Client, name string) *Bucket { return &Bucket{client: client, name: name} }

// Name is the bucket's name.
func (b *Bucket) Name() string { return b.name }

// Put stores an object under a name that nothing else uses. One that is there
// already is its own, whose answer was lost, which is no error.
//
// Requires: no object of the name. Writes: the object, whole. Loses when: it is
// there. Then the caller: goes on, it is stored.
func (b *Bucket) Put(ctx context.Context, name string, content []byte) error {
	digest := sha256.Sum256(content)
	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.name, Key: &name, Body: bytes.NewReader(content), IfNoneMatch: aws.String("*"),
		ChecksumAlgorithm: types.ChecksumAlgorithmSha256, ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(digest[:]))})
	if err != nil && statusOf(err) != http.StatusPreconditionFailed {
		return b.fault("store", name, err)
	}
	return nil
}

// Get reads an object of at most that many bytes; a larger one is refused.
func (b *Bucket) Get(ctx context.Context, name string, most int64) ([]byte, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: &name})
	if err != nil {
		return nil, b.fault("read", name, err)
	}
	defer func() { _ = out.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(out.Body, most+1))
	if err != nil {
		return nil, b.fault("read", name, err)
	}
	if int64(len(content)) > most {
		return nil, &job.Error{Code: job.CodeInvalid, Field: "object", Value: job.Shorten(name), Bound: fmt.Sprintf("%d bytes", most), Message: "the object is larger than what is read"}
	}
	return content, nil
}

// Delete takes an object away; one that is not there is no error.
func (b *Bucket) Delete(ctx context.Context, name string) error {
	if _, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: &name}); err != nil && statusOf(err) != http.StatusNotFound {
		return b.fault("delete", name, err)
	}
	return nil
}

func statusOf(err error) int {
	var answer *smithyhttp.ResponseError
	if errors.As(err, &answer) {
		return answer.HTTPStatusCode()
	}
	return 0
}

// Fault is why the bucket did not do what it was asked for. Its text is for the
// log; Unwrap leads to the refusal that a user may see.
type Fault struct {
	refusal *job.Error
	cause   error
}

// Error tells the cause, too.
func (f *Fault) Error() string { return f.refusal.Error() + ": " + f.cause.Error() }

// Unwrap leads to both the refusal and its cause.
func (f *Fault) Unwrap() []error { return []error{f.refusal, f.cause} }

func (b *Bucket) fault(doing, name string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	refusal := &job.Error{Code: job.CodeUnavailable, Message: "the bucket could not " + doing + " the object", Fix: "try again"}
	switch statusOf(err) {
	case http.StatusNotFound:
		refusal.Code, refusal.Message, refusal.Fix = job.CodeNotFound, "the object is not there", ""
	case http.StatusForbidden, http.StatusBadRequest:
		refusal.Code, refusal.Fix = job.CodeInternal, ""
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		refusal.Code = job.CodeThrottled
	}
	return &Fault{refusal: refusal, cause: fmt.Errorf("%s %s in %s: %w", doing, name, b.name, err)}
}
