package postgres_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/postgres"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// database is a connection to an application's schema, which drop takes away.
func database(ctx context.Context) (db *pgx.Conn, drop func()) {
	schema := fmt.Sprintf("example_%d", schemas.Add(1))
	db, err := pgx.Connect(ctx, address+" search_path="+schema)
	if err != nil {
		panic(err)
	}
	if _, err := db.Exec(ctx, "CREATE SCHEMA "+schema+"; "+postgres.Schema+tables); err != nil {
		panic(err)
	}
	return db, func() { _ = db.Close(ctx) }
}

// The booking and its entry in the inbox are one transaction. The second attempt
// books nothing and returns what the first has returned.
func ExampleOnce() {
	ctx := context.Background()
	db, drop := database(ctx)
	defer drop()

	handler := func(ctx context.Context, a *worker.Attempt) error {
		charged, err := postgres.Once(ctx, db, idempotent.Of(a, "charge"), func(ctx context.Context, tx pgx.Tx) (string, error) {
			_, err := tx.Exec(ctx, "UPDATE accounts SET balance = balance - 30 WHERE id = 7")
			return fmt.Sprintf("receipt of attempt %d", a.Number()), err
		})
		if err != nil {
			return err
		}
		fmt.Println(charged.State, charged.Value)
		return nil
	}
	for number := 1; number <= 2; number++ {
		if err := handler(ctx, workertest.Attempt(workertest.Facts{Job: "billing", Number: number, FencingToken: int64(number)})); err != nil {
			fmt.Println(err)
		}
	}
	var balance int
	err := db.QueryRow(ctx, "SELECT balance FROM accounts WHERE id = 7").Scan(&balance)
	fmt.Println(balance, err)
	// Output:
	// new receipt of attempt 1
	// existing receipt of attempt 1
	// 70 <nil>
}

// In a transaction that the caller has, Enter comes first and Keep last.
func ExampleEnter() {
	ctx := context.Background()
	db, drop := database(ctx)
	defer drop()

	action := idempotent.Of(workertest.Attempt(workertest.Facts{Job: "billing"}), "charge")
	for range 2 {
		err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			entered, err := postgres.Enter[string](ctx, tx, action)
			if err != nil {
				return err
			}
			fmt.Printf("%s %q\n", entered.State, entered.Value)
			if !entered.IsNew() {
				return nil
			}
			return postgres.Keep(ctx, tx, action, "receipt 4711")
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// new ""
	// existing "receipt 4711"
}

// The invoice of an order is made once, whoever asks, and asking again shows it.
func ExampleInsert() {
	ctx := context.Background()
	db, drop := database(ctx)
	defer drop()

	for _, amount := range []int{30, 99} {
		err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			made, err := postgres.Insert(ctx, tx, postgres.Row{Table: "invoices", Unique: []string{"order_no", "line"},
				Columns: []string{"order_no", "line", "amount"}, Values: []any{"A-1", 1, amount}, Returning: "amount"},
				func(row pgx.Row) (stored int, err error) { return stored, row.Scan(&stored) })
			fmt.Println(made.State, made.Value)
			return err
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// new 30
	// existing 30
}

// The first attempt freezes before it writes; the second takes over and writes; what
// the first then writes, in whatever tables, is refused.
func ExampleHold() {
	ctx := context.Background()
	db, drop := database(ctx)
	defer drop()

	write := func(a *worker.Attempt, balance int) error {
		return pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
			if err := postgres.Hold(ctx, tx, "accounts", idempotent.FenceOf(a)); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "UPDATE accounts SET balance = $1", balance)
			return err
		})
	}
	frozen := workertest.Attempt(workertest.Facts{Job: "balances", Number: 1, FencingToken: 1})
	newer := workertest.Attempt(workertest.Facts{Job: "balances", Number: 2, FencingToken: 2})

	fmt.Println("newer:", write(newer, 250))
	err := write(frozen, 70)
	fmt.Println("frozen, thawed:", errors.Is(err, idempotent.ErrFenced), worker.FailureOf(err).Class)
	// Output:
	// newer: <nil>
	// frozen, thawed: true permanent
}

// One row keeps its fence in a column of its own.
func ExampleUpdate_Exec() {
	ctx := context.Background()
	db, drop := database(ctx)
	defer drop()

	set := postgres.Update{Table: "accounts", Where: "id = $1", Key: []any{7}, Set: "balance = $2", Values: []any{250}}
	for _, token := range []int64{2, 2, 1} {
		a := workertest.Attempt(workertest.Facts{Job: "balances", FencingToken: token})
		err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error { return set.Exec(ctx, tx, idempotent.FenceOf(a)) })
		fmt.Println("token", token, "refused:", errors.Is(err, idempotent.ErrFenced))
	}
	// Output:
	// token 2 refused: false
	// token 2 refused: false
	// token 1 refused: true
}
