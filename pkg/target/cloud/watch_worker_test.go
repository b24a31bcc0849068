package cloud

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/clock"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

// The count of tasks that ended badly is carried by the checkpoint: the attempt
// after one starts another task, under a token of its own.
func TestATaskThatEndedBadlyIsFollowedByAnotherThroughAWorker(t *testing.T) {
	w := &wire{bodies: map[string]map[string]any{}, answers: map[string][]string{"RunTask": {runs}, "ListTasks": {`{"taskArns":[]}`},
		"DescribeTasks": {told("EssentialContainerExited", "", `{"name":"main","exitCode":3}`), told("EssentialContainerExited", "", `{"name":"main","exitCode":0}`)}}}
	server := httptest.NewServer(w)
	defer server.Close()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	clients := assemble.Clients{DynamoDB: dynamodb.NewFromConfig(backend.Config()), SQS: sqs.NewFromConfig(backend.Config())}
	b := assemble.New(clients, assemble.Settings{Shards: 4})
	if err := b.Ensure(t.Context(), clients); err != nil {
		t.Fatal(err)
	}
	run, err := worker.New(worker.Options{Queue: b.Queues, Execution: b.Execute(nil), Drain: 10 * time.Second, Pools: []worker.Pool{{Name: "fast-io", Lease: 15 * time.Second}}})
	if err != nil {
		t.Fatal(err)
	}
	config := aws.Config{Region: "eu-west-1", BaseEndpoint: &server.URL, Credentials: credentials.NewStaticCredentialsProvider("id", "key", "")}
	New(Options{AWS: &config, Clock: clock.System{}, Installation: "belfry"}).Register(run)
	ref := job.Ref{Tenant: "default", Job: "nightly"}
	d := job.Definition{Job: "nightly", Schedule: job.Schedule{Cron: "0 0 1 1 *"}, Retry: job.Retry{MaxAttempts: 3, Base: job.Duration(100 * time.Millisecond), Max: job.Duration(100 * time.Millisecond)},
		Target: job.Target{ECS: &job.ECSTarget{Wait: true, Cluster: "batch", TaskDefinition: "report", Containers: []job.ContainerOverride{{Name: "main"}}}}}
	if _, err := b.Control.Put(t.Context(), control.PutRequest{Ref: ref, Definition: d, Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	e, err := b.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- run.Run(ctx) }()
	for tick := time.NewTicker(20 * time.Millisecond); e.FinishedAt.IsZero(); <-tick.C {
		if e, err = b.Store.Execution(t.Context(), ref, e.Key); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	token, _ := w.bodies["RunTask"]["clientToken"].(string)
	by, _ := w.bodies["ListTasks"]["startedBy"].(string)
	if e.Status != job.Succeeded || e.Attempt != 2 || w.did("RunTask") != 2 || !strings.HasSuffix(token, "-1") || !strings.HasSuffix(by, "/1") {
		t.Errorf("%s after %d attempts (%s) and %v; the last token is %q, what was looked for %q", e.Status, e.Attempt, e.ErrorText, w.calls, token, by)
	}
}
