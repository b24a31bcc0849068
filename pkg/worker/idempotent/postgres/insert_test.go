package postgres_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/postgres"
)

type invoice struct{ number, amount int }

func scanInvoice(row pgx.Row) (invoice, error) {
	var i invoice
	err := row.Scan(&i.number, &i.amount)
	return i, err
}

func invoiceOf(order string, line, amount int) postgres.Row {
	return postgres.Row{Table: "invoices", Unique: []string{"order_no", "line"}, Columns: []string{"amount", "order_no", "line"},
		Values: []any{amount, order, line}, Returning: "number, amount"}
}

func (b *bench) insert(row postgres.Row) (o idempotent.Outcome[invoice], err error) {
	return o, pgx.BeginFunc(b.Context(), b.pool, func(tx pgx.Tx) error {
		o, err = postgres.Insert(b.Context(), tx, row, scanInvoice)
		return err
	})
}

func TestABusinessKeyTellsANewRowFromAnExistingOne(t *testing.T) {
	b := setup(t)
	first, err := b.insert(invoiceOf("A-1", 1, 30))
	if err != nil || !first.IsNew() || first.Value.amount != 30 {
		t.Fatalf("the first: %+v, %v", first, err)
	}
	again, err := b.insert(invoiceOf("A-1", 1, 99))
	if err != nil || again.State != idempotent.Existing || again.Value != first.Value {
		t.Errorf("again: %+v, %v", again, err)
	}
	for _, row := range []postgres.Row{invoiceOf("A-1", 2, 30), invoiceOf("A-2", 1, 30)} {
		if other, err := b.insert(row); err != nil || !other.IsNew() || other.Value.number == first.Value.number {
			t.Errorf("half of the key is another's: %+v, %v", other, err)
		}
	}
	want(b, "SELECT count(*) FROM invoices", 3)
}

func TestOfTwentyThatInsertAtOnceOneIsNewAndAllSeeItsRow(t *testing.T) {
	b := setup(t)
	var news atomic.Int64
	var all sync.WaitGroup
	got := make([]invoice, 20)
	for i := range got {
		all.Go(func() {
			o, err := b.insert(invoiceOf("A-1", 1, i))
			if err != nil {
				t.Error(err)
			}
			if o.IsNew() {
				news.Add(1)
			}
			got[i] = o.Value
		})
	}
	all.Wait()
	for i := range got {
		if got[i] != got[0] {
			t.Errorf("%d sees %+v, 0 sees %+v", i, got[i], got[0])
		}
	}
	if news.Load() != 1 {
		t.Errorf("%d were new", news.Load())
	}
}

// The first insert is not committed yet when the second meets it.
func TestAnOpenInsertIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(pgx.Tx, context.Context) error
		state idempotent.State
	}{"committed": {pgx.Tx.Commit, idempotent.Existing}, "rolled back": {pgx.Tx.Rollback, idempotent.New}} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			open := b.begin(b.conn())
			if _, err := postgres.Insert(t.Context(), open, invoiceOf("A-1", 1, 1), scanInvoice); err != nil {
				t.Fatal(err)
			}
			var second idempotent.Outcome[invoice]
			var waiter sync.WaitGroup
			waiter.Go(func() {
				var err error
				if second, err = b.insert(invoiceOf("A-1", 1, 2)); err != nil {
					t.Error(err)
				}
			})
			b.untilBlocked(1)
			if err := c.end(open, t.Context()); err != nil {
				t.Fatal(err)
			}
			waiter.Wait()
			if wanted := map[idempotent.State]int{idempotent.Existing: 1, idempotent.New: 2}[c.state]; second.State != c.state || second.Value.amount != wanted {
				t.Errorf("%+v, want %s", second, c.state)
			}
		})
	}
}

func TestARowThatCannotBeToldIsRefused(t *testing.T) {
	b := setup(t)
	change := func(change func(*postgres.Row)) postgres.Row {
		row := invoiceOf("A-1", 1, 1)
		change(&row)
		return row
	}
	for name, c := range map[string]struct {
		row   postgres.Row
		field string
	}{
		"no table":                        {change(func(r *postgres.Row) { r.Table = "" }), "row.Table"},
		"no business key":                 {change(func(r *postgres.Row) { r.Unique = nil }), "row.Unique"},
		"a key without a value":           {change(func(r *postgres.Row) { r.Unique = []string{"order_no", "page"} }), "row.Unique"},
		"nothing to return":               {change(func(r *postgres.Row) { r.Returning = " " }), "row.Returning"},
		"another number of values":        {change(func(r *postgres.Row) { r.Values = r.Values[:2] }), "row.Values"},
		"a column of the key named twice": {change(func(r *postgres.Row) { r.Columns[0] = "line" }), "row.Unique"},
	} {
		var refused *job.Error
		if _, err := b.insert(c.row); !errors.As(err, &refused) || refused.Code != job.CodeInvalid || refused.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Without a unique index over the key nothing would be told apart: PostgreSQL says so.
	if _, err := b.insert(change(func(r *postgres.Row) { r.Unique = []string{"order_no"} })); err == nil {
		t.Error("a key without an index was taken")
	}
}

func TestARowThatIsInTheWayAndCannotBeSeenAsksForAnotherTry(t *testing.T) {
	b := setup(t)
	b.exec(`CREATE FUNCTION held_back() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
		CREATE TRIGGER held_back BEFORE INSERT ON invoices FOR EACH ROW EXECUTE FUNCTION held_back()`)
	if _, err := b.insert(invoiceOf("A-1", 1, 1)); err == nil || worker.FailureOf(err).Class != lifecycle.Transient {
		t.Errorf("answered %v", err)
	}
}
