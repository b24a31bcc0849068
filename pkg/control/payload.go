package control

import (
	"context"
	"fmt"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Uploads lets callers store payloads in the installation's bucket, past the API.
type Uploads interface {
	// Upload signs one request that stores size bytes of that SHA-256 under ref, and
	// nothing else, for a while.
	Upload(ctx context.Context, ref job.PayloadRef, digest string, size int64) (job.Upload, error)
}

// PayloadRequest asks for a place for a payload.
type PayloadRequest struct {
	Tenant string
	Digest string // SHA-256 of it, in lower-case hex
	Size   int64  // in bytes
}

// StorePayload gives a payload its reference, and the request that stores it there.
// Content and reference belong together: the same payload always has the same one.
func (s *Service) StorePayload(ctx context.Context, r PayloadRequest) (job.PayloadRef, job.Upload, error) {
	switch {
	case s.Uploads == nil || s.Payloads.Own == "":
		return job.PayloadRef{}, job.Upload{}, &job.Error{Code: job.CodeNotSupported, Field: "payload", Message: "this installation has no bucket of its own",
			Fix: "give it one (BELFRY_BUCKET), or store the payload in a bucket that the settings open to the tenant"}
	case !job.IsDigest(r.Digest):
		return job.PayloadRef{}, job.Upload{}, &job.Error{Code: job.CodeInvalid, Field: "sha256", Value: job.Shorten(r.Digest), Bound: "64 hexadecimal digits in lower case",
			Message: "the digest is no SHA-256", Fix: "send what sha256sum prints"}
	case r.Size < 1 || r.Size > job.MaxPayloadObject:
		return job.PayloadRef{}, job.Upload{}, &job.Error{Code: job.CodeTooLarge, Field: "size", Value: fmt.Sprint(r.Size), Bound: fmt.Sprintf("1 to %d bytes", job.MaxPayloadObject),
			Message: fmt.Sprintf("a payload of %d bytes is out of bounds", r.Size), Fix: "leave the data where it is, and make the payload a list of where it lies"}
	}
	ref := job.OwnPayload(s.Payloads.Own, r.Tenant, r.Digest)
	upload, err := s.Uploads.Upload(ctx, ref, r.Digest, r.Size)
	return ref, upload, err
}

// checkPayload refuses a reference that the tenant may not make. Whether anything
// lies there is seen when the first attempt begins: it may come later.
func (s *Service) checkPayload(tenant, reference string) error {
	if reference == "" {
		return nil
	}
	ref, err := job.ParsePayloadRef(reference)
	if err != nil {
		return err
	}
	return s.Payloads.Check(tenant, ref)
}

// checkRunPayload refuses a run with a payload that the job's target could not take,
// or that the tenant may not refer to.
func (s *Service) checkRunPayload(ctx context.Context, head *job.Head, reference string, now time.Time) error {
	if reference == "" {
		return nil
	}
	if err := s.checkPayload(head.Tenant, reference); err != nil {
		return err
	}
	revision, err := s.Jobs.Revision(ctx, head.Ref, head.RevisionAt(now))
	if err != nil || revision == nil {
		return err
	}
	d := revision.Definition
	d.Payload, d.PayloadRef = nil, reference
	return d.Validate()
}
