package dynamo_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
	"github.com/belfry-scheduler/belfry/pkg/localaws/wire"
)

// bundle is a service and the real SDK's clients of it, without a socket
// between them.
type bundle struct {
	*testing.T
	service *dynamo.Service
	client  *dynamodb.Client
	streams *dynamodbstreams.Client
}

func setup(t *testing.T, engine kv.Engine, opts dynamo.Options) bundle {
	t.Helper()
	service := dynamo.New(engine, opts)
	server := wire.NewServer(nil,
		wire.Route{Target: "DynamoDB_20120810", Service: service, Checksum: true},
		wire.Route{Target: "DynamoDBStreams_20120810", Service: service.Streams(), Checksum: true},
	)
	config := aws.Config{
		Region:       "us-east-1",
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
		BaseEndpoint: aws.String("http://local.invalid"),
		HTTPClient:   inMemory{server},
	}
	return bundle{t, service, dynamodb.NewFromConfig(config), dynamodbstreams.NewFromConfig(config)}
}

type inMemory struct{ handler http.Handler }

func (c inMemory) Do(request *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	c.handler.ServeHTTP(recorder, request)
	answer := recorder.Result()
	body, err := io.ReadAll(answer.Body)
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, err
}

// engines are both engines, each fresh.
func engines(t *testing.T) map[string]kv.Engine {
	t.Helper()
	file, err := kv.OpenBolt(t.TempDir() + "/aws.db")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return map[string]kv.Engine{"memory": kv.NewMemory(), "bolt": file}
}

// tester is a *testing.T, a *testing.B or a *rapid.T.
type tester interface {
	Helper()
	Fatal(args ...any)
}

// done stops the test unless the call succeeded.
func done[T any](t tester, out T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type item = map[string]types.AttributeValue

func s(text string) types.AttributeValue { return &types.AttributeValueMemberS{Value: text} }
func n(text string) types.AttributeValue { return &types.AttributeValueMemberN{Value: text} }

var jobs = aws.String("jobs")

// createJobs makes a table with a sort key, a sparse index of numbers and a
// stream.
func (b bundle) createJobs(projection types.ProjectionType) {
	b.Helper()
	_, err := b.client.CreateTable(b.Context(), &dynamodb.CreateTableInput{
		TableName: jobs, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: "S"},
			{AttributeName: aws.String("sk"), AttributeType: "S"},
			{AttributeName: aws.String("due_shard"), AttributeType: "S"},
			{AttributeName: aws.String("due"), AttributeType: "N"},
		},
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}, {AttributeName: aws.String("sk"), KeyType: "RANGE"}},
		GlobalSecondaryIndexes: []types.GlobalSecondaryIndex{{
			IndexName:  aws.String("due"),
			KeySchema:  []types.KeySchemaElement{{AttributeName: aws.String("due_shard"), KeyType: "HASH"}, {AttributeName: aws.String("due"), KeyType: "RANGE"}},
			Projection: &types.Projection{ProjectionType: projection},
		}},
		StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: "NEW_AND_OLD_IMAGES"},
	})
	if err != nil {
		b.Fatal(err)
	}
}

func (b bundle) put(items ...item) {
	b.Helper()
	for _, one := range items {
		out, err := b.client.PutItem(b.Context(), &dynamodb.PutItemInput{TableName: jobs, Item: one})
		done(b, out, err)
	}
}

// text reads a value of type S or N.
func text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	default:
		return ""
	}
}

// due lists the sort keys of shard x, in the order of the index.
func (b bundle) due() []string {
	b.Helper()
	out, err := b.client.Query(b.Context(), &dynamodb.QueryInput{TableName: jobs, IndexName: aws.String("due"),
		KeyConditionExpression: aws.String("due_shard = :s"), ExpressionAttributeValues: item{":s": s("x")}})
	found := []string{}
	for _, one := range done(b, out, err).Items {
		found = append(found, text(one["sk"]))
	}
	return found
}

// job is an item of the table that is due in shard x.
func job(sk, due string) item {
	return item{"pk": s("a"), "sk": s(sk), "due_shard": s("x"), "due": n(due)}
}
