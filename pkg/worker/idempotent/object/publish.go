package object

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
)

// Registration says which object is the published one. It is stored as JSON.
type Registration struct {
	Fence  idempotent.Fence `json:"last_fencing_token"` // who has published
	Object string           `json:"object"`             // key of the bytes, which never change, in the same bucket
}

// longestRegistration is in bytes: what is longer is no registration.
const longestRegistration = 4096

// Publish stores the bytes of in beside its key, under a name of their own
// (<key>/<fence>-<digest>), and then registers them at the key: readers see the
// old bytes or the new ones, whole. Current reads the registration.
//
// Requires: at the key nothing, or a registration whose fence is not above f.
// Writes: the bytes, then the registration.
// Loses when: a newer attempt has published, even equal bytes: *idempotent.StaleError.
// Bytes that were not registered, and those that no longer are, stay until a rule of
// the bucket or the application removes them: by age, while readers may still hold the key.
func Publish(ctx context.Context, client Client, in *s3.PutObjectInput, f idempotent.Fence) (Registration, error) {
	rewind, err := check(in, f)
	if err != nil {
		return Registration{}, err
	}
	pointer := &s3.PutObjectInput{Bucket: in.Bucket, Key: in.Key, ContentType: aws.String("application/json"),
		ExpectedBucketOwner: in.ExpectedBucketOwner, RequestPayer: in.RequestPayer, ServerSideEncryption: in.ServerSideEncryption, SSEKMSKeyId: in.SSEKMSKeyId}
	// Who is late already need not send anything.
	there, err := look(ctx, client, pointer)
	if err != nil {
		return Registration{}, err
	}
	if there.holder > f {
		return Registration{}, &idempotent.StaleError{What: name(in), Fence: f, Holder: there.holder}
	}
	r, err := store(ctx, client, in, rewind, f)
	if err != nil {
		return Registration{}, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return Registration{}, worker.Permanent(fmt.Errorf("encode the registration of %s: %w", name(in), err))
	}
	pointer.Body = bytes.NewReader(text)
	if _, err := Put(ctx, client, pointer, f); err != nil {
		return Registration{}, err
	}
	return r, nil
}

// store puts the bytes where only equal ones of the same attempt can be.
func store(ctx context.Context, client Client, in *s3.PutObjectInput, rewind func() error, f idempotent.Fence) (Registration, error) {
	digest := sha256.New()
	if in.Body != nil {
		if _, err := io.Copy(digest, in.Body); err != nil {
			return Registration{}, fmt.Errorf("read the body of %s: %w", name(in), err)
		}
	}
	if err := rewind(); err != nil {
		return Registration{}, fmt.Errorf("rewind the body of %s: %w", name(in), err)
	}
	r := Registration{Fence: f, Object: aws.ToString(in.Key) + "/" + string(f) + "-" + hex.EncodeToString(digest.Sum(nil)[:8])}
	part := *in
	part.Key, part.IfNoneMatch = &r.Object, aws.String("*")
	_, err := client.PutObject(ctx, &part)
	if err != nil && !answered(err, http.StatusPreconditionFailed) { // it is there: an earlier call's, or our own whose answer was lost
		return Registration{}, fmt.Errorf("store %s: %w", name(&part), err)
	}
	return r, nil
}

// Current is the registration at a key. A *job.Error NOT_FOUND says that nothing was
// published there, INVALID that something else stands there.
func Current(ctx context.Context, client Client, bucket, key string) (Registration, error) {
	at := "s3://" + bucket + "/" + key
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if answered(err, http.StatusNotFound) {
		return Registration{}, &job.Error{Code: job.CodeNotFound, Field: job.Shorten(at), Message: "nothing was published there", Fix: "publish it first (object.Publish)"}
	}
	if err != nil {
		return Registration{}, fmt.Errorf("read %s: %w", at, err)
	}
	defer out.Body.Close()
	text, err := io.ReadAll(io.LimitReader(out.Body, longestRegistration+1))
	if err != nil {
		return Registration{}, fmt.Errorf("read %s: %w", at, err)
	}
	var r Registration
	if err := json.Unmarshal(text, &r); err != nil || r.Object == "" || len(text) > longestRegistration {
		return Registration{}, &job.Error{Code: job.CodeInvalid, Field: job.Shorten(at), Value: job.Shorten(string(text)), Message: "it is no registration",
			Fix: "write it with object.Publish alone"}
	}
	return r, nil
}
