package target

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// Codes of webhook failures beside HTTP_<status>.
const (
	CodeRefusedAddress = "WEBHOOK_REFUSED_ADDRESS" // the address is not public and not allowed
	CodeUnusable       = "WEBHOOK_UNUSABLE"        // no request can be made of what the job says
	CodeConnection     = "WEBHOOK_CONNECTION"      // no connection, or it broke before the answer
	CodeTimeout        = "WEBHOOK_TIMEOUT"         // no answer in time
)

const (
	// mostIdle bounds the connections kept open: a burst of executions to one
	// receiver must not open each anew.
	mostIdle        = 1024
	mostIdlePerHost = 256
	idleFor         = 90 * time.Second
	dialTimeout     = 10 * time.Second
	handshakeFor    = 10 * time.Second
	// readMost is how much of an answer is read, so that its connection can be
	// used again; a longer one costs the connection.
	readMost = 64 << 10
	// readFor is how long an answer's body may take: the status has been told.
	readFor = 5 * time.Second
	// headerMost bounds the answer's header.
	headerMost = 64 << 10
)

// emptyBody is sent for a job without payload: receivers always find an object.
var emptyBody = []byte("{}")

type webhook struct {
	client    *http.Client
	signer    *standardwebhooks.Webhook // nil = unsigned
	clock     Clock
	userAgent string
	vault     *vault
}

func newWebhook(o Options) (*webhook, error) { return newWebhookBy(o, nil) }

// newWebhookBy asks resolver for the addresses of names; nil = the system's.
func newWebhookBy(o Options, resolver *net.Resolver) (*webhook, error) {
	h := &webhook{clock: o.Clock, userAgent: o.UserAgent, vault: &vault{read: o.ReadSecret, rules: o.Secrets, clock: o.Clock}}
	if h.userAgent == "" {
		h.userAgent = "Belfry"
	}
	if o.WebhookSecret != "" {
		signer, err := newSigner(o.WebhookSecret)
		if err != nil {
			return nil, err
		}
		h.signer = signer
	}
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second, Resolver: resolver}
	h.client = &http.Client{
		// A redirect could lead where the job's author was not allowed to point, and
		// would be followed with the signature of another request.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy: nil, DialContext: guard{reach: o.WebhookAllow}.dial(dialer), ForceAttemptHTTP2: true, DisableCompression: true,
			MaxIdleConns: mostIdle, MaxIdleConnsPerHost: mostIdlePerHost, IdleConnTimeout: idleFor,
			TLSHandshakeTimeout: handshakeFor, MaxResponseHeaderBytes: headerMost,
		},
	}
	return h, nil
}

// handle sends one request. Go's HTTP client may send it a second time when a
// kept connection turns out to be closed: it carries an idempotency key, and an
// execution may run more than once anyway.
func (h *webhook) handle(ctx context.Context, a *worker.Attempt) error {
	target := a.Target().Webhook
	if target == nil {
		return worker.WithCode(CodeUnusable, worker.Permanent(errors.New("the job names no webhook")))
	}
	body := []byte(a.Payload())
	if len(body) == 0 {
		body = emptyBody
	}
	got, err := h.exchange(ctx, a, http.MethodPost, target.URL, body)
	var silence *silence
	switch {
	case errors.As(err, &silence):
		err = unanswered(ctx, silence.err)
		if target.ConfirmURL != "" && silence.sent && untold(ctx) {
			err = worker.Uncertain(err)
		}
		return err
	case err != nil:
		return worker.Elsewhere(err) // it never came to a request
	}
	err = judge(got.Response, got.text, h.clock.Now())
	if target.ConfirmURL != "" && unheard(got.StatusCode) {
		err = worker.Uncertain(err)
	}
	if got.refused() {
		return worker.Elsewhere(worker.WithCode("HTTP_"+strconv.Itoa(got.StatusCode), worker.Retry(fmt.Errorf("%w; the secret was from memory, the next attempt reads it anew", err))))
	}
	return err
}

// resolve puts secrets in the place of their references. hide are those secrets;
// refresh forgets them, and tells whether one may have been out of date.
func (h *webhook) resolve(ctx context.Context, own map[string]string) (headers map[string]string, hide secrets, refresh func() bool, err error) {
	headers = make(map[string]string, len(own))
	var used []resolved
	for _, name := range slices.Sorted(maps.Keys(own)) { // so that the same fault is told each time
		one, err := h.vault.resolve(ctx, own[name])
		if err != nil {
			return nil, nil, nil, err
		}
		if headers[name] = one.text; one.secret != "" {
			used, hide = append(used, one), append(hide, one.secret)
		}
	}
	return headers, hide, func() bool {
		old := false
		for _, one := range used {
			one.forget()
			old = old || one.old
		}
		return old
	}, nil
}

// unanswered says what becomes of a request that got no answer.
func unanswered(ctx context.Context, err error) error {
	var refused *RefusedAddressError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &refused):
		return worker.Elsewhere(worker.WithCode(CodeRefusedAddress, worker.Permanent(refused)))
	case ctx.Err() != nil:
		return worker.WithCode(CodeTimeout, fmt.Errorf("no answer before the attempt ended: %w", ctx.Err()))
	case errors.As(err, &timeout) && timeout.Timeout():
		return worker.WithCode(CodeTimeout, worker.TimedOut(plain(err)))
	}
	return worker.WithCode(CodeConnection, worker.Retry(plain(err)))
}
