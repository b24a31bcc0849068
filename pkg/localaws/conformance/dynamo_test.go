package conformance_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/belfry-scheduler/belfry/pkg/localaws"
	"github.com/belfry-scheduler/belfry/pkg/localaws/conformance"
)

func TestDynamoDBInMemory(t *testing.T) {
	runDynamoDB(t, func(*testing.T) localaws.Options { return localaws.Options{} })
}

func TestDynamoDBOnDisk(t *testing.T) {
	runDynamoDB(t, func(t *testing.T) localaws.Options { return localaws.Options{Dir: t.TempDir()} })
}

func runDynamoDB(t *testing.T, options func(*testing.T) localaws.Options) {
	conformance.Run(t, conformance.DynamoDBCases(), nil, func(t *testing.T, run func(context.Context, *testing.T, conformance.Env)) {
		backend, err := localaws.New(options(t))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = backend.Close() }()
		run(t.Context(), t, dynamoEnv(backend.Config(), "c-"))
	})
}

func dynamoEnv(config aws.Config, prefix string) conformance.Env {
	return conformance.Env{DynamoDB: dynamodb.NewFromConfig(config), Streams: dynamodbstreams.NewFromConfig(config), Prefix: prefix}
}
