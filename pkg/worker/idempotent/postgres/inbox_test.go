package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/postgres"
)

func TestTheFirstIsNewAndEveryOtherGetsWhatItStored(t *testing.T) {
	b := setup(t)
	for token, state := range map[int64]idempotent.State{1: idempotent.New} {
		if got, err := postgres.Once(t.Context(), b.pool, charge(token), book("one")); err != nil || got.State != state || got.Value.Number != "one" {
			t.Fatalf("attempt %d: %+v, %v", token, got, err)
		}
	}
	for token := int64(1); token <= 3; token++ {
		if got, err := postgres.Once(t.Context(), b.pool, charge(token), book("another")); err != nil || got.State != idempotent.Existing || got.Value.Number != "one" {
			t.Errorf("attempt %d: %+v, %v", token, got, err)
		}
	}
	if got, err := postgres.Once(t.Context(), b.pool, idempotent.Of(attempt(1), "refund"), book("two")); err != nil || !got.IsNew() {
		t.Errorf("another action: %+v, %v", got, err)
	}
	want(b, "SELECT string_agg(attempt, ',' ORDER BY attempt) FROM bookings", "one,two")
}

func TestOfTwentyAtOnceOneDoesItAndAllReturnItsResult(t *testing.T) {
	b := setup(t)
	var news atomic.Int64
	var all sync.WaitGroup
	results := make([]string, 20)
	for i := range results {
		all.Go(func() {
			got, err := postgres.Once(t.Context(), b.pool, charge(int64(i+1)), book(fmt.Sprint(i)))
			if err != nil {
				t.Error(err)
			}
			if got.IsNew() {
				news.Add(1)
			}
			results[i] = got.Value.Number
		})
	}
	all.Wait()
	for i, r := range results {
		if r != results[0] || r == "" {
			t.Errorf("attempt %d returns %q, attempt 0 %q", i, r, results[0])
		}
	}
	if news.Load() != 1 {
		t.Errorf("%d were new", news.Load())
	}
	want(b, "SELECT count(*) FROM bookings", 1)
}

// dying loses its session at a step, as a process that is killed does; a commit may
// still have been carried out.
type dying struct {
	pgx.Tx
	conn    *pgx.Conn
	commits bool
}

func (d dying) Commit(ctx context.Context) error {
	var err error
	if d.commits {
		err = d.Tx.Commit(ctx)
	}
	return errors.Join(err, d.conn.Close(ctx), errors.New("killed at the commit"))
}

type dyingDB struct {
	conn    *pgx.Conn
	commits bool
}

func (d dyingDB) Begin(ctx context.Context) (pgx.Tx, error) {
	tx, err := d.conn.Begin(ctx)
	return dying{tx, d.conn, d.commits}, err
}

func TestACrashAtEveryStepLeavesActionAndEffectOrNeither(t *testing.T) {
	killed := func(ctx context.Context, conn *pgx.Conn) error {
		return errors.Join(errors.New("killed"), conn.Close(ctx))
	}
	for name, c := range map[string]struct {
		die   func(ctx context.Context, conn *pgx.Conn) error
		state idempotent.State
	}{
		"entered": {func(ctx context.Context, conn *pgx.Conn) error {
			_, err := postgres.Once(ctx, conn, charge(1), func(ctx context.Context, _ pgx.Tx) (receipt, error) { return receipt{}, killed(ctx, conn) })
			return err
		}, idempotent.New},
		"effect made": {func(ctx context.Context, conn *pgx.Conn) error {
			_, err := postgres.Once(ctx, conn, charge(1), func(ctx context.Context, tx pgx.Tx) (receipt, error) {
				r, err := book("one")(ctx, tx)
				return r, errors.Join(err, killed(ctx, conn))
			})
			return err
		}, idempotent.New},
		"before the commit": {func(ctx context.Context, conn *pgx.Conn) error {
			_, err := postgres.Once(ctx, dyingDB{conn, false}, charge(1), book("one"))
			return err
		}, idempotent.New},
		"after the commit": {func(ctx context.Context, conn *pgx.Conn) error {
			_, err := postgres.Once(ctx, dyingDB{conn, true}, charge(1), book("one"))
			return err
		}, idempotent.Existing},
		"a panic": {func(ctx context.Context, conn *pgx.Conn) (err error) {
			defer func() { err = fmt.Errorf("%v", recover()) }()
			_, err = postgres.Once(ctx, conn, charge(1), func(context.Context, pgx.Tx) (receipt, error) { panic("a defect") })
			return err
		}, idempotent.New},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			if err := c.die(t.Context(), b.conn()); err == nil {
				t.Fatal("the crash was survived")
			}
			got, err := postgres.Once(t.Context(), b.pool, charge(2), book("two"))
			if err != nil || got.State != c.state || got.Value.Number != map[bool]string{true: "two", false: "one"}[got.IsNew()] {
				t.Errorf("the next attempt: %+v, %v", got, err)
			}
			want(b, "SELECT count(*) FROM bookings", 1)
		})
	}
}

// A worker that freezes with its transaction open makes the newer one wait, until
// the server ends the idle session. Then the newer does it, and the old one,
// thawed, can commit nothing.
func TestAWorkerFrozenInItsTransactionIsEndedByTheServer(t *testing.T) {
	b := setup(t)
	old := b.conn()
	if _, err := old.Exec(t.Context(), "SET idle_in_transaction_session_timeout = '300ms'"); err != nil {
		t.Fatal(err)
	}
	tx := b.begin(old)
	if got, err := postgres.Enter[receipt](t.Context(), tx, charge(1)); err != nil || !got.IsNew() {
		t.Fatal(got, err)
	}
	if _, err := book("old")(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	if got, err := postgres.Once(t.Context(), b.pool, charge(2), book("new")); err != nil || !got.IsNew() {
		t.Errorf("the newer attempt: %+v, %v", got, err)
	}
	if err := tx.Commit(t.Context()); err == nil {
		t.Error("the old worker has committed")
	}
	want(b, "SELECT string_agg(attempt, ',') FROM bookings", "new")
}

func TestAWorkerFrozenBeforeItEntersFindsWhatTheNewerOneDid(t *testing.T) {
	b := setup(t)
	tx := b.begin(b.conn()) // frozen here
	if _, err := postgres.Once(t.Context(), b.pool, charge(2), book("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := postgres.Enter[receipt](t.Context(), tx, charge(1)); err != nil || got.State != idempotent.Existing || got.Value.Number != "new" {
		t.Errorf("thawed: %+v, %v", got, err)
	}
}

func TestTheInboxRefusesWhatItCannotKeep(t *testing.T) {
	b := setup(t)
	ctx := t.Context()
	err := pgx.BeginFunc(ctx, b.pool, func(tx pgx.Tx) error {
		if _, err := postgres.Enter[int](ctx, tx, idempotent.Action{Key: "k"}); job.CodeOf(err) != job.CodeInvalid {
			t.Errorf("nobody entered: %v", err)
		}
		if err := postgres.Keep(ctx, tx, charge(1), 1); job.CodeOf(err) != job.CodeNotFound || worker.FailureOf(err).Class != lifecycle.PermanentClass {
			t.Errorf("kept without an entry: %v", err)
		}
		if err := postgres.Keep(ctx, tx, charge(1), make(chan int)); err == nil || worker.FailureOf(err).Class != lifecycle.PermanentClass {
			t.Errorf("kept what is no JSON: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	text := func(context.Context, pgx.Tx) (string, error) { return "text", nil }
	number := func(context.Context, pgx.Tx) (int, error) { return 1, nil }
	if _, err := postgres.Once(ctx, b.pool, charge(1), text); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Once(ctx, b.pool, charge(2), number); err == nil || worker.FailureOf(err).Class != lifecycle.PermanentClass {
		t.Errorf("text was read as a number: %v", err)
	}
}

func TestASnapshotFromBeforeAsksForAnotherTry(t *testing.T) {
	b := setup(t)
	tx, err := b.conn().BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT 1 FROM bookings"); err != nil { // takes the snapshot
		t.Fatal(err)
	}
	if _, err := postgres.Once(t.Context(), b.pool, charge(2), book("new")); err != nil {
		t.Fatal(err)
	}
	_, err = postgres.Enter[receipt](t.Context(), tx, charge(1))
	var said *pgconn.PgError
	if !errors.As(err, &said) || said.Code != "40001" || worker.FailureOf(err).Class != lifecycle.Transient {
		t.Errorf("answered %v", err)
	}
}
