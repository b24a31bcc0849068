package functions_test

import (
	"encoding/json"
	"strconv"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/belfry-scheduler/belfry/functions"
	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/dispatch"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
)

// town is an installation whose functions the platform drives, in memory and
// on the bubble's clock.
type town struct {
	*functions.Installation
	backend *localaws.Backend
	figures *figures
	clients assemble.Clients
	t       *testing.T

	mu     sync.Mutex
	decide func(fault.Call) fault.Action // what becomes of calls; nil = they pass
}

func newTown(t *testing.T, options ...func(*assemble.Settings)) *town {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	w := &town{backend: backend, t: t, figures: &figures{}}
	config := backend.Config()
	config.HTTPClient = fault.Wrap(backend.Client(), w.onCall)
	w.clients = assemble.Clients{DynamoDB: dynamodb.NewFromConfig(config), SQS: sqs.NewFromConfig(config)}
	pool, _ := dispatch.Pools(dispatch.DefaultPools()).Find("fast-io")
	settings := assemble.Settings{Shards: 4, Pools: dispatch.Pools{pool}, Types: []string{"report"}}
	settings.Metrics = assemble.Metrics(settings, w.figures)
	for _, set := range options {
		set(&settings)
	}
	b := assemble.New(w.clients, settings)
	if err := b.Ensure(t.Context(), w.clients); err != nil {
		t.Fatal(err)
	}
	w.Installation = functions.New(b, assemble.Environment{Version: "test"})
	return w
}

func (w *town) onCall(c fault.Call) fault.Action {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.decide == nil {
		return fault.Pass
	}
	return w.decide(c)
}

// fail has calls of an operation fail from now on; an empty one ends
// all faults.
func (w *town) fail(operation string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.decide = nil
	if operation == "" {
		return
	}
	w.decide = func(c fault.Call) fault.Action {
		if c.Operation == operation {
			return fault.FailBefore
		}
		return fault.Pass
	}
}

// put makes a job of the default tenant whose executions handler runs; the
// shipped log target does when none is named.
func (w *town) put(d job.Definition, handler string) job.Ref {
	w.t.Helper()
	ref := job.Ref{Tenant: job.DefaultTenant, Job: d.Job}
	d.Target = job.Target{Log: &job.LogTarget{}}
	if handler != "" {
		d.Target = job.Target{Handler: &job.HandlerTarget{Name: handler}}
	}
	if _, err := w.Control.Put(w.t.Context(), control.PutRequest{Ref: ref, Definition: d, Actor: "ada"}); err != nil {
		w.t.Fatal(err)
	}
	return ref
}

// failed is told what the platform saw fail; unless a test has put faults in,
// there is nothing that may.
func (w *town) failed(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.decide == nil {
		w.t.Errorf("the platform saw a failure: %v", err)
	}
}

func (w *town) encoded(event any) json.RawMessage {
	encoded, err := json.Marshal(event)
	if err != nil {
		w.t.Error(err)
	}
	return encoded
}

// messages counts what queues hold, hidden or not.
func (w *town) messages(queues ...string) int {
	t := w.t
	t.Helper()
	left := 0
	for _, name := range queues {
		url, err := w.clients.SQS.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(name)})
		if err != nil {
			t.Fatal(err)
		}
		out, err := w.clients.SQS.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: url.QueueUrl, AttributeNames: []types.QueueAttributeName{
			types.QueueAttributeNameApproximateNumberOfMessages, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible,
			types.QueueAttributeNameApproximateNumberOfMessagesDelayed}})
		if err != nil || len(out.Attributes) != 3 {
			t.Fatal(out, err)
		}
		for _, count := range out.Attributes {
			n, err := strconv.Atoi(count)
			if err != nil {
				t.Fatal(err)
			}
			left += n
		}
	}
	return left
}

var nightly = job.Ref{Tenant: job.DefaultTenant, Job: "nightly"}
