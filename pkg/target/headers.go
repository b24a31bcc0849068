package target

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/target/internal/answer"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

const (
	secretPrefix               = "whsec_"
	secretLeast, secretMost    = 24, 64 // bytes, by the Standard Webhooks scheme
	headerContent, contentJSON = "Content-Type", "application/json"
)

// newSigner reads the installation's key. No error repeats any of it.
func newSigner(secret string) (*standardwebhooks.Webhook, error) {
	refuse := func(why string) error {
		return &job.Error{Code: job.CodeInvalid, Field: "BELFRY_WEBHOOK_SECRET", Message: "the signing key " + why,
			Bound: "whsec_ and 24 to 64 bytes in base64", Fix: "make one with: echo whsec_$(openssl rand -base64 32)"}
	}
	encoded, found := strings.CutPrefix(secret, secretPrefix)
	if !found {
		return nil, refuse("does not begin with " + secretPrefix)
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, refuse("is not base64")
	}
	if len(key) < secretLeast || len(key) > secretMost {
		return nil, refuse(fmt.Sprintf("has %d bytes", len(key)))
	}
	return standardwebhooks.NewWebhookRaw(key)
}

// setHeaders sets the job's headers first and Belfry's after, so that no job
// can speak in Belfry's name. traced is the trace context of the call, when it is
// recorded.
func (h *webhook) setHeaders(r *http.Request, own map[string]string, a *worker.Attempt, traced string, body []byte) error {
	if traced == "" {
		traced = a.Traceparent()
	}
	r.Header.Set(headerContent, contentOf(a, body))
	r.Header.Set("User-Agent", h.userAgent)
	for name, value := range own {
		r.Header.Set(name, value)
	}
	start, end := a.Interval()
	for name, value := range map[string]string{
		"Belfry-Execution-Id":   a.ExecutionID(),
		"Idempotency-Key":       a.IdempotencyKey(),
		"Belfry-Scheduled-Time": answer.Stamp(a.ScheduledAt()),
		"Belfry-Interval-Start": answer.Stamp(start),
		"Belfry-Interval-End":   answer.Stamp(end),
		"Belfry-Deadline":       answer.Stamp(a.Deadline()),
		"Belfry-Revision":       strconv.Itoa(a.Revision()),
		"Belfry-Attempt":        strconv.Itoa(a.Number()),
		"Belfry-Fencing-Token":  strconv.FormatInt(a.FencingToken(), 10),
		"Belfry-Fence":          a.Fence(),
		"Belfry-Tenant":         a.Tenant(),
		"Belfry-Job":            a.Job(),
		"Traceparent":           traced,
	} {
		r.Header.Del(name)
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	return h.sign(r, a.IdempotencyKey(), body)
}

// contentOf is what the body is said to be: what is written in a job is JSON, what
// lies elsewhere may be anything.
func contentOf(a *worker.Attempt, body []byte) string {
	if a.PayloadRef() == "" || json.Valid(body) {
		return contentJSON
	}
	return "application/octet-stream"
}

// sign sets the headers of the Standard Webhooks scheme. The id is the
// idempotency key, the same for every attempt. The scheme joins id, time and
// body by full stops, so those of the id are written as %2E: a job's name could
// otherwise shift where one part ends.
func (h *webhook) sign(r *http.Request, key string, body []byte) error {
	id := strings.ReplaceAll(key, ".", "%2E")
	now := h.clock.Now()
	r.Header.Set(standardwebhooks.HeaderWebhookID, id)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Del(standardwebhooks.HeaderWebhookSignature)
	if h.signer == nil {
		return nil
	}
	signature, err := h.signer.Sign(id, now, body)
	if err != nil {
		return worker.WithCode(CodeUnusable, fmt.Errorf("sign the request: %w", err))
	}
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	return nil
}
