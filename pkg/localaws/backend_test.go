package localaws_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/smithy-go"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

func open(t *testing.T, dir string) *localaws.Backend {
	t.Helper()
	backend, err := localaws.New(localaws.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	return backend
}

func createTable(ctx context.Context, t *testing.T, config aws.Config) {
	t.Helper()
	_, err := dynamodb.NewFromConfig(config).CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:            aws.String("jobs"),
		AttributeDefinitions: []ddb.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "S"}},
		KeySchema:            []ddb.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}},
		BillingMode:          ddb.BillingModePayPerRequest,
		StreamSpecification:  &ddb.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: "NEW_AND_OLD_IMAGES"},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func createBucket(ctx context.Context, t *testing.T, config aws.Config) *s3.Client {
	t.Helper()
	client := s3.NewFromConfig(config)
	if _, err := client.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String("belfry")}); err != nil {
		t.Fatal(err)
	}
	return client
}

func TestAllServicesAnswerWithoutSocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := open(t, "").Config()
		createTable(t.Context(), t, config)
		if out, err := dynamodbstreams.NewFromConfig(config).ListStreams(t.Context(), nil); err != nil || len(out.Streams) != 1 {
			t.Errorf("streams are %v, %v", out, err)
		}
		if _, err := sqs.NewFromConfig(config).CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")}); err != nil {
			t.Error(err)
		}
		createBucket(t.Context(), t, config)
	})
}

func TestEnvironmentDoesNotLeakIn(t *testing.T) {
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": "http://127.0.0.1:1", "AWS_ENDPOINT_URL_SQS": "http://127.0.0.1:1", "AWS_REGION": "mars-1",
		"AWS_PROFILE": "none", "AWS_USE_FIPS_ENDPOINT": "true", "AWS_USE_DUALSTACK_ENDPOINT": "true", "AWS_MAX_ATTEMPTS": "9",
	} {
		t.Setenv(name, value)
	}
	client := sqs.NewFromConfig(open(t, "").Config())
	out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
	if err != nil || *out.QueueUrl != "http://local.invalid/000000000000/q" {
		t.Errorf("queue is %v, %v", out, err)
	}
}

func TestQueueURLLeadsBackOverHTTP(t *testing.T) {
	backend := open(t, "")
	server := httptest.NewServer(backend)
	defer server.Close()
	config := backend.Config()
	config.BaseEndpoint, config.HTTPClient = &server.URL, server.Client()
	client := sqs.NewFromConfig(config)
	out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
	if err != nil || !strings.HasPrefix(*out.QueueUrl, server.URL+"/") {
		t.Fatalf("queue is %v, %v; want a URL under %s", out, err, server.URL)
	}
	if _, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: out.QueueUrl, MessageBody: aws.String("x")}); err != nil {
		t.Fatal(err)
	}
	received, err := sqs.NewFromConfig(backend.Config()).ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: out.QueueUrl})
	if err != nil || len(received.Messages) != 1 {
		t.Errorf("in memory: %v, %v", received, err)
	}
}

func TestHangingUpEndsALongPollOverHTTP(t *testing.T) {
	backend := open(t, "")
	server := httptest.NewServer(backend)
	config := backend.Config()
	config.BaseEndpoint, config.HTTPClient = &server.URL, server.Client()
	client := sqs.NewFromConfig(config)
	out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: out.QueueUrl, WaitTimeSeconds: 20})
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("poll returned %v", err)
	}
	server.Close() // blocks while a request is still open
}

func TestContextEndsALongPollInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := sqs.NewFromConfig(open(t, "").Config())
		out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begin := time.Now()
		_, err = client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: out.QueueUrl, WaitTimeSeconds: 20})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 3*time.Second {
			t.Errorf("poll returned %v after %v, want the context's error after 3s", err, time.Since(begin))
		}
	})
}

func TestAnswersShowTheServersClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := sqs.NewFromConfig(open(t, "").Config())
		out, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(90 * time.Second)
		before := time.Now()
		// The answer comes after the wait; so does its Date.
		polled, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: out.QueueUrl, WaitTimeSeconds: 7})
		if err != nil {
			t.Fatal(err)
		}
		if at, ok := awsmiddleware.GetServerTime(polled.ResultMetadata); !ok || !at.Equal(before.Add(7*time.Second).Truncate(time.Second)) {
			t.Errorf("server time is %v, %v", at, ok)
		}
	})
}

func TestPing(t *testing.T) {
	backend := open(t, "")
	ping := func() int {
		recorder := httptest.NewRecorder()
		backend.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/ping", nil))
		return recorder.Code
	}
	if got := ping(); got != http.StatusOK {
		t.Errorf("open backend answers %d", got)
	}
	if err := backend.Close(); err != nil {
		t.Fatal(err)
	}
	if got := ping(); got != http.StatusServiceUnavailable {
		t.Errorf("closed backend answers %d", got)
	}
	_, err := dynamodb.NewFromConfig(backend.Config()).ListTables(t.Context(), nil, func(o *dynamodb.Options) { o.RetryMaxAttempts = 1 })
	var refused smithy.APIError
	if !errors.As(err, &refused) || refused.ErrorCode() != "ServiceUnavailable" {
		t.Errorf("a call after closing returned %v", err)
	}
	_, err = s3.NewFromConfig(backend.Config()).HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: aws.String("belfry")}, func(o *s3.Options) { o.RetryMaxAttempts = 1 })
	if !errors.As(err, &refused) || refused.ErrorCode() != "ServiceUnavailable" {
		t.Errorf("a call of S3 after closing returned %v", err)
	}
	if err := backend.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

// A bucket or an object may be called as the backend's own address is.
func TestPingIsNoObject(t *testing.T) {
	client := createBucket(t.Context(), t, open(t, "").Config())
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("ping")}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("belfry"), Key: aws.String("ping"), Body: strings.NewReader("object")}); err != nil {
		t.Fatal(err)
	}
	out, err := client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("belfry"), Key: aws.String("ping")})
	if err != nil || *out.ContentLength != 6 {
		t.Errorf("the object is %+v, %v", out, err)
	}
	if _, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("ping")}, func(o *s3.Options) { o.UsePathStyle = true }); err != nil {
		t.Error(err)
	}
}

func TestObjectsExpireOnlyWhenTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := open(t, "")
		client := createBucket(t.Context(), t, backend.Config())
		for _, key := range []string{"checkpoints/1", "checkpoints/2", "payloads/1"} {
			if _, err := client.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String("belfry"), Key: &key}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
		}
		// They are three, two and one hours old.
		for _, row := range []struct {
			age     time.Duration
			removed int
		}{{4 * time.Hour, 0}, {3 * time.Hour, 1}, {3 * time.Hour, 0}, {0, 1}} {
			if got, err := backend.ExpireObjects("belfry", "checkpoints/", row.age); err != nil || got != row.removed {
				t.Errorf("those of %v: %d expired, %v; want %d", row.age, got, err, row.removed)
			}
		}
		if out, err := client.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("belfry")}); err != nil || *out.KeyCount != 1 {
			t.Errorf("left are %+v, %v", out, err)
		}
		if got, err := backend.ExpireObjects("none", "", 0); err != nil || got != 0 {
			t.Errorf("of no bucket %d expired, %v", got, err)
		}
	})
}

func TestStateOfAllServicesSurvives(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir)
	createTable(t.Context(), t, first.Config())
	if _, err := sqs.NewFromConfig(first.Config()).CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("q")}); err != nil {
		t.Fatal(err)
	}
	createBucket(t.Context(), t, first.Config())
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	config := open(t, dir).Config()
	if _, err := s3.NewFromConfig(config).HeadBucket(t.Context(), &s3.HeadBucketInput{Bucket: aws.String("belfry")}); err != nil {
		t.Errorf("the bucket: %v", err)
	}
	tables, err := dynamodb.NewFromConfig(config).ListTables(t.Context(), nil)
	if err != nil || len(tables.TableNames) != 1 {
		t.Errorf("tables are %v, %v", tables, err)
	}
	queues, err := sqs.NewFromConfig(config).ListQueues(t.Context(), nil)
	if err != nil || len(queues.QueueUrls) != 1 {
		t.Errorf("queues are %v, %v", queues, err)
	}
}
