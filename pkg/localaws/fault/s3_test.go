package fault_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
)

// bucketOf starts a backend with one bucket; the returned function gives
// simulated processes their clients.
func bucketOf(t *testing.T, retries int) func(decide func(fault.Call) fault.Action) *s3.Client {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	config := backend.Config()
	if _, err := s3.NewFromConfig(config).CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("jobs")}); err != nil {
		t.Fatal(err)
	}
	return func(decide func(fault.Call) fault.Action) *s3.Client {
		config.HTTPClient = fault.Wrap(backend.Client(), decide)
		return s3.NewFromConfig(config, func(o *s3.Options) { o.RetryMaxAttempts = retries })
	}
}

func putNew(ctx context.Context, client *s3.Client, content string) error {
	_, err := client.PutObject(ctx, &s3.PutObjectInput{Bucket: aws.String("jobs"), Key: aws.String("checkpoints/7"), Body: strings.NewReader(content), IfNoneMatch: aws.String("*")})
	return err
}

func stored(t *testing.T, client *s3.Client) string {
	t.Helper()
	out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("jobs"), Key: aws.String("checkpoints/7")})
	if answered("NoSuchKey")(err) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func answered(code string) func(error) bool {
	return func(err error) bool {
		var api smithy.APIError
		return errors.As(err, &api) && api.ErrorCode() == code
	}
}

func TestActionAtAConditionalPut(t *testing.T) {
	crashed := func(err error) bool { return errors.Is(err, fault.ErrCrashed) }
	for name, row := range map[string]struct {
		action  fault.Action
		retries int
		failed  func(error) bool
		stored  string
	}{
		"passed":                               {fault.Pass, 1, nil, "x"},
		"throttled":                            {fault.Throttle, 1, answered("SlowDown"), ""},
		"throttled, then tried again":          {fault.Throttle, 3, nil, "x"},
		"failed before":                        {fault.FailBefore, 1, answered("InternalError"), ""},
		"failed before, then tried again":      {fault.FailBefore, 3, nil, "x"},
		"beside another write":                 {fault.Conflict, 3, answered("ConditionalRequestConflict"), ""},
		"response lost":                        {fault.LoseResponse, 1, func(err error) bool { return err != nil }, "x"},
		"response lost, then meets itself":     {fault.LoseResponse, 3, answered("PreconditionFailed"), "x"},
		"crashed before, which nobody retries": {fault.CrashBefore, 3, crashed, ""},
		"crashed after, which nobody retries":  {fault.CrashAfter, 3, crashed, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := bucketOf(t, row.retries)
				err := putNew(t.Context(), start(fault.At(1, row.action)), "x")
				if row.failed == nil && err != nil || row.failed != nil && !row.failed(err) {
					t.Errorf("put returned %v", err)
				}
				if got := stored(t, start(nil)); got != row.stored {
					t.Errorf("%q is stored, want %q", got, row.stored)
				}
			})
		})
	}
}

func TestCallsOfS3AreDescribed(t *testing.T) {
	var calls []fault.Call
	synctest.Test(t, func(t *testing.T) {
		client := bucketOf(t, 1)(func(call fault.Call) fault.Action { calls = append(calls, call); return fault.Throttle })
		_ = putNew(t.Context(), client, "content")
		_, err := client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String("jobs"), Key: aws.String("a")})
		if !answered("ServiceUnavailable")(err) { // a HEAD has no body to tell more
			t.Errorf("a throttled head: %v", err)
		}
		_, _ = client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("jobs")})
	})
	want := []fault.Call{
		{Service: "S3", Operation: "PutObject", Object: "jobs/checkpoints/7", N: 1, Attempt: 1, Body: []byte("content")},
		{Service: "S3", Operation: "HeadObject", Object: "jobs/a", N: 2, Attempt: 1},
		{Service: "S3", Operation: "ListObjectsV2", Object: "jobs", N: 3, Attempt: 1},
	}
	if len(calls) != len(want) {
		t.Fatalf("%d calls, want %d", len(calls), len(want))
	}
	for i, call := range calls {
		if call.Service != want[i].Service || call.Operation != want[i].Operation || call.Object != want[i].Object || call.N != want[i].N ||
			call.Attempt != want[i].Attempt || string(call.Body) != string(want[i].Body) {
			t.Errorf("call %d is %+v, want %+v", i+1, call, want[i])
		}
	}
}

func TestDynamoDBIsInConflictInItsOwnWords(t *testing.T) {
	config := aws.Config{Region: "us-east-1", Credentials: aws.AnonymousCredentials{}, HTTPClient: fault.Wrap(noCalls{}, fault.At(1, fault.Conflict))}
	_, err := dynamodb.NewFromConfig(config, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 }).ListTables(t.Context(), nil)
	if !answered("TransactionConflictException")(err) {
		t.Errorf("error is %v, want TransactionConflictException", err)
	}
}

// noCalls fails what reaches it.
type noCalls struct{}

func (noCalls) Do(*http.Request) (*http.Response, error) {
	return nil, errors.New("the call was carried out")
}
