package conformance

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// S3Cases returns the cases of the object store.
func S3Cases() []Case {
	return slices.Concat(s3ObjectCases(), s3ConditionCases(), s3ReadConditionCases(), s3RangeCases(), s3ChecksumCases(), s3BucketCases(), s3ListCases(), s3RefusalCases())
}

// objects is one case's view of the service: a bucket of its own.
type objects struct {
	*testing.T
	ctx    context.Context
	client *s3.Client
	prefix string
	bucket string
}

func onS3(name string, run func(objects)) Case {
	return Case{Name: name, Run: func(ctx context.Context, t *testing.T, env Env) {
		o := objects{T: t, ctx: ctx, client: env.S3, prefix: env.Prefix}
		o.bucket = o.create("objects")
		run(o)
	}}
}

// create makes a bucket and returns its name.
func (o objects) create(name string) string {
	o.Helper()
	name = o.prefix + name
	if _, err := o.client.CreateBucket(o.ctx, &s3.CreateBucketInput{Bucket: &name}); err != nil {
		o.Fatal(err)
	}
	return name
}

// put stores an object and returns its entity tag.
func (o objects) put(key, content string) string {
	o.Helper()
	out, err := o.putOn(key, content, nil)
	if err != nil {
		o.Fatal(err)
	}
	return aws.ToString(out.ETag)
}

// putOn stores an object as the change to the call says.
func (o objects) putOn(key, content string, change func(*s3.PutObjectInput)) (*s3.PutObjectOutput, error) {
	in := &s3.PutObjectInput{Bucket: &o.bucket, Key: &key, Body: bytes.NewReader([]byte(content))}
	if change != nil {
		change(in)
	}
	return o.client.PutObject(o.ctx, in)
}

// got is an answer to GetObject with its body read.
type got struct {
	*s3.GetObjectOutput
	body string
}

func (o objects) getOn(key string, change func(*s3.GetObjectInput)) (got, error) {
	in := &s3.GetObjectInput{Bucket: &o.bucket, Key: &key}
	if change != nil {
		change(in)
	}
	out, err := o.client.GetObject(o.ctx, in)
	if err != nil {
		return got{}, err
	}
	body, err := io.ReadAll(out.Body)
	return got{out, string(body)}, err
}

// get reads an object that must be there.
func (o objects) get(key string) got {
	o.Helper()
	out, err := o.getOn(key, nil)
	if err != nil {
		o.Fatal(err)
	}
	return out
}

// holds checks what an object is; "" = there is none.
func (o objects) holds(key, content string) {
	o.Helper()
	out, err := o.getOn(key, nil)
	if content == "" {
		o.refused(err, 404, "NoSuchKey")
		return
	}
	if err != nil || out.body != content {
		o.Errorf("%s holds %q (%v), want %q", key, out.body, err, content)
	}
}

func (o objects) head(key string) (*s3.HeadObjectOutput, error) {
	return o.client.HeadObject(o.ctx, &s3.HeadObjectInput{Bucket: &o.bucket, Key: &key})
}

func (o objects) delete(key string, match *string) error {
	_, err := o.client.DeleteObject(o.ctx, &s3.DeleteObjectInput{Bucket: &o.bucket, Key: &key, IfMatch: match})
	return err
}

// refused checks the status and the code that an SDK's user sees.
func (o objects) refused(err error, status int, code string) {
	o.Helper()
	var api smithy.APIError
	var answer *smithyhttp.ResponseError
	if !errors.As(err, &api) || !errors.As(err, &answer) {
		o.Errorf("error is %v, want %d %s", err, status, code)
		return
	}
	if api.ErrorCode() != code || answer.HTTPStatusCode() != status {
		o.Errorf("answered %d %s (%s), want %d %s", answer.HTTPStatusCode(), api.ErrorCode(), api.ErrorMessage(), status, code)
	}
}
