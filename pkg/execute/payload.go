package execute

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// Payloads reads what definitions refer to.
type Payloads interface {
	// Payload reads the object that ref names for a tenant, whole. It refuses what
	// the tenant may not refer to and what is larger than job.MaxPayloadObject.
	// pinned is the digest that the reference itself promises; empty: none.
	Payload(ctx context.Context, tenant string, ref job.PayloadRef) (content []byte, pinned string, err error)
}

// Pins keeps which payload an execution began with.
type Pins interface {
	// PinPayload notes the digest as the owner of held's lease, unless one was noted
	// before, and returns the one that holds; job.ErrLost when it is not the owner.
	PinPayload(ctx context.Context, held *job.Execution, digest string) (string, error)
}

// Payload is a payload that lies elsewhere, in the hands of one attempt. It is safe
// for concurrent use.
//
// The first attempt that reads it pins its digest on the execution, which costs one
// write: from then on every attempt of the execution, on whatever worker, gets
// exactly that content or none. A reference whose name is its digest needs no pin.
type Payload struct {
	keeper *keeper
	item   *job.Execution
	ref    string

	mu      sync.Mutex
	loaded  bool
	content []byte
}

// newPayload is that of a definition or of the run that was given one of its own;
// nil: the payload is written out, or there is none.
func newPayload(k *keeper, item *job.Execution, d job.Definition) *Payload {
	ref := d.PayloadRef
	if item.PayloadRef != "" {
		ref = item.PayloadRef
	}
	if ref == "" {
		return nil
	}
	return &Payload{keeper: k, item: item, ref: ref}
}

// Ref is where it lies, s3://bucket/key.
func (l *Payload) Ref() string { return l.ref }

// Load reads it, once: later calls answer what the first successful one has read.
// The error's code says why there is none; ErrLeaseLost: somebody else may run the
// execution now.
func (l *Payload) Load(ctx context.Context) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loaded {
		return l.content, nil
	}
	p := l.keeper.p
	if p.Payloads == nil || p.Pins == nil {
		return nil, l.unread(&job.Error{Code: job.CodeNotSupported, Message: "this worker was given nothing to read payloads with", Fix: "set Payloads and Pins of the execution plane"})
	}
	ref, err := job.ParsePayloadRef(l.ref)
	if err != nil {
		return nil, err
	}
	content, promised, err := p.Payloads.Payload(ctx, l.item.Tenant, ref)
	if err != nil {
		return nil, l.unread(err)
	}
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	if promised == "" {
		if promised, err = l.pinned(ctx, digest); err != nil {
			return nil, err
		}
	}
	if promised != digest {
		return nil, &job.Error{Code: job.CodePayloadChanged, Field: "payload_ref", Value: job.Shorten(l.ref), Bound: "sha256 " + promised,
			Message: "the payload is not what the execution began with: its SHA-256 is " + digest, Fix: "put back what was there, or replay the execution to run it with what is there now"}
	}
	l.loaded, l.content = true, content
	return content, nil
}

// pinned is the digest that holds for the execution: of an earlier attempt, or this.
func (l *Payload) pinned(ctx context.Context, digest string) (string, error) {
	if l.item.PayloadSum != "" {
		return l.item.PayloadSum, nil
	}
	held, err := l.keeper.p.Pins.PinPayload(ctx, l.keeper.current(), digest)
	if errors.Is(err, job.ErrLost) {
		l.keeper.end(ErrLeaseLost)
		return "", ErrLeaseLost
	}
	if err != nil {
		return "", l.unread(err)
	}
	return held, nil
}

// unread keeps a refusal of ours; everything else may be otherwise the next time.
func (l *Payload) unread(err error) error {
	if c := job.CodeOf(err); c == job.CodePayloadForbidden || c == job.CodePayloadTooLarge {
		return err
	}
	return &job.Error{Code: job.CodePayloadUnread, Field: "payload_ref", Value: job.Shorten(l.ref), Message: fmt.Sprintf("the payload cannot be read: %v", err),
		Fix: "see that the object is there and that workers may read it"}
}
