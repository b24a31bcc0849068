package sqldb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // a driver, such as an application brings

	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/internal/pgserver"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/sqldb"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// address is the server's; TestMain fails where none can be started.
var address string

func TestMain(m *testing.M) {
	os.Exit(pgserver.Run(func(s *pgserver.Server) int {
		address = s.Address()
		return m.Run()
	}))
}

var schemas atomic.Int64

const tables = `
CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL, last_fencing_token text);
INSERT INTO accounts VALUES (7, 100, NULL), (8, 100, NULL);
CREATE TABLE bookings (attempt text NOT NULL);
CREATE TABLE invoices (number int GENERATED ALWAYS AS IDENTITY, order_no text PRIMARY KEY, amount int NOT NULL);`

// open is an application's schema on the server, of one test alone.
func open(ctx context.Context) (*sql.DB, error) {
	schema := fmt.Sprintf("app_%d", schemas.Add(1))
	db, err := sql.Open("pgx", address+" search_path="+schema)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(24)
	_, err = db.ExecContext(ctx, "CREATE SCHEMA "+schema+"; "+sqldb.Schema+tables)
	return db, err
}

func setup(t *testing.T) *sql.DB {
	t.Helper()
	db, err := open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// inTx runs do in a transaction, which an error rolls back.
func inTx(ctx context.Context, db *sql.DB, do func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// want fails unless the query answers that one value.
func want[T comparable](t *testing.T, db *sql.DB, query string, value T) {
	t.Helper()
	var got T
	if err := db.QueryRowContext(t.Context(), query).Scan(&got); err != nil || got != value {
		t.Errorf("%s is %v (%v), want %v", query, got, err, value)
	}
}

// untilBlocked returns when a session waits for another's transaction.
func untilBlocked(t *testing.T, db *sql.DB) {
	t.Helper()
	for {
		var waiting int
		if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_locks WHERE NOT granted").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
		if waiting > 0 {
			return
		}
	}
}

func attempt(token int64) *worker.Attempt {
	return workertest.Attempt(workertest.Facts{Job: "billing", ScheduledAt: time.Date(2026, 7, 13, 1, 30, 0, 0, time.UTC), FencingToken: token, Number: int(token)})
}

func charge(token int64) idempotent.Action { return idempotent.Of(attempt(token), "charge") }

func fence(token int64) idempotent.Fence { return idempotent.FenceOf(attempt(token)) }

// book is the effect of a charge, which shows who has booked.
func book(who string) func(context.Context, *sql.Tx) (string, error) {
	return func(ctx context.Context, tx *sql.Tx) (string, error) {
		_, err := tx.ExecContext(ctx, "INSERT INTO bookings VALUES ($1)", who)
		return who, err
	}
}
