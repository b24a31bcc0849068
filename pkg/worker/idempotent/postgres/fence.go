package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/internal/statement"
)

// Hold takes the fence of a resource, a name that the caller chooses, until the
// transaction ends. Whatever is written through tx afterwards, in however many rows
// and tables, is the newest attempt's.
//
// Requires: no fence of the resource above f. An attempt may hold it again and
// again: its own fence is no obstacle. Who holds it in an open transaction is waited for.
// Writes: f. Loses when: a newer attempt has held it: *idempotent.StaleError.
// Then the caller: rolls back and returns the error.
func Hold(ctx context.Context, tx pgx.Tx, resource string, f idempotent.Fence) error {
	if err := f.Check(); err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, statement.Hold, resource, string(f))
	if err != nil {
		return fmt.Errorf("hold %s: %w", resource, err)
	}
	if tag.RowsAffected() == 1 {
		return nil
	}
	var holder string
	if err := tx.QueryRow(ctx, statement.Holder, resource).Scan(&holder); err != nil {
		return fmt.Errorf("read who holds %s: %w", resource, err)
	}
	return &idempotent.StaleError{What: resource, Fence: f, Holder: idempotent.Fence(holder)}
}

// Update is a fenced UPDATE of one row of the caller's own table, which keeps the
// fence in a column last_fencing_token of type text, NULL where none has written.
// The texts go into the statement as they are: constants, never input.
//
//	postgres.Update{Table: "accounts", Where: "id = $1", Key: []any{7}, Set: "balance = $2", Values: []any{250}}
type Update struct {
	Table  string
	Where  string // names one row; its arguments are $1 to $k
	Key    []any  // those k arguments
	Set    string // assignments; their arguments begin at $k+1
	Values []any  // those
}

// Exec carries the update out in the caller's transaction.
//
// Requires: a row that Where names, whose fence is not above f. An attempt may
// write again and again: its own fence is no obstacle.
// Writes: Set, and f. Loses when: a newer attempt has written the row:
// *idempotent.StaleError. No row is a *job.Error NOT_FOUND; more than one is
// INVALID, and the transaction must be rolled back.
func (u Update) Exec(ctx context.Context, tx pgx.Tx, f idempotent.Fence) error {
	s := statement.Update(u)
	if err := errors.Join(f.Check(), s.Check()); err != nil {
		return err
	}
	text, args := s.Text(f)
	tag, err := tx.Exec(ctx, text, args...)
	if err != nil {
		return fmt.Errorf("update %s: %w", u.Table, err)
	}
	if rows := tag.RowsAffected(); rows > 1 {
		return statement.Several(s, rows)
	} else if rows == 1 {
		return nil
	}
	text, args = s.Holder()
	var holder string
	switch err := tx.QueryRow(ctx, text, args...).Scan(&holder); {
	case errors.Is(err, pgx.ErrNoRows):
		return statement.Missing(s)
	case err != nil:
		return fmt.Errorf("read who has written %s: %w", u.Table, err)
	}
	return statement.Overtaken(s, f, idempotent.Fence(holder))
}
