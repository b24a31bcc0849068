package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// tell posts what happens to the test's receiver, with the contract as a webhook has it.
func tell(ctx context.Context, a *worker.Attempt, url string, what any) error {
	body, err := json.Marshal(what)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{"Belfry-Job": a.Job(), "Belfry-Execution-Id": a.ExecutionID(), "Idempotency-Key": a.IdempotencyKey(), "Belfry-Attempt": strconv.Itoa(a.Number()),
		"Belfry-Fencing-Token": strconv.FormatInt(a.FencingToken(), 10), "Belfry-Scheduled-Time": a.ScheduledAt().Format(time.RFC3339)} {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the receiver answers %s", answer.Status)
	}
	return nil
}
