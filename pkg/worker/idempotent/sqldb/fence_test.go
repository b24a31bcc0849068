package sqldb_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/sqldb"
)

// tools are the two ways to write under a fence.
var tools = map[string]func(ctx context.Context, tx *sql.Tx, f idempotent.Fence, balance int) error{
	"hold": func(ctx context.Context, tx *sql.Tx, f idempotent.Fence, balance int) error {
		if err := sqldb.Hold(ctx, tx, "account 7", f); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = $1 WHERE id = 7", balance)
		return err
	},
	"update": func(ctx context.Context, tx *sql.Tx, f idempotent.Fence, balance int) error {
		return sqldb.Update{Table: "accounts", Where: "id = $1", Key: []any{7}, Set: "balance = $2", Values: []any{balance}}.Exec(ctx, tx, f)
	},
}

func TestAFrozenWorkersWriteIsRefusedAndTheNewerOnesStands(t *testing.T) {
	for tool, write := range tools {
		t.Run(tool, func(t *testing.T) {
			db := setup(t)
			err := inTx(t.Context(), db, func(old *sql.Tx) error {
				var read int // the old worker reads, and freezes
				if err := old.QueryRowContext(t.Context(), "SELECT balance FROM accounts WHERE id = 7").Scan(&read); err != nil {
					return err
				}
				for range 2 { // the newer attempt may write again
					if err := inTx(t.Context(), db, func(tx *sql.Tx) error { return write(t.Context(), tx, fence(2), 250) }); err != nil {
						return err
					}
				}
				return write(t.Context(), old, fence(1), read-30)
			})
			var stale *idempotent.StaleError
			if !errors.As(err, &stale) || stale.Fence != fence(1) || stale.Holder != fence(2) {
				t.Errorf("the old worker was told %v", err)
			}
			want(t, db, "SELECT balance FROM accounts WHERE id = 7", 250)
		})
	}
}

func TestWritesThatMeetAreOrderedByTheirFences(t *testing.T) {
	for tool, write := range tools {
		for name, order := range map[string][2]int64{"the older first": {1, 2}, "the newer first": {2, 1}} {
			t.Run(tool+", "+name, func(t *testing.T) {
				db := setup(t)
				var second error
				var waiter sync.WaitGroup
				err := inTx(t.Context(), db, func(tx *sql.Tx) error {
					if err := write(t.Context(), tx, fence(order[0]), int(order[0])); err != nil {
						return err
					}
					waiter.Go(func() {
						second = inTx(t.Context(), db, func(tx *sql.Tx) error { return write(t.Context(), tx, fence(order[1]), int(order[1])) })
					})
					untilBlocked(t, db)
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				waiter.Wait()
				if refused := order[1] < order[0]; errors.Is(second, idempotent.ErrFenced) != refused || !refused && second != nil {
					t.Errorf("the second was told %v", second)
				}
				want(t, db, "SELECT balance FROM accounts WHERE id = 7", 2)
			})
		}
	}
}

func TestOfTwentyAttemptsAtOnceTheNewestStands(t *testing.T) {
	for _, write := range tools {
		db := setup(t)
		var all sync.WaitGroup
		for token := int64(1); token <= 20; token++ {
			all.Go(func() {
				err := inTx(t.Context(), db, func(tx *sql.Tx) error { return write(t.Context(), tx, fence(token), int(token)) })
				if err != nil && !errors.Is(err, idempotent.ErrFenced) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		want(t, db, "SELECT balance FROM accounts WHERE id = 7", 20)
	}
}

func TestAnUpdateThatIsNotOfOneRowSaysSo(t *testing.T) {
	db := setup(t)
	of := func(where string, key int) sqldb.Update {
		return sqldb.Update{Table: "accounts", Where: where, Key: []any{key}, Set: "balance = 1"}
	}
	for name, c := range map[string]struct {
		u    sqldb.Update
		f    idempotent.Fence
		code job.Code
	}{
		"no such row":  {of("id = $1", 99), fence(1), job.CodeNotFound},
		"several rows": {of("id >= $1", 7), fence(1), job.CodeInvalid},
		"no key":       {of("", 7), fence(1), job.CodeInvalid},
		"nobody's":     {of("id = $1", 7), "", job.CodeInvalid},
	} {
		err := inTx(t.Context(), db, func(tx *sql.Tx) error { return c.u.Exec(t.Context(), tx, c.f) })
		if job.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if err := inTx(t.Context(), db, func(tx *sql.Tx) error { return sqldb.Hold(t.Context(), tx, "x", "") }); job.CodeOf(err) != job.CodeInvalid {
		t.Errorf("nobody holds: %v", err)
	}
	want(t, db, "SELECT count(*) FROM accounts WHERE balance = 100 AND last_fencing_token IS NULL", 2)
}
