package worker_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

var errClosed = errors.New("the account is closed")

// charge is a handler: it hands the idempotency key on, and says how its
// failures are to be retried.
func charge(_ context.Context, a *worker.Attempt) error {
	var order struct {
		Account string `json:"account"`
	}
	if err := a.Decode(&order); err != nil {
		return err
	}
	switch order.Account {
	case "closed":
		return worker.WithCode("ACCOUNT_CLOSED", worker.Permanent(errClosed))
	case "busy":
		return worker.RetryAfter(errors.New("too many charges"), 30*time.Second)
	}
	fmt.Println("charged once for", a.IdempotencyKey())
	return nil
}

// Handlers are tested without queue and table: workertest makes the attempt.
func Example() {
	for _, account := range []string{"open", "closed", "busy"} {
		a := workertest.Attempt(workertest.Facts{Job: "billing", Number: 2, Payload: fmt.Sprintf(`{"account":%q}`, account)})
		if f := worker.FailureOf(charge(context.Background(), a)); f != nil {
			fmt.Println(f.Class, f.Code, f.RetryAfter)
		}
	}
	// Output:
	// charged once for default/billing~20260712T013000Z
	// permanent ACCOUNT_CLOSED 0s
	// throttled HANDLER_ERROR 30s
}
