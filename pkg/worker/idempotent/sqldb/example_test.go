package sqldb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/sqldb"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// The booking and its entry in the inbox are one transaction. The second attempt
// books nothing and returns what the first has returned.
func ExampleOnce() {
	ctx := context.Background()
	db, err := open(ctx)
	if err != nil {
		panic(err)
	}
	defer func() { _ = db.Close() }()

	handler := func(ctx context.Context, a *worker.Attempt) error {
		charged, err := sqldb.Once(ctx, db, idempotent.Of(a, "charge"), func(ctx context.Context, tx *sql.Tx) (string, error) {
			_, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = balance - 30 WHERE id = 7")
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
	// Output:
	// new receipt of attempt 1
	// existing receipt of attempt 1
}

// The invoice of an order is made once, whoever asks, and asking again shows it.
func ExampleInsert() {
	ctx := context.Background()
	db, err := open(ctx)
	if err != nil {
		panic(err)
	}
	defer func() { _ = db.Close() }()

	for _, amount := range []int{30, 99} {
		err := inTx(ctx, db, func(tx *sql.Tx) error {
			made, err := sqldb.Insert(ctx, tx, sqldb.Row{Table: "invoices", Unique: []string{"order_no"},
				Columns: []string{"order_no", "amount"}, Values: []any{"A-1", amount}, Returning: "amount"},
				func(row *sql.Row) (stored int, err error) { return stored, row.Scan(&stored) })
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

// The second attempt took over and wrote; what the first, thawed, then writes is refused.
func ExampleHold() {
	ctx := context.Background()
	db, err := open(ctx)
	if err != nil {
		panic(err)
	}
	defer func() { _ = db.Close() }()

	for _, token := range []int64{2, 1} {
		a := workertest.Attempt(workertest.Facts{Job: "balances", FencingToken: token})
		err := inTx(ctx, db, func(tx *sql.Tx) error {
			if err := sqldb.Hold(ctx, tx, "accounts", idempotent.FenceOf(a)); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, "UPDATE accounts SET balance = 0")
			return err
		})
		fmt.Println("token", token, "refused:", errors.Is(err, idempotent.ErrFenced))
	}
	// Output:
	// token 2 refused: false
	// token 1 refused: true
}
