// Command callee is a function that jobs invoke in the test of the deployed
// stacks: it tells the test's receiver what it was told, as a webhook would, and
// ends as its event says.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// event is the payload of a job. Told is the contract by way of templates, for
// emulators that hand on no client context.
type event struct {
	Told map[string]string `json:"told"`
	Fail string            `json:"fail"` // "once", "for good" or nothing
}

// headers are the names by which the receiver knows what the client context says.
var headers = map[string]string{"belfry_job": "Belfry-Job", "belfry_execution_id": "Belfry-Execution-Id", "belfry_idempotency_key": "Idempotency-Key", "belfry_attempt": "Belfry-Attempt",
	"belfry_fencing_token": "Belfry-Fencing-Token", "belfry_scheduled_time": "Belfry-Scheduled-Time"}

// BelfryPermanent is the error whose type says that trying again cannot help.
type BelfryPermanent struct{}

func (BelfryPermanent) Error() string { return "as the event says" }

func handle(ctx context.Context, given json.RawMessage) (map[string]string, error) {
	var e event
	if err := json.Unmarshal(given, &e); err != nil {
		return nil, err
	}
	told := e.Told
	if called, is := lambdacontext.FromContext(ctx); is && len(called.ClientContext.Custom) > 0 {
		told = called.ClientContext.Custom
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("RECEIVER")+"/callee", bytes.NewReader(given))
	if err != nil {
		return nil, err
	}
	for name, header := range headers {
		request.Header.Set(header, told[name])
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	_ = answer.Body.Close()
	if e.Fail == "for good" {
		return nil, BelfryPermanent{}
	}
	if e.Fail == "once" && told["belfry_attempt"] == "1" {
		return nil, errors.New("as the event says")
	}
	return told, nil
}

func main() { lambda.Start(handle) }
