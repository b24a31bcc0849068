package dynamo_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/fault"
	"github.com/belfry-scheduler/belfry/pkg/worker"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent"
	"github.com/belfry-scheduler/belfry/pkg/worker/idempotent/dynamo"
	"github.com/belfry-scheduler/belfry/pkg/worker/workertest"
)

// bench is an application's table on a backend in memory.
type bench struct {
	*testing.T
	backend *localaws.Backend
	client  *dynamodb.Client
	inbox   *dynamo.Inbox
}

func setup(t *testing.T) *bench {
	t.Helper()
	backend, err := localaws.New(localaws.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = backend.Close() })
	b := &bench{T: t, backend: backend, client: dynamodb.NewFromConfig(backend.Config())}
	if err := makeTable(t.Context(), b.client); err != nil {
		t.Fatal(err)
	}
	b.inbox = &dynamo.Inbox{Client: b.client, Table: "app"}
	return b
}

func makeTable(ctx context.Context, client *dynamodb.Client) error {
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{TableName: aws.String("app"), BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}}})
	return err
}

// through is a client of the same table whose calls are decided on.
func (b *bench) through(decide func(fault.Call) fault.Action) *dynamodb.Client {
	config := b.backend.Config()
	config.HTTPClient = fault.Wrap(b.backend.Client(), decide)
	return dynamodb.NewFromConfig(config)
}

func (b *bench) item(key string) map[string]types.AttributeValue {
	b.Helper()
	out, err := b.client.GetItem(b.Context(), &dynamodb.GetItemInput{TableName: aws.String("app"), Key: pk(key), ConsistentRead: aws.Bool(true)})
	if err != nil {
		b.Fatal(err)
	}
	return out.Item
}

// wantText fails unless the item holds the text under that name.
func (b *bench) wantText(key, name, want string) {
	b.Helper()
	got, _ := b.item(key)[name].(*types.AttributeValueMemberS)
	if got == nil && want != "" || got != nil && got.Value != want {
		b.Errorf("%s of %s is %v, want %q", name, key, b.item(key)[name], want)
	}
}

func pk(key string) map[string]types.AttributeValue {
	return map[string]types.AttributeValue{"pk": word(key)}
}

func word(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }

var monday = time.Date(2026, 7, 13, 1, 30, 0, 0, time.UTC)

// attempt is the one with that token of Monday's execution.
func attempt(token int64) *worker.Attempt {
	return workertest.Attempt(workertest.Facts{Job: "billing", ScheduledAt: monday, FencingToken: token, Number: int(token)})
}

func charge(token int64) idempotent.Action { return idempotent.Of(attempt(token), "charge") }

func fence(token int64) idempotent.Fence { return idempotent.FenceOf(attempt(token)) }

// setStatus is a handler's write, as the handler would send it.
func setStatus(key, status string) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{TableName: aws.String("app"), Key: pk(key), UpdateExpression: aws.String("SET #status = :status"),
		ExpressionAttributeNames: map[string]string{"#status": "status"}, ExpressionAttributeValues: map[string]types.AttributeValue{":status": word(status)}}
}
