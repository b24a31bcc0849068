package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

var errNoRoute = errors.New("no route to the bank")

// show prints what became of a run.
func show(run workertest.Execution) {
	for _, a := range run.Attempts {
		fmt.Println(strings.TrimSpace(fmt.Sprintf("attempt %d on %s: %s %s", a.Number, a.Worker, a.Outcome, a.Code)))
	}
	fmt.Println(run.Status)
}

func ExampleHandle() {
	register := func(w *worker.Worker) {
		worker.Handle(w, "greet", func(_ context.Context, a *worker.Attempt) error {
			fmt.Printf("hello, %s\n", a.Payload())
			return nil
		})
	}
	workertest.Play(register, func(b *workertest.Bench) { show(b.Run("greet", "world")) })
	// Output:
	// hello, "world"
	// attempt 1 on worker-1: SUCCEEDED
	// SUCCEEDED
}

func ExampleHandleTyped() {
	type order struct {
		Item  string `json:"item"`
		Count int    `json:"count"`
	}
	register := func(w *worker.Worker) {
		worker.HandleTyped(w, "order", func(_ context.Context, _ *worker.Attempt, o order) error {
			fmt.Println(o.Count, "of", o.Item)
			return nil
		})
	}
	workertest.Play(register, func(b *workertest.Bench) {
		show(b.Run("order", order{"tea", 2}))
		show(b.Run("order", []byte(`{"count":"two"}`))) // fits no order: fails for good
	})
	// Output:
	// 2 of tea
	// attempt 1 on worker-1: SUCCEEDED
	// SUCCEEDED
	// attempt 1 on worker-1: FAILED PAYLOAD_INVALID
	// FAILED
}

// failing is a handler whose first attempts fail so.
func failing(with ...error) func(*worker.Worker) {
	return func(w *worker.Worker) {
		worker.Handle(w, "work", func(_ context.Context, a *worker.Attempt) error {
			if n := a.Number() - 1; n < len(with) {
				return with[n]
			}
			return nil
		})
	}
}

func ExampleRetry() {
	workertest.Play(failing(worker.Retry(errNoRoute), errNoRoute), func(b *workertest.Bench) {
		run := b.Run("work", nil, workertest.Retry(job.Retry{MaxAttempts: 5, Base: job.Duration(10 * time.Second)}))
		show(run)
		fmt.Println("waits:", run.Attempts[1].Waited.Round(time.Second), run.Attempts[2].Waited.Round(time.Second))
	})
	// Output:
	// attempt 1 on worker-1: RETRY_WAIT HANDLER_ERROR
	// attempt 2 on worker-1: RETRY_WAIT HANDLER_ERROR
	// attempt 3 on worker-1: SUCCEEDED
	// SUCCEEDED
	// waits: 10s 20s
}

func ExampleRetryAfter() {
	workertest.Play(failing(worker.RetryAfter(errors.New("too many requests"), 10*time.Minute)), func(b *workertest.Bench) {
		run := b.Run("work", nil)
		show(run)
		fmt.Println("waited at least 10m:", run.Attempts[1].Waited >= 10*time.Minute)
	})
	// Output:
	// attempt 1 on worker-1: RETRY_WAIT HANDLER_ERROR
	// attempt 2 on worker-1: SUCCEEDED
	// SUCCEEDED
	// waited at least 10m: true
}

func ExamplePermanent() {
	workertest.Play(failing(worker.WithCode("NO_SUCH_ACCOUNT", worker.Permanent(errors.New("there is no such account")))), func(b *workertest.Bench) {
		show(b.Run("work", nil))
	})
	// Output:
	// attempt 1 on worker-1: FAILED NO_SUCH_ACCOUNT
	// FAILED
}

func ExampleUncertain() {
	workertest.Play(failing(worker.Uncertain(errors.New("the answer to the transfer never came"))), func(b *workertest.Bench) {
		show(b.Run("work", nil)) // trying again could do it twice: a person decides
	})
	// Output:
	// attempt 1 on worker-1: NEEDS_REVIEW HANDLER_ERROR
	// NEEDS_REVIEW
}

func ExampleConfirm() {
	transferred := map[string]bool{}
	transfer := func(ctx context.Context, a *worker.Attempt) error {
		fmt.Println("transfers")
		transferred[a.IdempotencyKey()] = true
		<-ctx.Done() // and the bank's answer never comes
		return ctx.Err()
	}
	ask := func(_ context.Context, key string) (worker.Answer, error) {
		fmt.Println("asks")
		if transferred[key] {
			return worker.Done, nil
		}
		return worker.NotDone, nil
	}
	register := func(w *worker.Worker) { worker.Handle(w, "transfer", transfer, worker.Confirm(ask)) }
	workertest.Play(register, func(b *workertest.Bench) { show(b.Run("transfer", nil)) })
	// Output:
	// transfers
	// asks
	// attempt 1 on worker-1: RETRY_WAIT TIMEOUT
	// attempt 2 on worker-1: SUCCEEDED
	// SUCCEEDED
}

func ExampleAttempt_Save() {
	register := func(w *worker.Worker) {
		worker.Handle(w, "migrate", func(ctx context.Context, a *worker.Attempt) error {
			var done int
			if found, err := a.Load(ctx, &done); err != nil {
				return err
			} else if found {
				fmt.Println("goes on after", done)
			}
			for done < 6 {
				done++ // the work itself stands here
				if err := a.Save(ctx, done); err != nil {
					return err
				}
				if a.Number() == 1 && done == 4 {
					return errors.New("the table is locked")
				}
			}
			fmt.Println("did", done)
			return nil
		})
	}
	workertest.Play(register, func(b *workertest.Bench) { show(b.Run("migrate", nil)) })
	// Output:
	// goes on after 4
	// did 6
	// attempt 1 on worker-1: RETRY_WAIT HANDLER_ERROR
	// attempt 2 on worker-1: SUCCEEDED
	// SUCCEEDED
}

func ExampleUncancelable() {
	slow := func(ctx context.Context, _ *worker.Attempt) error {
		end, stop := context.WithTimeout(context.Background(), 30*time.Second)
		defer stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.Done():
			return nil
		}
	}
	register := func(w *worker.Worker) {
		worker.Handle(w, "report", slow)
		worker.Handle(w, "close-the-books", slow, worker.Uncancelable())
	}
	workertest.Play(register, func(b *workertest.Bench) {
		for _, handler := range []string{"report", "close-the-books"} {
			run := b.Start(handler, nil)
			b.Advance(5 * time.Second)
			b.Cancel(run)
			show(b.Wait(run))
		}
	})
	// Output:
	// attempt 1 on worker-1: CANCELED
	// CANCELED
	// attempt 1 on worker-1: SUCCEEDED
	// SUCCEEDED
}

func ExampleWorker_Use() {
	logged := func(next worker.Handler) worker.Handler {
		return func(ctx context.Context, a *worker.Attempt) error {
			fmt.Println("begins", a.Number())
			defer fmt.Println("ends", a.Number())
			return next(ctx, a)
		}
	}
	register := func(w *worker.Worker) {
		w.Use(logged)
		failing(errNoRoute)(w)
	}
	workertest.Play(register, func(b *workertest.Bench) { b.Run("work", nil) })
	// Output:
	// begins 1
	// ends 1
	// begins 2
	// ends 2
}

func ExampleAttempt_LoadPayload() {
	register := func(w *worker.Worker) {
		worker.Handle(w, "import", func(_ context.Context, a *worker.Attempt) error {
			fmt.Println(len(a.Payload()), "bytes of", a.PayloadRef())
			return nil
		})
		worker.Handle(w, "hand-on", func(_ context.Context, a *worker.Attempt) error {
			fmt.Println("only its place:", a.PayloadRef()) // LoadPayload would read it
			return nil
		}, worker.PayloadOnDemand())
	}
	workertest.Play(register, func(b *workertest.Bench) {
		ref := b.Store("in/rows.csv", make([]byte, 1<<20))
		b.Run("import", nil, workertest.PayloadRef(ref))
		b.Run("hand-on", nil, workertest.PayloadRef(ref))
	})
	// Output:
	// 1048576 bytes of s3://belfry/in/rows.csv
	// only its place: s3://belfry/in/rows.csv
}
