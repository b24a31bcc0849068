package bucket

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

const (
	// attempts is how often one object is tried before its batch is given back.
	attempts = 5
	// longestWait is the longest pause between two of them, and patience what one
	// object has in all: a batch of few objects must end before its function does.
	longestWait = 3 * time.Second
	patience    = 20 * time.Second
)

// Bucket is one bucket of S3.
type Bucket struct {
	client *s3.Client
	name   string
}

// New is the bucket of that name, reached as the configuration says. It makes no
// call. Of an endpoint of its own (an emulator) it asks without the bucket's name
// in the host's.
func New(c aws.Config, name string) *Bucket {
	client := s3.NewFromConfig(c, func(o *s3.Options) {
		o.UsePathStyle = o.BaseEndpoint != nil
		o.Retryer = retry.NewStandard(func(r *retry.StandardOptions) { r.MaxAttempts, r.MaxBackoff = attempts, longestWait })
	})
	return &Bucket{client: client, name: name}
}

// Put stores an object where none of its name is; one that is there stays, which
// is no error. The digest that goes along lets S3 refuse what arrives damaged; a
// bucket that locks its objects stores none without the name of its algorithm.
//
// Requires: no object of the name, or one whose newest version is deleted.
// Writes: the object. Loses when: it is there: an earlier delivery's, or our own
// write whose answer was lost. Then the caller: goes on, it is archived.
func (b *Bucket) Put(ctx context.Context, name string, content []byte) error {
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	digest := sha256.Sum256(content)
	_, err := b.client.PutObject(within, &s3.PutObjectInput{Bucket: &b.name, Key: &name, Body: bytes.NewReader(content), IfNoneMatch: aws.String("*"),
		ContentType: aws.String("application/gzip"), ChecksumAlgorithm: types.ChecksumAlgorithmSha256,
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(digest[:]))})
	var answer *smithyhttp.ResponseError
	if errors.As(err, &answer) && answer.HTTPStatusCode() == http.StatusPreconditionFailed {
		return nil
	}
	if err != nil {
		return fmt.Errorf("store %s in %s: %w", name, b.name, err)
	}
	return nil
}
