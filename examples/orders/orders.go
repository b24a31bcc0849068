// Package orders is an example of handlers: what a team writes to run its work on
// Belfry. docs/handlers.md walks through it.
package orders

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// Order is the payload of the jobs of handler charge.
type Order struct {
	Account string `json:"account"`
	Cents   int64  `json:"cents"`
}

// What a bank can answer.
var (
	ErrBusy   = errors.New("the bank asks to come back later")
	ErrClosed = errors.New("the account is closed")
)

// Bank moves money. It knows a repeated request by its key.
type Bank interface {
	// Charge takes the money once for a key, however often it is asked.
	Charge(ctx context.Context, key, account string, cents int64) error
	// Charged tells whether the money was taken for a key.
	Charged(ctx context.Context, key string) (bool, error)
}

// Page is some rows of an export, and where the next ones begin; empty = at the end.
type Page struct {
	Rows []string
	Next string
}

// Ledger holds what is exported.
type Ledger interface {
	// Read reads the page that begins there.
	Read(ctx context.Context, from string) (Page, error)
	// Write writes a page's rows; the same page written twice stands there once.
	Write(ctx context.Context, from string, rows []string) error
}

// Handlers are what the team's worker runs.
type Handlers struct {
	Bank   Bank
	Ledger Ledger
}

// Register adds the handlers to a worker. The same function serves the worker that
// runs as a Lambda function, the one that runs as a container, and the tests.
func (h Handlers) Register(w *worker.Worker) {
	w.Use(logged)
	worker.HandleTyped(w, "charge", h.charge, worker.Confirm(h.charged))
	worker.Handle(w, "export", h.export)
	worker.Handle(w, "close-the-books", h.closeTheBooks, worker.Uncancelable())
}

// logged is a middleware: it runs around every handler.
func logged(next worker.Handler) worker.Handler {
	return func(ctx context.Context, a *worker.Attempt) error {
		err := next(ctx, a)
		if f := worker.FailureOf(err); f != nil {
			a.Log().WarnContext(ctx, "the attempt failed", "class", f.Class, "code", f.Code)
		}
		return err
	}
}

// charge hands the idempotency key on, and says how each failure is to be retried.
func (h Handlers) charge(ctx context.Context, a *worker.Attempt, order Order) error {
	err := h.Bank.Charge(ctx, a.IdempotencyKey(), order.Account, order.Cents)
	switch {
	case errors.Is(err, ErrBusy):
		return worker.RetryAfter(err, time.Minute)
	case errors.Is(err, ErrClosed):
		return worker.WithCode("ACCOUNT_CLOSED", worker.Permanent(err))
	}
	return err // tried again, each time later
}

// charged is asked before charge runs again after an attempt that did not tell how
// it ended: it timed out, or its worker was lost.
func (h Handlers) charged(ctx context.Context, key string) (worker.Answer, error) {
	charged, err := h.Bank.Charged(ctx, key)
	switch {
	case err != nil:
		return worker.Unknown, err
	case charged:
		return worker.Done, nil
	}
	return worker.NotDone, nil
}

// export goes on where the attempt before it, on whatever worker, has come to.
func (h Handlers) export(ctx context.Context, a *worker.Attempt) error {
	var at string
	if _, err := a.Load(ctx, &at); err != nil {
		return err
	}
	for {
		page, err := h.Ledger.Read(ctx, at)
		if err != nil {
			return err
		}
		if err := h.Ledger.Write(ctx, at, page.Rows); err != nil {
			return err
		}
		if page.Next == "" {
			return nil
		}
		at = page.Next
		if err := a.Save(ctx, at); err != nil { // after the work that it tells of
			return fmt.Errorf("save how far the export has come: %w", err)
		}
	}
}

// closeTheBooks must not be stopped half-way: a cancel is shown as declined.
func (h Handlers) closeTheBooks(ctx context.Context, _ *worker.Attempt) error {
	for _, book := range []string{"sales", "stock", "taxes"} {
		if err := h.Ledger.Write(ctx, book, []string{"closed"}); err != nil {
			return err
		}
	}
	return nil
}
