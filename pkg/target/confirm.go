package target

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/target/internal/answer"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// askFor is how long a receiver may take to say what became of an attempt: of the
// time of the next one, which is for doing it.
const askFor = 30 * time.Second

// confirm asks the receiver, before a webhook is called again, whether the attempt
// that did not tell how it ended took effect. Only what it says in so many words
// counts: a bare 404 is what a mistyped URL answers, too, and to take it for "not
// done" would do it twice.
func (h *webhook) confirm(ctx context.Context, a *worker.Attempt) (worker.Answer, error) {
	target := a.Target().Webhook
	if target == nil || target.ConfirmURL == "" {
		return worker.NotDone, nil // as before there was a question: it is tried again
	}
	ctx, stop := context.WithTimeout(ctx, askFor)
	defer stop()
	got, err := h.exchange(ctx, a, http.MethodGet, target.ConfirmURL, nil)
	var silence *silence
	switch {
	case errors.As(err, &silence):
		return worker.Unknown, fmt.Errorf("confirm_url gave no answer: %w", cause(silence.err))
	case err != nil:
		return worker.Unknown, err
	}
	got.refused() // whatever comes of it, it is asked again
	said, err := stateOf(got)
	if err != nil {
		wait, _ := answer.RetryAfter(got.Header.Get("Retry-After"), h.clock.Now())
		return worker.Unknown, worker.RetryAfter(err, wait)
	}
	a.Log().InfoContext(ctx, "the receiver was asked about an earlier attempt", slog.String("answer", said.String()))
	return said, nil
}

// stateOf reads what a receiver says of an execution.
func stateOf(got *reply) (worker.Answer, error) {
	if got.StatusCode != http.StatusOK && got.StatusCode != http.StatusNotFound {
		return worker.Unknown, fmt.Errorf("confirm_url: %s", describe(got.Response, got.text))
	}
	var said struct {
		State string `json:"state"`
	}
	if err := json.Unmarshal(got.text, &said); err == nil {
		switch {
		case said.State == "not_done":
			return worker.NotDone, nil
		case got.StatusCode != http.StatusOK: // there is nothing to be done or unknown
		case said.State == "done":
			return worker.Done, nil
		case said.State == "unknown":
			return worker.Unknown, nil
		}
	}
	return worker.Unknown, fmt.Errorf("confirm_url answered %d without a state, which is \"done\", \"not_done\" or \"unknown\": %s", got.StatusCode, job.Shorten(answer.Printable(got.text)))
}

// untold tells whether a request whose answer did not come is one to be asked about
// that nobody else takes note of: a deadline, a cancel request and a lost lease have
// outcomes of their own.
func untold(ctx context.Context) bool {
	why := context.Cause(ctx)
	return !errors.Is(why, worker.ErrDeadline) && !errors.Is(why, worker.ErrCanceled) && !errors.Is(why, worker.ErrLeaseLost)
}

// unheard are the answers of whoever stands before a receiver and did not hear from
// it: it may have done its work all the same.
func unheard(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusGatewayTimeout
}
