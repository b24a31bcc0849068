package target_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/target"
	"github.com/belfry-scheduler/belfry/pkg/worker"
)

const secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

// call is what the receiver saw.
type call struct {
	header http.Header
	body   []byte
}

func TestManualRunOfAWebhookJobReachesItsReceiverSigned(t *testing.T) {
	calls := make(chan call, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- call{r.Header, body}
	}))
	defer receiver.Close()
	b, w := installation(t)
	if err := target.Register(w, target.Options{WebhookSecret: secret, WebhookAllow: target.Loopback()}); err != nil {
		t.Fatal(err)
	}
	ref := job.Ref{Tenant: "default", Job: "hook"}
	definition := job.Definition{Job: "hook", Schedule: job.Schedule{Cron: "0 0 1 1 *"}, Payload: []byte(`{"a":1}`),
		Target: job.Target{Webhook: &job.Webhook{URL: receiver.URL}}}
	if _, err := b.Control.Put(t.Context(), control.PutRequest{Ref: ref, Definition: definition, Actor: "test"}); err != nil {
		t.Fatal(err)
	}
	e, err := b.Control.RunNow(t.Context(), control.RunRequest{Ref: ref, Actor: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	got := <-calls
	stop() // lets the attempt settle
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifier.Verify(got.body, got.header); err != nil || got.header.Get("Belfry-Execution-Id") != e.ID() || string(got.body) != `{"a":1}` {
		t.Errorf("%v, execution %q, body %s; want a signed call of %s", err, got.header.Get("Belfry-Execution-Id"), got.body, e.ID())
	}
	after, err := b.Store.Execution(t.Context(), ref, e.Key)
	if err != nil || after.Status != job.Succeeded || len(calls) != 0 {
		t.Errorf("%v, %v, %d more calls; want SUCCEEDED after one", after.Status, err, len(calls))
	}
}

// installation is one on a backend in memory, with a worker of pool fast-io.
func installation(t *testing.T) (*assemble.Belfry, *worker.Worker) {
	t.Helper()
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
	w, err := worker.New(worker.Options{Queue: b.Queues, Execution: b.Execute(nil), Drain: 10 * time.Second,
		Pools: []worker.Pool{{Name: "fast-io", Lease: 15 * time.Second}}})
	if err != nil {
		t.Fatal(err)
	}
	return b, w
}

func TestKeyThatCannotSignIsRefusedBeforeAnythingRuns(t *testing.T) {
	_, w := installation(t)
	if err := target.Register(w, target.Options{WebhookSecret: "secret"}); job.CodeOf(err) != job.CodeInvalid {
		t.Errorf("%v, want INVALID", err)
	}
	if w.Check() == nil {
		t.Error("targets were registered all the same")
	}
}
