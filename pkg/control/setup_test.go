package control_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/belfry-scheduler/belfry/pkg/assemble"
	"github.com/belfry-scheduler/belfry/pkg/control"
	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/localaws"
)

// desk is the control plane on the real store, in a bubble, with every write
// that leaves it counted.
type desk struct {
	*testing.T
	*control.Service
	belfry *assemble.Belfry
	db     *dynamodb.Client
	ref    job.Ref

	mu     sync.Mutex
	writes []string
}

// Do counts the writes on their way to the backend.
func (d *desk) count(next aws.HTTPClient) aws.HTTPClient {
	return transport(func(request *http.Request) (*http.Response, error) {
		_, operation, _ := strings.Cut(request.Header.Get("X-Amz-Target"), ".")
		switch operation {
		case "PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem", "SendMessageBatch", "SendMessage":
			d.mu.Lock()
			d.writes = append(d.writes, operation)
			d.mu.Unlock()
		}
		return next.Do(request)
	})
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) Do(r *http.Request) (*http.Response, error) { return t(r) }

// written forgets and returns the writes so far.
func (d *desk) written() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	writes := d.writes
	d.writes = nil
	return writes
}

func atDesk(t *testing.T, play func(d *desk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		backend, err := localaws.New(localaws.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := &desk{T: t, ref: job.Ref{Tenant: job.DefaultTenant, Job: "nightly"}}
		config := backend.Config()
		config.HTTPClient = d.count(backend.Client())
		d.db = dynamodb.NewFromConfig(backend.Config())
		clients := assemble.Clients{DynamoDB: dynamodb.NewFromConfig(config), SQS: sqs.NewFromConfig(config)}
		d.belfry = assemble.New(clients, assemble.Settings{Shards: 1, Types: []string{"billing", "report"}, Retention: 72 * time.Hour})
		d.Service = d.belfry.Control
		d.must(d.belfry.Ensure(t.Context(), clients))
		if _, err := d.belfry.Store.Layouts(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.written()
		play(d)
		time.Sleep(time.Second) // requests that gather messages are on their way still
	})
}

func (d *desk) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// daily fires at noon, far outside the horizon.
func daily() job.Definition {
	return job.Definition{Schedule: job.Schedule{Cron: "0 12 * * *"}, Target: job.Target{Log: &job.LogTarget{}}}
}

func (d *desk) request(definition job.Definition) control.PutRequest {
	return control.PutRequest{Ref: d.ref, Definition: definition, Actor: "ada"}
}

func (d *desk) put(definition job.Definition) control.PutResult {
	d.Helper()
	result, err := d.Put(d.Context(), d.request(definition))
	d.must(err)
	return result
}

func (d *desk) head() *job.Head {
	d.Helper()
	head, err := d.belfry.Store.Head(d.Context(), d.ref)
	d.must(err)
	return head
}

func (d *desk) stored() []job.Execution {
	d.Helper()
	all, _, err := d.belfry.Store.ListExecutions(d.Context(), job.ExecutionQuery{Ref: d.ref, Limit: 500})
	d.must(err)
	return all
}

func (d *desk) setState(state job.State) {
	d.Helper()
	_, err := d.db.UpdateItem(d.Context(), &dynamodb.UpdateItemInput{TableName: aws.String(d.belfry.Store.Tables().Jobs),
		Key:              map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: d.ref.String()}, "sk": &types.AttributeValueMemberS{Value: "HEAD"}},
		UpdateExpression: aws.String("SET #state = :state REMOVE next_fire_at, due_shard"), ExpressionAttributeNames: map[string]string{"#state": "state"},
		ExpressionAttributeValues: map[string]types.AttributeValue{":state": &types.AttributeValueMemberS{Value: string(state)}}})
	d.must(err)
}

// audit reads the job's audit entries: verb, actor and epoch, oldest first.
func (d *desk) audit() []string {
	d.Helper()
	out, err := d.db.Query(d.Context(), &dynamodb.QueryInput{TableName: aws.String(d.belfry.Store.Tables().Control), KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: "AUDIT#" + d.ref.String()}}})
	d.must(err)
	var lines []string
	for _, stored := range out.Items {
		verb, _ := stored["verb"].(*types.AttributeValueMemberS)
		actor, _ := stored["actor"].(*types.AttributeValueMemberS)
		epoch, _ := stored["epoch"].(*types.AttributeValueMemberN)
		if verb == nil || actor == nil || epoch == nil {
			d.Fatalf("an audit entry is %v", stored)
		}
		lines = append(lines, verb.Value+" "+actor.Value+" "+epoch.Value)
	}
	return lines
}

// situations are ways for the job to be in each state before a verb.
var situations = map[string]func(d *desk){
	"absent":          func(*desk) {},
	"enabled":         func(d *desk) { d.put(daily()) },
	"paused":          func(d *desk) { d.put(daily()); _, err := d.Pause(d.Context(), d.ref, "ada"); d.must(err) },
	"suspended":       func(d *desk) { d.put(daily()); d.setState(job.Suspended) },
	"broken":          func(d *desk) { d.put(daily()); d.setState(job.Broken) },
	"completed":       func(d *desk) { d.put(once()); time.Sleep(3 * time.Minute) },
	"completed ahead": func(d *desk) { d.put(once()) }, // made, and its time has not come
	"deleted":         func(d *desk) { d.put(daily()); _, err := d.Delete(d.Context(), d.ref, "ada", 0); d.must(err) },
}

// once is daily at a single time, inside the horizon.
func once() job.Definition {
	definition := daily()
	definition.Schedule = job.Schedule{At: time.Now().Add(2 * time.Minute)}
	return definition
}

// edited is daily with other content.
func edited() job.Definition {
	definition := daily()
	definition.Description = "edited"
	return definition
}

// verbs are what can be asked of a job; each returns the head afterwards.
var verbs = map[string]func(ctx context.Context, d *desk) (*job.Head, error){
	"pause":  func(ctx context.Context, d *desk) (*job.Head, error) { return d.Pause(ctx, d.ref, "bob") },
	"resume": func(ctx context.Context, d *desk) (*job.Head, error) { return d.Resume(ctx, d.ref, "bob", "") },
	"delete": func(ctx context.Context, d *desk) (*job.Head, error) { return d.Delete(ctx, d.ref, "bob", 0) },
	"edit": func(ctx context.Context, d *desk) (*job.Head, error) {
		result, err := d.Put(ctx, d.request(edited()))
		return result.Head, err
	},
	"run now": func(ctx context.Context, d *desk) (*job.Head, error) {
		if _, err := d.RunNow(ctx, control.RunRequest{Ref: d.ref, Actor: "bob"}); err != nil {
			return nil, err
		}
		return d.belfry.Store.Head(ctx, d.ref)
	},
}
