package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/internal/statement"
)

// Schema makes the tables belfry_inbox and belfry_fence, in the schema that is
// first on the search path, where they are not there; run it as a migration. What
// is older than any execution that can still be replayed may be deleted from the
// inbox, by entered_at. Fences are small, one for each resource, and stay.
const Schema = statement.Schema

// DB is what begins a transaction: *sql.DB or *sql.Conn.
type DB interface {
	// BeginTx is that of database/sql.
	BeginTx(ctx context.Context, options *sql.TxOptions) (*sql.Tx, error)
}

// Once does an action in a transaction of its own, together with its entry in the
// inbox: both stand, or neither. What do returns is kept as JSON for later attempts.
//
// Requires: no entry of the action; a transaction that has one and is still open is waited for.
// Writes: the entry, and what do writes through tx.
// Loses when: the action was done: Existing with what was kept, and do is not called.
// An error of do, or a panic, leaves nothing. An error of the commit may leave
// everything: return it, and the next attempt finds it Existing.
func Once[T any](ctx context.Context, db DB, action idempotent.Action, do func(ctx context.Context, tx *sql.Tx) (T, error)) (idempotent.Outcome[T], error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return idempotent.Outcome[T]{}, fmt.Errorf("begin %s: %w", action.Key, err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	o, err := Enter[T](ctx, tx, action)
	if err != nil || !o.IsNew() {
		return o, err
	}
	if o.Value, err = do(ctx, tx); err != nil {
		return idempotent.Outcome[T]{}, err
	}
	if err := Keep(ctx, tx, action, o.Value); err != nil {
		return idempotent.Outcome[T]{}, err
	}
	if err := tx.Commit(); err != nil {
		return idempotent.Outcome[T]{}, fmt.Errorf("commit %s: %w", action.Key, err)
	}
	return o, nil
}

// Enter notes in the caller's transaction that it does the action: New, and the
// caller does it through the same tx. Existing says that it was done, with what was
// kept; the zero value where nothing was.
//
// Requires: no entry of the action; a transaction that has one and is still open is waited for.
// Writes: the entry. Loses when: there is one: Existing.
func Enter[T any](ctx context.Context, tx *sql.Tx, action idempotent.Action) (idempotent.Outcome[T], error) {
	if err := action.Check(); err != nil {
		return idempotent.Outcome[T]{}, err
	}
	rows, err := exec(ctx, tx, statement.Enter, action.Key, string(action.Fence))
	if err != nil {
		return idempotent.Outcome[T]{}, fmt.Errorf("enter %s: %w", action.Key, err)
	}
	if rows == 1 {
		return idempotent.Outcome[T]{State: idempotent.New}, nil
	}
	var kept []byte
	if err := tx.QueryRowContext(ctx, statement.Stored, action.Key).Scan(&kept); err != nil {
		return idempotent.Outcome[T]{}, fmt.Errorf("read the result of %s: %w", action.Key, err)
	}
	return statement.Existing[T](kept)
}

// Keep stores what later attempts are to return, as JSON, beside the entry that Enter has made.
func Keep(ctx context.Context, tx *sql.Tx, action idempotent.Action, result any) error {
	kept, err := json.Marshal(result)
	if err != nil {
		return worker.Permanent(fmt.Errorf("encode the result of %s: %w", action.Key, err))
	}
	rows, err := exec(ctx, tx, statement.Keep, action.Key, string(kept))
	if err != nil {
		return fmt.Errorf("keep the result of %s: %w", action.Key, err)
	}
	if rows != 1 {
		return statement.NotEntered(action)
	}
	return nil
}

// Row is a row of the caller's own table that has a business key, such as an order
// number. The texts go into the statement as they are: constants, never input.
type Row struct {
	Table     string   // such as billing.invoices
	Unique    []string // columns of the business key, over which the table has a unique index
	Columns   []string // what is inserted, Unique among them
	Values    []any    // in the same order
	Returning string   // columns that tell what is stored, such as "id, amount"
}

// Insert puts a row whose business key is new, or finds the one that has it, and
// tells one from the other. scan reads the columns of Returning. Whether what exists
// is the same as what was to be inserted is for the caller to compare.
//
// Requires: no row with the business key; a transaction that has one and is still open is waited for.
// Writes: the row. Loses when: there is one: Existing with what is stored.
func Insert[T any](ctx context.Context, tx *sql.Tx, row Row, scan func(*sql.Row) (T, error)) (idempotent.Outcome[T], error) {
	r := statement.Row(row)
	if err := r.Check(); err != nil {
		return idempotent.Outcome[T]{}, err
	}
	for _, c := range []struct {
		state idempotent.State
		text  func() (string, []any)
	}{{idempotent.New, r.Insert}, {idempotent.Existing, r.Find}} {
		text, args := c.text()
		value, err := scan(tx.QueryRowContext(ctx, text, args...))
		if err == nil {
			return idempotent.Outcome[T]{State: c.state, Value: value}, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return idempotent.Outcome[T]{}, fmt.Errorf("insert into %s: %w", row.Table, err)
		}
	}
	return idempotent.Outcome[T]{}, statement.Vanished(r)
}

// exec is how many rows a statement changed.
func exec(ctx context.Context, tx *sql.Tx, text string, args ...any) (int64, error) {
	result, err := tx.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
