package container

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go/middleware"
)

const (
	// deafAfter is how long an idle worker may go without an answer of any queue.
	// One that is well asks each queue anew every 20 seconds.
	deafAfter = 2 * time.Minute
	// askWithin is how long the answer to whoever asks may take.
	askWithin = 4 * time.Second
)

// The answers. A worker that is deaf is to be replaced; one that starts or drains
// is well, but takes nothing.
const (
	stateOK       = "ok"
	stateStarting = "starting"
	stateDraining = "draining"
	stateDeaf     = "deaf"
)

// health is how this worker is, for whoever runs it. While anything runs here it
// is well, whatever the queues say: to replace it would cost those executions,
// and a service that is out of reach is reached no better by another worker.
type health struct {
	now     func() time.Time
	running func() int

	began    time.Time
	sign     atomic.Int64 // the last sign that it is well, in nanoseconds since began
	heard    atomic.Bool  // a queue has answered
	draining atomic.Bool
}

func newHealth(now func() time.Time) *health {
	return &health{now: now, began: now(), running: func() int { return 0 }}
}

// hear notes every answer to a receive, one without messages, too. It is an
// option of the client.
func (h *health) hear(o *sqs.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Hear", func(ctx context.Context, in middleware.InitializeInput,
			next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			out, metadata, err := next.HandleInitialize(ctx, in)
			if err == nil && awsmiddleware.GetOperationName(ctx) == "ReceiveMessage" {
				h.heard.Store(true)
				h.seen()
			}
			return out, metadata, err
		}), middleware.After)
	})
}

func (h *health) seen() { h.sign.Store(int64(h.now().Sub(h.began))) }

// state is one of the words above.
func (h *health) state() string {
	if h.running() > 0 {
		// A worker that is full asks no queue; it is given its time when it asks again.
		h.seen()
	}
	switch {
	case h.draining.Load():
		return stateDraining
	case h.now().Sub(h.began)-time.Duration(h.sign.Load()) > deafAfter:
		return stateDeaf
	case !h.heard.Load():
		return stateStarting
	}
	return stateOK
}

// ServeHTTP answers /healthz, whether this process is to be kept, and /readyz,
// whether it takes messages: 200 or 503, and the state in JSON.
func (h *health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	state := h.state()
	code := http.StatusOK
	switch {
	case r.URL.Path != "/healthz" && r.URL.Path != "/readyz":
		http.NotFound(w, r)
		return
	case r.URL.Path == "/healthz" && state == stateDeaf, r.URL.Path == "/readyz" && state != stateOK:
		code = http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"state": state, "running": h.running()}) // whoever asked is gone
}

// serve answers at the address until the returned function is called; an empty
// address is not listened at.
func (h *health) serve(address string, log *slog.Logger) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address) //nolint:noctx // it takes no time
	if err != nil {
		return nil, fmt.Errorf("answer how the worker is (BELFRY_HEALTH): %w", err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: askWithin, WriteTimeout: askWithin, IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 13}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("nobody can ask any more how the worker is", slog.Any("error", err))
		}
	}()
	return func() {
		_ = server.Close()
		<-done
	}, nil
}

// probe asks the worker that listens at the address how it is: what a container
// without a shell and curl can run as its health check.
func probe(ctx context.Context, address string, out io.Writer) error {
	if address == "" {
		return fmt.Errorf("--health asks at BELFRY_HEALTH, which is not set: %w", errUsage)
	}
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+near(address)+"/healthz", nil)
	if err != nil {
		return err
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return fmt.Errorf("ask how the worker is: %w", err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	if err != nil {
		return fmt.Errorf("ask how the worker is: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the worker is not well: %s: %s", answer.Status, said)
	}
	_, err = out.Write(said)
	return err
}

// near is where this machine reaches an address that may stand for all of its own;
// one without a host is this machine anyway.
func near(address string) string {
	host, port, _ := net.SplitHostPort(address)
	if at, err := netip.ParseAddr(host); err == nil && at.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}
