package objects

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// uploadFor is how long a signed upload is good for. Credentials of a function may
// end it sooner.
const uploadFor = 15 * time.Minute

// Uploads signs uploads of payloads, so that they need not pass the API, whose
// requests are small.
type Uploads struct {
	signer *s3.PresignClient
	now    func() time.Time
}

// NewUploads signs with client's credentials. It makes no call.
func NewUploads(client *s3.Client, now func() time.Time) *Uploads {
	return &Uploads{signer: s3.NewPresignClient(client), now: now}
}

// Upload signs one PUT. S3 refuses another content: its SHA-256 and its length are
// part of what is signed.
func (u *Uploads) Upload(ctx context.Context, ref job.PayloadRef, digest string, size int64) (job.Upload, error) {
	raw, err := hex.DecodeString(digest)
	if err != nil {
		return job.Upload{}, fmt.Errorf("read the digest: %w", err)
	}
	until := u.now().Add(uploadFor)
	signed, err := u.signer.PresignPutObject(ctx, &s3.PutObjectInput{Bucket: &ref.Bucket, Key: &ref.Key, ContentLength: &size,
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(raw))}, s3.WithPresignExpires(uploadFor))
	if err != nil {
		return job.Upload{}, fmt.Errorf("sign the upload: %w", err)
	}
	headers := map[string]string{}
	for name := range signed.SignedHeader {
		if canonical := http.CanonicalHeaderKey(name); canonical != "Host" && canonical != "Content-Length" {
			headers[canonical] = signed.SignedHeader.Get(name)
		}
	}
	return job.Upload{Method: signed.Method, URL: signed.URL, Headers: headers, Until: until}, nil
}
