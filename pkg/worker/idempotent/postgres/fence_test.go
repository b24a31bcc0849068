package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/postgres"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

func setBalance(id, balance int) postgres.Update {
	return postgres.Update{Table: "accounts", Where: "id = $1", Key: []any{id}, Set: "balance = $2", Values: []any{balance}}
}

// tools are the two ways to write under a fence.
var tools = map[string]func(ctx context.Context, tx pgx.Tx, f idempotent.Fence, balance int) error{
	"hold": func(ctx context.Context, tx pgx.Tx, f idempotent.Fence, balance int) error {
		if err := postgres.Hold(ctx, tx, "account 7", f); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "UPDATE accounts SET balance = $1 WHERE id = 7", balance)
		return err
	},
	"update": func(ctx context.Context, tx pgx.Tx, f idempotent.Fence, balance int) error {
		return setBalance(7, balance).Exec(ctx, tx, f)
	},
}

func (b *bench) write(tool string, f idempotent.Fence, balance int) error {
	return pgx.BeginFunc(b.Context(), b.pool, func(tx pgx.Tx) error { return tools[tool](b.Context(), tx, f, balance) })
}

func TestAFrozenWorkersWriteIsRefusedAndTheNewerOnesStands(t *testing.T) {
	for tool := range tools {
		t.Run(tool, func(t *testing.T) {
			b := setup(t)
			old := b.begin(b.conn())
			var read int // the old worker reads, and freezes
			if err := old.QueryRow(t.Context(), "SELECT balance FROM accounts WHERE id = 7").Scan(&read); err != nil {
				t.Fatal(err)
			}
			if err := b.write(tool, fence(2), 250); err != nil {
				t.Fatal(err)
			}
			var stale *idempotent.StaleError
			if err := tools[tool](t.Context(), old, fence(1), read-30); !errors.As(err, &stale) || stale.Fence != fence(1) || stale.Holder != fence(2) {
				t.Errorf("the old worker was told %v", err)
			}
			if err := old.Commit(t.Context()); err != nil {
				t.Error(err)
			}
			want(b, "SELECT balance FROM accounts WHERE id = 7", 250)
		})
	}
}

// The older one has its transaction open when the newer comes: it is waited for, and
// what it commits is overwritten. Where the older comes second it waits and is refused.
func TestWritesThatMeetAreOrderedByTheirFences(t *testing.T) {
	for tool := range tools {
		for name, order := range map[string][2]int64{"the older first": {1, 2}, "the newer first": {2, 1}} {
			t.Run(tool+", "+name, func(t *testing.T) {
				b := setup(t)
				open := b.begin(b.conn())
				if err := tools[tool](t.Context(), open, fence(order[0]), int(order[0])); err != nil {
					t.Fatal(err)
				}
				var second error
				var waiter sync.WaitGroup
				waiter.Go(func() { second = b.write(tool, fence(order[1]), int(order[1])) })
				b.untilBlocked(1)
				if err := open.Commit(t.Context()); err != nil {
					t.Fatal(err)
				}
				waiter.Wait()
				if refused := order[1] < order[0]; errors.Is(second, idempotent.ErrFenced) != refused || !refused && second != nil {
					t.Errorf("the second was told %v", second)
				}
				want(b, "SELECT balance FROM accounts WHERE id = 7", 2)
			})
		}
	}
}

func TestWhoMayWriteBehindWhom(t *testing.T) {
	tuesday := idempotent.FenceOf(workertest.Attempt(workertest.Facts{Job: "billing", ScheduledAt: monday.AddDate(0, 0, 1), FencingToken: 1}))
	replay := idempotent.FenceOf(workertest.Attempt(workertest.Facts{Job: "billing", ScheduledAt: monday.AddDate(0, 0, 2), FencingToken: 1,
		ReplayOf: job.ID("billing", job.ScheduledKey(monday), 1)}))
	for tool := range tools {
		b := setup(t)
		for _, c := range []struct {
			name          string
			first, second idempotent.Fence
			refused       bool
		}{
			{"the same attempt writes again", fence(2), fence(2), false},
			{"a newer attempt", fence(9), fence(10), false},
			{"an older attempt", fence(10), fence(9), true},
			{"the next day's first attempt, behind three of today", fence(3), tuesday, false},
			{"a replay's first attempt, behind three of what it repeats", fence(3), replay, false},
			{"what was replayed, behind the replay", replay, fence(3), true},
		} {
			b.exec("UPDATE accounts SET last_fencing_token = NULL; DELETE FROM belfry_fence")
			if err := b.write(tool, c.first, 1); err != nil {
				t.Fatal(err)
			}
			err := b.write(tool, c.second, 2)
			if errors.Is(err, idempotent.ErrFenced) != c.refused || !c.refused && err != nil {
				t.Errorf("%s, %s: answered %v", tool, c.name, err)
			}
			want(b, "SELECT balance FROM accounts WHERE id = 7", map[bool]int{true: 1, false: 2}[c.refused])
		}
	}
}

func TestOfTwentyAttemptsAtOnceTheNewestStands(t *testing.T) {
	for tool := range tools {
		b := setup(t)
		var all sync.WaitGroup
		for token := int64(1); token <= 20; token++ {
			all.Go(func() {
				if err := b.write(tool, fence(token), int(token)); err != nil && !errors.Is(err, idempotent.ErrFenced) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		want(b, "SELECT balance FROM accounts WHERE id = 7", 20)
	}
}

func TestACrashBehindTheHoldLeavesNoFence(t *testing.T) {
	for tool := range tools {
		b := setup(t)
		conn := b.conn()
		if err := tools[tool](t.Context(), b.begin(conn), fence(2), 1); err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(t.Context()); err != nil { // the process is killed
			t.Fatal(err)
		}
		if err := b.write(tool, fence(1), 3); err != nil {
			t.Errorf("%s: what was rolled back refuses: %v", tool, err)
		}
		want(b, "SELECT balance FROM accounts WHERE id = 7", 3)
	}
}

// A column of another collation, and one that says varchar, order fences alike.
func TestFencesSortAlikeUnderEveryCollation(t *testing.T) {
	b := setup(t)
	b.exec(`ALTER TABLE accounts ALTER COLUMN last_fencing_token TYPE varchar(100) COLLATE "und-x-icu"`)
	if err := b.write("update", fence(9), 9); err != nil {
		t.Fatal(err)
	}
	if err := b.write("update", fence(10), 10); err != nil {
		t.Error(err)
	}
	if err := b.write("update", fence(9), 9); !errors.Is(err, idempotent.ErrFenced) {
		t.Errorf("answered %v", err)
	}
}

func TestAnUpdateThatIsNotOfOneRowSaysSo(t *testing.T) {
	b := setup(t)
	exec := func(u postgres.Update, f idempotent.Fence) error {
		return pgx.BeginFunc(t.Context(), b.pool, func(tx pgx.Tx) error { return u.Exec(t.Context(), tx, f) })
	}
	for name, c := range map[string]struct {
		u    postgres.Update
		f    idempotent.Fence
		code job.Code
	}{
		"no such row":    {setBalance(99, 1), fence(1), job.CodeNotFound},
		"several rows":   {postgres.Update{Table: "accounts", Where: "id >= $1", Key: []any{7}, Set: "balance = $2", Values: []any{1}}, fence(1), job.CodeInvalid},
		"no table":       {postgres.Update{Where: "id = $1", Key: []any{7}, Set: "balance = 1"}, fence(1), job.CodeInvalid},
		"no key":         {postgres.Update{Table: "accounts", Set: "balance = 1"}, fence(1), job.CodeInvalid},
		"nothing to set": {postgres.Update{Table: "accounts", Where: "id = $1", Key: []any{7}}, fence(1), job.CodeInvalid},
		"nobody's":       {setBalance(7, 1), "", job.CodeInvalid},
	} {
		if err := exec(c.u, c.f); job.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	want(b, "SELECT count(*) FROM accounts WHERE balance = 100 AND last_fencing_token IS NULL", 2)
	// An OR of the caller's must not let the fence be passed over.
	if err := b.write("update", fence(2), 2); err != nil {
		t.Fatal(err)
	}
	either := postgres.Update{Table: "accounts", Where: "id = $1 OR id = $1", Key: []any{7}, Set: "balance = 1"}
	if err := exec(either, fence(1)); !errors.Is(err, idempotent.ErrFenced) {
		t.Errorf("beside an OR an older attempt was told %v", err)
	}
	b.exec("CREATE RULE held_back AS ON UPDATE TO accounts DO INSTEAD NOTHING")
	if err := exec(setBalance(8, 1), fence(1)); err == nil || worker.FailureOf(err).Class != lifecycle.Transient {
		t.Errorf("a rule holds it back: %v", err)
	}
}
