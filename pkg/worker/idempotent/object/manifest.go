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
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
)

// Part is one object of a result that has several.
type Part struct {
	Name   string `json:"name"`   // what its writer called it
	Object string `json:"object"` // key of its bytes, which never change
	Size   int64  `json:"size"`   // in bytes
	SHA256 string `json:"sha256"` // of its bytes, in hex
}

// Manifest is a result of several objects: all of them, or none.
type Manifest struct {
	Fence idempotent.Fence `json:"last_fencing_token"` // who has published it
	Parts []Part           `json:"parts"`              // in the order in which they were added
}

const (
	// MostParts bounds the parts of a result.
	MostParts = 10_000
	// longestManifest is in bytes; a part of the longest names takes about three kilobytes.
	longestManifest = 32 << 20
)

// Draft is a result in the making: parts under names of the attempt's own, which nobody
// sees, until Publish registers all of them at once. It is safe for concurrent use.
type Draft struct {
	client Client
	at     s3.PutObjectInput
	fence  idempotent.Fence

	mu    sync.Mutex
	parts []Part
}

// NewDraft begins a result that is to stand at the key of at. Bucket, encryption and
// owner of at hold for every object; its Body is not used.
func NewDraft(client Client, at *s3.PutObjectInput, f idempotent.Fence) (*Draft, error) {
	if _, err := check(at, f); err != nil {
		return nil, err
	}
	d := &Draft{client: client, at: *at, fence: f}
	d.at.Body = nil
	return d, nil
}

// Add stores one part. The body is read twice: it must be an io.Seeker. The same name again
// takes the place of the one before, so that an attempt may go on with a part that
// failed. What is never published stays until a rule of the bucket takes it away.
func (d *Draft) Add(ctx context.Context, name string, body io.ReadSeeker) error {
	digest := sha256.New()
	size, err := io.Copy(digest, body)
	if err == nil {
		_, err = body.Seek(0, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("read part %s: %w", job.Shorten(name), err)
	}
	sum := hex.EncodeToString(digest.Sum(nil))
	word := sha256.Sum256([]byte(name))
	p := Part{Name: name, Size: size, SHA256: sum, Object: aws.ToString(d.at.Key) + "/parts/" + string(d.fence) + "/" + hex.EncodeToString(word[:8]) + "-" + sum[:16]}
	in := d.at
	in.Key, in.Body, in.IfNoneMatch = &p.Object, body, aws.String("*")
	if _, err := d.client.PutObject(ctx, &in); err != nil && !answered(err, http.StatusPreconditionFailed) { // it is there: ours, whose answer was lost
		return fmt.Errorf("store part %s: %w", job.Shorten(name), err)
	}
	return d.take(p)
}

func (d *Draft) take(p Part) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.parts {
		if d.parts[i].Name == p.Name {
			d.parts[i] = p
			return nil
		}
	}
	if len(d.parts) == MostParts {
		return worker.Permanent(&job.Error{Code: job.CodeTooLarge, Field: "parts", Value: fmt.Sprint(MostParts + 1), Bound: fmt.Sprint(MostParts), Message: "the result has too many parts",
			Fix: "make the parts larger"})
	}
	d.parts = append(d.parts, p)
	return nil
}

// Publish registers the parts that were added, all at once: readers see them, or what
// was there before. It loses, and may be repeated, as the function Publish does.
func (d *Draft) Publish(ctx context.Context) (Manifest, error) {
	d.mu.Lock()
	m := Manifest{Fence: d.fence, Parts: append([]Part{}, d.parts...)}
	d.mu.Unlock()
	text, err := json.Marshal(m)
	if err != nil {
		return Manifest{}, worker.Permanent(fmt.Errorf("encode the manifest: %w", err))
	}
	in := d.at
	in.Body, in.ContentType = bytes.NewReader(text), aws.String("application/json")
	if _, err := Publish(ctx, d.client, &in, d.fence); err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// ReadManifest reads the result that stands at a key. A *job.Error NOT_FOUND says that
// none was published there, INVALID that something else stands there.
func ReadManifest(ctx context.Context, client Client, bucket, key string) (Manifest, error) {
	r, err := Current(ctx, client, bucket, key)
	if err != nil {
		return Manifest{}, err
	}
	out, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &r.Object})
	if err != nil {
		return Manifest{}, fmt.Errorf("read s3://%s/%s: %w", bucket, r.Object, err)
	}
	defer out.Body.Close()
	text, err := io.ReadAll(io.LimitReader(out.Body, longestManifest+1))
	if err != nil {
		return Manifest{}, fmt.Errorf("read s3://%s/%s: %w", bucket, r.Object, err)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil || m.Parts == nil || len(text) > longestManifest {
		return Manifest{}, &job.Error{Code: job.CodeInvalid, Field: job.Shorten("s3://" + bucket + "/" + key), Message: "what is published there is no manifest", Fix: "write it with Draft.Publish"}
	}
	return m, nil
}
