package orders_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/examples/orders"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// bank is a bank in memory that answers as a test wants.
type bank struct {
	mu      sync.Mutex
	answers []error // of the first calls
	silent  bool    // it takes the money and does not answer
	taken   map[string]int64
}

func (b *bank) Charge(ctx context.Context, key, _ string, cents int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.answers) > 0 {
		err := b.answers[0]
		b.answers = b.answers[1:]
		return err
	}
	b.taken[key] += cents
	if b.silent {
		b.silent = false
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (b *bank) Charged(_ context.Context, key string) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken[key] > 0, nil
}

func (b *bank) total() (sum int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, cents := range b.taken {
		sum += cents
	}
	return sum
}

// ledger is one of some pages, with what was written where.
type ledger struct {
	mu      sync.Mutex
	pages   int
	slow    time.Duration // of a page
	written map[string]int
}

func (l *ledger) Read(ctx context.Context, from string) (orders.Page, error) {
	select {
	case <-time.After(l.slow):
	case <-ctx.Done():
		return orders.Page{}, ctx.Err()
	}
	n := 0
	_, _ = fmt.Sscan(from, &n) // the first page has no name
	page := orders.Page{Rows: []string{"row"}}
	if n+1 < l.pages {
		page.Next = fmt.Sprint(n + 1)
	}
	return page, nil
}

func (l *ledger) Write(_ context.Context, from string, _ []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written[from]++
	return nil
}

var order = orders.Order{Account: "DE02", Cents: 250}

func TestAChargeIsMadeOnceWhateverTheBankAnswers(t *testing.T) {
	for sentence, row := range map[string]struct {
		answers []error
		silent  bool
		status  job.Status
		code    string
		waits   []time.Duration
		taken   int64
	}{
		"at once":                               {nil, false, job.Succeeded, "", nil, 250},
		"after a fault":                         {[]error{errors.New("no route")}, false, job.Succeeded, "", []time.Duration{time.Second}, 250},
		"not before a busy bank wants it":       {[]error{orders.ErrBusy}, false, job.Succeeded, "", []time.Duration{time.Minute}, 250},
		"never from an account that is closed":  {[]error{orders.ErrClosed}, false, job.Failed, "ACCOUNT_CLOSED", nil, 0},
		"and not twice when it gives no answer": {nil, true, job.Succeeded, "", []time.Duration{time.Second}, 250},
	} {
		t.Run(sentence, func(t *testing.T) {
			b := &bank{answers: row.answers, silent: row.silent, taken: map[string]int64{}}
			workertest.Test(t, orders.Handlers{Bank: b}.Register, func(t *testing.T, bench *workertest.Bench) {
				run := bench.Run("charge", order)
				if run.Status != row.status || run.ErrorCode != row.code || b.total() != row.taken {
					t.Errorf("%v %s, %d cents are taken; want %s %s, %d", run, run.ErrorCode, b.total(), row.status, row.code, row.taken)
				}
				var waits []time.Duration
				for _, a := range run.Attempts[1:] {
					waits = append(waits, a.Waited.Truncate(time.Second))
				}
				if !slices.Equal(waits, row.waits) {
					t.Errorf("it waited %v, want %v", waits, row.waits)
				}
			})
		})
	}
}

func TestAnExportGoesOnAfterACrashWhereItHadCome(t *testing.T) {
	l := &ledger{pages: 20, slow: time.Second, written: map[string]int{}}
	workertest.Test(t, orders.Handlers{Ledger: l}.Register, func(t *testing.T, bench *workertest.Bench) {
		run := bench.Start("export", nil, workertest.Timeout(time.Hour))
		bench.Advance(10500 * time.Millisecond)
		bench.Crash()
		if run = bench.Wait(run); run.Status != job.Succeeded || len(run.Attempts) != 2 {
			t.Fatal(run)
		}
		again := 0
		for _, times := range l.written {
			again += times - 1
		}
		// The context of what runs in a process that is gone ends with its lease, and
		// not one save of it counts: the pages of that time are written again.
		if len(l.written) != 20 || again > 20-8 || l.written[""] != 1 {
			t.Errorf("%d pages are written, %d of them again: %v", len(l.written), again, l.written)
		}
	})
}

func TestTheBooksAreClosedToTheEndWhoeverCancels(t *testing.T) {
	l := &ledger{written: map[string]int{}}
	workertest.Test(t, orders.Handlers{Ledger: l}.Register, func(t *testing.T, bench *workertest.Bench) {
		if run := bench.Run("close-the-books", nil); run.Status != job.Succeeded || len(l.written) != 3 {
			t.Errorf("%v, written %v", run, l.written)
		}
	})
}
