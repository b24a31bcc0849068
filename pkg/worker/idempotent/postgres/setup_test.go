package postgres_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/internal/pgserver"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/postgres"
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

// bench is an application's schema on the server, of one test alone.
type bench struct {
	*testing.T
	schema string
	pool   *pgxpool.Pool
}

var schemas atomic.Int64

const tables = `
CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL, last_fencing_token text);
INSERT INTO accounts VALUES (7, 100, NULL), (8, 100, NULL);
CREATE TABLE bookings (attempt text NOT NULL);
CREATE TABLE invoices (number int GENERATED ALWAYS AS IDENTITY, order_no text NOT NULL, line int NOT NULL, amount int NOT NULL, UNIQUE (order_no, line));`

func setup(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, schema: fmt.Sprintf("app_%d", schemas.Add(1))}
	pool, err := pgxpool.New(t.Context(), address+" pool_max_conns=24 search_path="+b.schema)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b.pool = pool
	for range 2 { // the schema may be made again
		b.exec("CREATE SCHEMA IF NOT EXISTS " + b.schema)
		b.exec(postgres.Schema)
	}
	b.exec(tables)
	return b
}

func (b *bench) exec(sql string) {
	b.Helper()
	if _, err := b.pool.Exec(b.Context(), sql); err != nil {
		b.Fatal(err)
	}
}

// conn is a connection of its own, as another worker has one.
func (b *bench) conn() *pgx.Conn {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), address+" search_path="+b.schema)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(context.WithoutCancel(b.Context())) })
	return conn
}

func (b *bench) begin(conn *pgx.Conn) pgx.Tx {
	b.Helper()
	tx, err := conn.Begin(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return tx
}

// want fails unless the query answers that one value.
func want[T comparable](b *bench, query string, value T) {
	b.Helper()
	var got T
	if err := b.pool.QueryRow(b.Context(), query).Scan(&got); err != nil || got != value {
		b.Errorf("%s is %v (%v), want %v", query, got, err, value)
	}
}

// untilBlocked returns when n sessions of the test's wait for a lock.
func (b *bench) untilBlocked(n int) {
	b.Helper()
	for {
		var waiting int
		err := b.pool.QueryRow(b.Context(), `SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE query LIKE '%belfry_%' OR query LIKE '%accounts%' OR query LIKE '%invoices%')`).Scan(&waiting)
		if err != nil {
			b.Fatal(err)
		}
		if waiting >= n {
			return
		}
	}
}

var monday = time.Date(2026, 7, 13, 1, 30, 0, 0, time.UTC)

func attempt(token int64) *worker.Attempt {
	return workertest.Attempt(workertest.Facts{Job: "billing", ScheduledAt: monday, FencingToken: token, Number: int(token)})
}

func charge(token int64) idempotent.Action { return idempotent.Of(attempt(token), "charge") }

func fence(token int64) idempotent.Fence { return idempotent.FenceOf(attempt(token)) }

type receipt struct {
	Number string `json:"number"`
}

// book is the effect of a charge, which shows who has booked.
func book(who string) func(context.Context, pgx.Tx) (receipt, error) {
	return func(ctx context.Context, tx pgx.Tx) (receipt, error) {
		_, err := tx.Exec(ctx, "INSERT INTO bookings VALUES ($1)", who)
		return receipt{who}, err
	}
}
