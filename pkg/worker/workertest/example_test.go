package workertest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// copyRows saves how far it has come after each second of work.
func copyRows(w *worker.Worker) {
	worker.Handle(w, "copy", func(ctx context.Context, a *worker.Attempt) error {
		var row int
		if _, err := a.Load(ctx, &row); err != nil {
			return err
		}
		fmt.Println("attempt", a.Number(), "begins at row", row)
		for row < 8 {
			if err := second(ctx); err != nil {
				return err
			}
			row++
			if err := a.Save(ctx, row); err != nil {
				return err
			}
		}
		return nil
	})
}

// second is a second of work.
func second(ctx context.Context) error {
	end, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	if <-end.Done(); ctx.Err() != nil {
		return ctx.Err()
	}
	return nil
}

func ExampleBench_Crash() {
	workertest.Play(copyRows, func(b *workertest.Bench) {
		run := b.Start("copy", nil)
		b.Advance(5500 * time.Millisecond)
		b.Crash()
		run = b.Wait(run)
		fmt.Println(run.Status, "on", run.Attempts[1].Worker, "after its worker was lost:", run.Attempts[0].Lost)
	})
	// Output:
	// attempt 1 begins at row 0
	// attempt 2 begins at row 5
	// SUCCEEDED on worker-2 after its worker was lost: true
}

func ExampleBench_Freeze() {
	thawed := make(chan struct{})
	register := func(w *worker.Worker) {
		worker.Handle(w, "write", func(ctx context.Context, a *worker.Attempt) error {
			if a.Number() > 1 {
				fmt.Println("attempt 2 runs under token", a.FencingToken())
				return a.Save(ctx, "second")
			}
			<-ctx.Done() // its machine stands still, and goes on after its lease
			fmt.Println("attempt 1 goes on:", errors.Is(context.Cause(ctx), worker.ErrLeaseLost))
			fmt.Println("what it saves is refused:", errors.Is(a.Save(context.WithoutCancel(ctx), "first"), worker.ErrLeaseLost))
			close(thawed)
			return nil
		})
	}
	workertest.Play(register, func(b *workertest.Bench) {
		thawed = make(chan struct{})
		run := b.Start("write", nil, workertest.Timeout(time.Hour))
		b.Advance(time.Second)
		b.Freeze()
		run = b.Wait(run)
		b.Thaw()
		<-thawed
		fmt.Println(run.Status)
	})
	// Output:
	// attempt 2 runs under token 2
	// attempt 1 goes on: true
	// what it saves is refused: true
	// SUCCEEDED
}

func ExampleBench_Stop() {
	workertest.Play(copyRows, func(b *workertest.Bench) {
		run := b.Start("copy", nil)
		b.Advance(2 * time.Second)
		b.Stop() // as SIGTERM: what runs may end
		run = b.Wait(run)
		fmt.Println(run.Status, "after", len(run.Attempts), "attempt on", run.Attempts[0].Worker)
	})
	// Output:
	// attempt 1 begins at row 0
	// SUCCEEDED after 1 attempt on worker-1
}
