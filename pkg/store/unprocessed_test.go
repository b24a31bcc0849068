package store_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/store"
)

// throttledBatches answers batched reads as a throttled table does: 200, with
// every key unprocessed, so many times.
type throttledBatches struct {
	next  aws.HTTPClient
	times int
	calls int
}

func (b *throttledBatches) Do(request *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(request.Header.Get("X-Amz-Target"), "BatchGetItem") {
		return b.next.Do(request)
	}
	if b.calls++; b.calls > b.times {
		return b.next.Do(request)
	}
	asked, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	answer := bytes.Replace(asked, []byte(`"RequestItems"`), []byte(`"Responses":{},"UnprocessedKeys"`), 1)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}}, Body: io.NopCloser(bytes.NewReader(answer)), Request: request}, nil
}

// A table that processes no key of a batch is throttled: the reader says so
// instead of asking again and again without a pause.
func TestABatchOfWhichNothingIsProcessedIsThrottling(t *testing.T) {
	for name, row := range map[string]struct {
		times int
		code  job.Code
	}{"never": {0, ""}, "once": {1, ""}, "for ever": {1 << 20, job.CodeThrottled}} {
		t.Run(name, func(t *testing.T) {
			backend, err := localaws.New(localaws.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = backend.Close() }()
			batches := &throttledBatches{next: backend.Client(), times: row.times}
			config := backend.Config()
			config.HTTPClient = batches
			config.Retryer = func() aws.Retryer { return retry.NewStandard() }
			client := dynamodb.NewFromConfig(config)
			if err := store.CreateTables(t.Context(), client, ""); err != nil {
				t.Fatal(err)
			}
			s := store.New(client, store.Options{Shards: 1})
			if _, err := s.Put(t.Context(), fresh(1)); err != nil {
				t.Fatal(err)
			}
			found, err := s.ReadExecutions(t.Context(), []job.ExecutionRef{{Ref: ref, Key: scheduled}}, true)
			if job.CodeOf(err) != row.code || row.code == "" && len(found) != 1 {
				t.Errorf("it gave %d executions and %v", len(found), err)
			}
			if batches.calls > 10 {
				t.Errorf("it asked %d times", batches.calls)
			}
		})
	}
}
