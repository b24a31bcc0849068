package store

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Names of the tables' parts; infrastructure and tests use them too.
const (
	PartitionKey  = "pk"
	SortKey       = "sk"
	IndexDue      = "due"
	IndexTenant   = "bytenant"
	IndexWake     = "wake"
	TTLAttribute  = "expires_at"
	defaultPrefix = "belfry"
)

// Tables names the three tables of an installation.
type Tables struct{ Jobs, Executions, Control string }

// TablesOf names the tables of the installation with that prefix; an empty
// prefix is "belfry".
func TablesOf(prefix string) Tables {
	if prefix == "" {
		prefix = defaultPrefix
	}
	return Tables{Jobs: prefix + "-jobs", Executions: prefix + "-executions", Control: prefix + "-control"}
}

type index struct {
	name, partition string
	sort            string
	sortType        types.ScalarAttributeType
}

// CreateTables makes the tables where they are absent, for local backends and
// tests; a deployment's tables come from its stack.
func CreateTables(ctx context.Context, client *dynamodb.Client, prefix string) error {
	names := TablesOf(prefix)
	inputs := []*dynamodb.CreateTableInput{
		table(names.Jobs, false, index{IndexDue, "due_shard", "next_fire_at", types.ScalarAttributeTypeN}, index{IndexTenant, "tenant_shard", "job", types.ScalarAttributeTypeS}),
		table(names.Executions, true, index{IndexWake, "wake_shard", "wake_at", types.ScalarAttributeTypeN}),
		table(names.Control, false),
	}
	for _, input := range inputs {
		var exists *types.ResourceInUseException
		if _, err := client.CreateTable(ctx, input); err != nil && !errors.As(err, &exists) {
			return fault("make table "+*input.TableName, err)
		}
	}
	for _, name := range []string{names.Executions, names.Control} {
		ttl, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String(name)})
		if err != nil {
			return fault("read the time to live of "+name, err)
		}
		if ttl.TimeToLiveDescription != nil && ttl.TimeToLiveDescription.TimeToLiveStatus == types.TimeToLiveStatusEnabled {
			continue
		}
		if _, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: aws.String(name),
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String(TTLAttribute), Enabled: aws.Bool(true)}}); err != nil {
			return fault("set the time to live of "+name, err)
		}
	}
	return nil
}

func table(name string, stream bool, indexes ...index) *dynamodb.CreateTableInput {
	input := &dynamodb.CreateTableInput{
		TableName:   aws.String(name),
		BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{{AttributeName: aws.String(PartitionKey), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String(SortKey), KeyType: types.KeyTypeRange}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String(PartitionKey), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String(SortKey), AttributeType: types.ScalarAttributeTypeS}},
	}
	for _, i := range indexes {
		input.AttributeDefinitions = append(input.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String(i.partition), AttributeType: types.ScalarAttributeTypeS},
			types.AttributeDefinition{AttributeName: aws.String(i.sort), AttributeType: i.sortType})
		input.GlobalSecondaryIndexes = append(input.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{IndexName: aws.String(i.name),
			KeySchema: []types.KeySchemaElement{{AttributeName: aws.String(i.partition), KeyType: types.KeyTypeHash},
				{AttributeName: aws.String(i.sort), KeyType: types.KeyTypeRange}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}})
	}
	if stream {
		input.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages}
	}
	return input
}
