package sqldb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/sqldb"
)

func TestOfTwentyAtOnceOneDoesItAndAllReturnItsResult(t *testing.T) {
	db := setup(t)
	var news atomic.Int64
	var all sync.WaitGroup
	results := make([]string, 20)
	for i := range results {
		all.Go(func() {
			got, err := sqldb.Once(t.Context(), db, charge(int64(i+1)), book(fmt.Sprint(i)))
			if err != nil {
				t.Error(err)
			}
			if got.IsNew() {
				news.Add(1)
			}
			results[i] = got.Value
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
	want(t, db, "SELECT count(*) FROM bookings", 1)
}

func TestACrashAtEveryStepLeavesActionAndEffectOrNeither(t *testing.T) {
	db := setup(t)
	for name, die := range map[string]func(ctx context.Context, tx *sql.Tx) (string, error){
		"entered": func(context.Context, *sql.Tx) (string, error) { return "", errors.New("killed") },
		"effect made": func(ctx context.Context, tx *sql.Tx) (string, error) {
			_, err := book("dead")(ctx, tx)
			return "", errors.Join(err, errors.New("killed"))
		},
		"session cut off before the commit": func(ctx context.Context, tx *sql.Tx) (string, error) {
			_, err := book("dead")(ctx, tx)
			var pid int
			err = errors.Join(err, tx.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid))
			_, cut := db.ExecContext(ctx, "SELECT pg_terminate_backend($1, 5000)", pid)
			return "dead", errors.Join(err, cut)
		},
		"a panic": func(context.Context, *sql.Tx) (string, error) { panic("a defect") },
	} {
		err := func() (err error) {
			defer func() {
				if r := recover(); r != nil {
					err = fmt.Errorf("%v", r)
				}
			}()
			_, err = sqldb.Once(t.Context(), db, charge(1), die)
			return err
		}()
		if err == nil {
			t.Errorf("%s: the crash was survived", name)
		}
	}
	if got, err := sqldb.Once(t.Context(), db, charge(2), book("two")); err != nil || !got.IsNew() {
		t.Errorf("the next attempt: %+v, %v", got, err)
	}
	want(t, db, "SELECT string_agg(attempt, ',') FROM bookings", "two")
	if got, err := sqldb.Once(t.Context(), db, charge(3), book("three")); err != nil || got.State != idempotent.Existing || got.Value != "two" {
		t.Errorf("the one after: %+v, %v", got, err)
	}
}

func TestAWorkerFrozenBeforeItEntersFindsWhatTheNewerOneDid(t *testing.T) {
	db := setup(t)
	err := inTx(t.Context(), db, func(tx *sql.Tx) error { // frozen here
		if _, err := sqldb.Once(t.Context(), db, charge(2), book("new")); err != nil {
			return err
		}
		got, err := sqldb.Enter[string](t.Context(), tx, charge(1))
		if got.State != idempotent.Existing || got.Value != "new" {
			t.Errorf("thawed: %+v", got)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestABusinessKeyTellsANewRowFromAnExistingOne(t *testing.T) {
	db := setup(t)
	for i, want := range []idempotent.State{idempotent.New, idempotent.Existing, idempotent.Existing} {
		err := inTx(t.Context(), db, func(tx *sql.Tx) error {
			row := sqldb.Row{Table: "invoices", Unique: []string{"order_no"}, Columns: []string{"order_no", "amount"}, Values: []any{"A-1", 30 + i}, Returning: "amount"}
			got, err := sqldb.Insert(t.Context(), tx, row, func(r *sql.Row) (amount int, err error) { return amount, r.Scan(&amount) })
			if got.State != want || got.Value != 30 {
				t.Errorf("insert %d: %+v", i, got)
			}
			row.Unique = []string{"page"}
			if _, err := sqldb.Insert(t.Context(), tx, row, func(*sql.Row) (int, error) { return 0, nil }); job.CodeOf(err) != job.CodeInvalid {
				t.Errorf("a key without a value: %v", err)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	want(t, db, "SELECT count(*) FROM invoices", 1)
}

func TestTheInboxRefusesWhatItCannotKeep(t *testing.T) {
	db := setup(t)
	err := inTx(t.Context(), db, func(tx *sql.Tx) error {
		if _, err := sqldb.Enter[int](t.Context(), tx, idempotent.Action{Key: "k"}); job.CodeOf(err) != job.CodeInvalid {
			t.Errorf("nobody entered: %v", err)
		}
		if err := sqldb.Keep(t.Context(), tx, charge(1), 1); job.CodeOf(err) != job.CodeNotFound {
			t.Errorf("kept without an entry: %v", err)
		}
		if err := sqldb.Keep(t.Context(), tx, charge(1), make(chan int)); err == nil || worker.FailureOf(err).Class != lifecycle.PermanentClass {
			t.Errorf("kept what is no JSON: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
