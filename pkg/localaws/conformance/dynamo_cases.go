package conformance

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go"
)

// DynamoDBCases returns the cases of the database and its streams.
func DynamoDBCases() []Case {
	return slices.Concat(dynamoTableCases(), dynamoItemCases(), dynamoConditionCases(), dynamoUpdateCases(), dynamoRefusedUpdateCases(),
		dynamoProjectionCases(), dynamoValueCases(), dynamoRefusalCases(), dynamoSyntaxCases(), dynamoQueryCases(), dynamoPageCases(),
		dynamoIndexCases(), dynamoCapacityCases(), dynamoBatchCases(), dynamoTransactionCases(), dynamoStreamCases())
}

// database is one case's view of the service.
type database struct {
	*testing.T
	ctx     context.Context
	client  *dynamodb.Client
	streams *dynamodbstreams.Client
	prefix  string
}

func onDynamoDB(name string, run func(database)) Case {
	return Case{Name: name, Run: func(ctx context.Context, t *testing.T, env Env) {
		run(database{T: t, ctx: ctx, client: env.DynamoDB, streams: env.Streams, prefix: env.Prefix})
	}}
}

// each runs the rows of a case as sub-tests, with tables of their own.
func each[Row any](d database, rows []Row, name func(Row) string, run func(database, Row)) {
	for i, row := range rows {
		d.Run(name(row), func(t *testing.T) {
			d := d
			d.T, d.prefix = t, fmt.Sprintf("%s%d-", d.prefix, i)
			run(d, row)
		})
	}
}

// done stops the case unless the call succeeded.
func done[Out any](d database, out Out, err error) Out {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
	return out
}

// indexed describes one index: its name, its two key attributes and what it
// projects.
type indexed struct {
	name, hash, sort string
	projection       types.ProjectionType
	include          []string
}

// create makes a table keyed by pk and, if sort is not empty, by it; an
// attribute is followed by its type, as in "sk:S".
func (d database) create(name, sort string, indexes ...indexed) *string {
	d.Helper()
	in := d.definition(name, sort, indexes...)
	_, err := d.client.CreateTable(d.ctx, in)
	done(d, in, err)
	d.awaitActive(in.TableName)
	return in.TableName
}

func (d database) awaitActive(table *string) {
	d.Helper()
	for {
		out, err := d.client.DescribeTable(d.ctx, &dynamodb.DescribeTableInput{TableName: table})
		if done(d, out, err).Table.TableStatus == types.TableStatusActive {
			return
		}
	}
}

func (d database) definition(name, sort string, indexes ...indexed) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{TableName: aws.String(d.prefix + name), BillingMode: types.BillingModePayPerRequest}
	in.KeySchema = keySchema(in, "pk:S", sort)
	for _, x := range indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{
			IndexName: aws.String(x.name), KeySchema: keySchema(in, x.hash, x.sort),
			Projection: &types.Projection{ProjectionType: x.projection, NonKeyAttributes: x.include},
		})
	}
	return in
}

func keySchema(in *dynamodb.CreateTableInput, hash, sort string) []types.KeySchemaElement {
	schema := []types.KeySchemaElement{}
	for i, part := range []string{hash, sort} {
		if part == "" {
			continue
		}
		name, kind, _ := strings.Cut(part, ":")
		if !slices.ContainsFunc(in.AttributeDefinitions, func(a types.AttributeDefinition) bool { return *a.AttributeName == name }) {
			in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{
				AttributeName: aws.String(name), AttributeType: types.ScalarAttributeType(kind),
			})
		}
		keyType := []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]
		schema = append(schema, types.KeySchemaElement{AttributeName: aws.String(name), KeyType: keyType})
	}
	return schema
}

func (d database) put(table *string, items ...doc) {
	d.Helper()
	for _, item := range items {
		out, err := d.client.PutItem(d.ctx, &dynamodb.PutItemInput{TableName: table, Item: values(item)})
		done(d, out, err)
	}
}

// get reads an item strongly; nil when it is not there.
func (d database) get(table *string, key doc) doc {
	d.Helper()
	out, err := d.client.GetItem(d.ctx, &dynamodb.GetItemInput{TableName: table, Key: values(key), ConsistentRead: aws.Bool(true)})
	return plain(done(d, out, err).Item)
}

func (d database) wantItem(table *string, key, want doc) {
	d.Helper()
	d.want("the item", d.get(table, key), want)
}

// want compares documents and lists of them.
func (d database) want(what string, got, want any) {
	d.Helper()
	if got, want := normal(got), normal(want); !reflect.DeepEqual(got, want) {
		d.Errorf("%s is\n%v\nwant\n%v", what, got, want)
	}
}

// refused checks the code that an SDK's user sees.
func (d database) refused(err error, code string) {
	d.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) {
		d.Errorf("error is %v, want code %s", err, code)
		return
	}
	if api.ErrorCode() != code {
		d.Errorf("code is %s (%s), want %s", api.ErrorCode(), api.ErrorMessage(), code)
	}
}

const (
	invalid         = "ValidationException"
	conditionFailed = "ConditionalCheckFailedException"
	notFound        = "ResourceNotFoundException"
	inUse           = "ResourceInUseException"
)
