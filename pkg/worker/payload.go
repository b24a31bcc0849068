package worker

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/belfry-scheduler/belfry/pkg/execute"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// PayloadOnDemand says that a handler reads a payload that lies elsewhere itself,
// with LoadPayload, if it needs it: one that only hands the reference on need not
// wait for 16 MiB. Without it such a payload is read and verified before the handler
// begins, so that Payload and Decode always have it.
func PayloadOnDemand() Option { return func(h *handling) { h.onDemand = true } }

// payload is what an attempt has of a payload that lies elsewhere.
type payload struct {
	mu      sync.Mutex
	content json.RawMessage
}

// PayloadRef is where the payload lies, s3://bucket/key; empty when it is written
// out in the job, or there is none.
func (a *Attempt) PayloadRef() string {
	if a.run.Payload == nil {
		return ""
	}
	return a.run.Payload.Ref()
}

// LoadPayload reads the payload wherever it lies, once; Payload has it from then on.
// What lies elsewhere is read whole, up to 16 MiB, and is exactly what the
// execution's first attempt found there. Return the error: PAYLOAD_CHANGED,
// PAYLOAD_FORBIDDEN and PAYLOAD_TOO_LARGE are permanent, PAYLOAD_UNREAD is tried
// again.
func (a *Attempt) LoadPayload(ctx context.Context) (json.RawMessage, error) {
	if a.run.Payload == nil {
		return a.run.Definition.Payload, nil
	}
	content, err := a.run.Payload.Load(ctx)
	if err != nil {
		return nil, payloadFailure(err)
	}
	a.payload.mu.Lock()
	defer a.payload.mu.Unlock()
	a.payload.content = content
	return content, nil
}

// Payload is the job's payload as written; empty when it has none. One that lies
// elsewhere (payload_ref) has been read before the handler began, and is whatever
// bytes the object holds; with PayloadOnDemand it is empty until LoadPayload.
func (a *Attempt) Payload() json.RawMessage {
	if a.run.Payload == nil {
		return a.run.Definition.Payload
	}
	a.payload.mu.Lock()
	defer a.payload.mu.Unlock()
	return a.payload.content
}

// payloadFailure gives the error its code, and its class: what will not be otherwise
// the next time is permanent.
func payloadFailure(err error) error {
	if errors.Is(err, execute.ErrLeaseLost) {
		return err
	}
	code := job.CodeOf(err)
	if code == job.CodePayloadUnread || code == "" {
		return WithCode(job.CodePayloadUnread, Retry(err))
	}
	return WithCode(string(code), Permanent(err))
}

// prepare reads the payload for the handler, and for the question whether an earlier
// attempt took effect. Where that would have to be asked, a payload that is gone for
// good leaves the answer to a person: it failing says nothing about that attempt.
func (h handling) prepare(ctx context.Context, a *Attempt) *lifecycle.Failure {
	if h.onDemand || a.run.Payload == nil {
		return nil
	}
	_, err := a.LoadPayload(ctx)
	f := FailureOf(err)
	if f == nil || h.confirm == nil {
		return f
	}
	f.Confirmable = true
	if a.run.Execution.Doubt && f.Class == lifecycle.PermanentClass {
		f.Class = lifecycle.UncertainClass
		f.Confirmable = false
	}
	return f
}
