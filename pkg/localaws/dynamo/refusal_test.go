package dynamo_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/smithy-go"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
	"github.com/belfry-scheduler/belfry/pkg/localaws/wire"
)

// refused checks the code of an SDK error.
func refused(t *testing.T, err error, code string) {
	t.Helper()
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != code {
		t.Errorf("error is %v, want code %s", err, code)
	}
}

func hasCode(err error, code string) bool {
	var api smithy.APIError
	return errors.As(err, &api) && api.ErrorCode() == code
}

func isConditionFailure(err error) bool { return hasCode(err, "ConditionalCheckFailedException") }

func isCancelled(err error) bool { return hasCode(err, "TransactionCanceledException") }

// fault serves one body and returns what is refused about it.
func fault(t *testing.T, service wire.Service, operation, body string) *wire.Fault {
	t.Helper()
	_, err := service.ServeOperation(t.Context(), operation, []byte(body))
	var refusal *wire.Fault
	if err != nil && !errors.As(err, &refusal) {
		t.Fatalf("%s ended with %v", operation, err)
	}
	return refusal
}

// Every member that the SDK can send is either implemented or refused by name.
func TestNoMemberIsIgnored(t *testing.T) {
	service := dynamo.New(kv.NewMemory(), dynamo.Options{})
	for operation, row := range map[string]struct {
		input   any
		refused string // the members, in the SDK's order
	}{
		"CreateTable":        {dynamodb.CreateTableInput{}, "GlobalTableSettingsReplicationMode GlobalTableSourceArn LocalSecondaryIndexes ResourcePolicy VectorIndexes"},
		"DescribeTable":      {dynamodb.DescribeTableInput{}, ""},
		"DeleteTable":        {dynamodb.DeleteTableInput{}, ""},
		"ListTables":         {dynamodb.ListTablesInput{}, ""},
		"UpdateTimeToLive":   {dynamodb.UpdateTimeToLiveInput{}, ""},
		"DescribeTimeToLive": {dynamodb.DescribeTimeToLiveInput{}, ""},
		"PutItem":            {dynamodb.PutItemInput{}, "ConditionalOperator Expected"},
		"UpdateItem":         {dynamodb.UpdateItemInput{}, "AttributeUpdates ConditionalOperator Expected"},
		"DeleteItem":         {dynamodb.DeleteItemInput{}, "ConditionalOperator Expected"},
		"GetItem":            {dynamodb.GetItemInput{}, "AttributesToGet"},
		"Query":              {dynamodb.QueryInput{}, "AttributesToGet ConditionalOperator KeyConditions QueryFilter"},
		"Scan":               {dynamodb.ScanInput{}, "AttributesToGet ConditionalOperator ScanFilter"},
		"BatchGetItem":       {dynamodb.BatchGetItemInput{}, ""},
		"BatchWriteItem":     {dynamodb.BatchWriteItemInput{}, ""},
		"TransactWriteItems": {dynamodb.TransactWriteItemsInput{}, ""},
		"TransactGetItems":   {dynamodb.TransactGetItemsInput{}, ""},
	} {
		t.Run(operation, func(t *testing.T) { checkMembers(t, service, operation, `{"%s":[]}`, row.input, row.refused) })
	}
	streams := service.Streams()
	for operation, row := range map[string]struct {
		input   any
		refused string
	}{
		"ListStreams":      {dynamodbstreams.ListStreamsInput{}, ""},
		"DescribeStream":   {dynamodbstreams.DescribeStreamInput{}, ""},
		"GetShardIterator": {dynamodbstreams.GetShardIteratorInput{}, "Timestamp"},
		"GetRecords":       {dynamodbstreams.GetRecordsInput{}, ""},
	} {
		t.Run(operation, func(t *testing.T) { checkMembers(t, streams, operation, `{"%s":[]}`, row.input, row.refused) })
	}
}

// The same holds for the parts of transactions and batches.
func TestNoMemberOfAPartIsIgnored(t *testing.T) {
	service := dynamo.New(kv.NewMemory(), dynamo.Options{})
	for name, row := range map[string]struct {
		operation, body string
		input           any
		refused         string
	}{
		"a put within a transaction":    {"TransactWriteItems", `{"TransactItems":[{"Put":{"%s":[]}}]}`, types.Put{}, ""},
		"an update within one":          {"TransactWriteItems", `{"TransactItems":[{"Update":{"%s":[]}}]}`, types.Update{}, ""},
		"a delete within one":           {"TransactWriteItems", `{"TransactItems":[{"Delete":{"%s":[]}}]}`, types.Delete{}, ""},
		"a check within one":            {"TransactWriteItems", `{"TransactItems":[{"ConditionCheck":{"%s":[]}}]}`, types.ConditionCheck{}, ""},
		"a get within one":              {"TransactGetItems", `{"TransactItems":[{"Get":{"%s":[]}}]}`, types.Get{}, ""},
		"the keys of a batch of reads":  {"BatchGetItem", `{"RequestItems":{"jobs":{"%s":[]}}}`, types.KeysAndAttributes{}, "AttributesToGet"},
		"a put of a batch of writes":    {"BatchWriteItem", `{"RequestItems":{"jobs":[{"PutRequest":{"%s":[]}}]}}`, types.PutRequest{}, ""},
		"a delete of a batch of writes": {"BatchWriteItem", `{"RequestItems":{"jobs":[{"DeleteRequest":{"%s":[]}}]}}`, types.DeleteRequest{}, ""},
	} {
		t.Run(name, func(t *testing.T) { checkMembers(t, service, row.operation, row.body, row.input, row.refused) })
	}
}

func checkMembers(t *testing.T, service wire.Service, operation, body string, input any, want string) {
	t.Helper()
	var got []string
	for _, field := range reflect.VisibleFields(reflect.TypeOf(input)) {
		if !field.IsExported() {
			continue
		}
		refusal := fault(t, service, operation, strings.Replace(body, "%s", field.Name, 1))
		if refusal == nil || refusal.Code != "NotImplementedException" {
			continue
		}
		if !strings.Contains(refusal.Message, field.Name) || !strings.Contains(refusal.Message, operation) && !strings.Contains(body, "Items") {
			t.Errorf("%s is refused without its name: %s", field.Name, refusal.Message)
		}
		got = append(got, field.Name)
	}
	if strings.Join(got, " ") != want {
		t.Errorf("%s refuses %q, want %q", operation, strings.Join(got, " "), want)
	}
	if refusal := fault(t, service, operation, strings.Replace(body, "%s", "Invented", 1)); refusal == nil || !strings.Contains(refusal.Message, "Invented") {
		t.Errorf("%s answers an invented member with %v", operation, refusal)
	}
}

func TestOperationsThatAreNotImplementedAreRefusedByName(t *testing.T) {
	service := dynamo.New(kv.NewMemory(), dynamo.Options{})
	for _, operation := range []string{"ExecuteStatement", "UpdateTable", "CreateBackup", "Invented"} {
		for _, refusal := range []*wire.Fault{fault(t, service, operation, "{}"), fault(t, service.Streams(), operation, "{}")} {
			if refusal == nil || refusal.Code != "NotImplementedException" || !strings.Contains(refusal.Message, operation) {
				t.Errorf("%s is answered with %v", operation, refusal)
			}
		}
	}
}

func TestBodiesThatAreNotJSONAreRefused(t *testing.T) {
	service := dynamo.New(kv.NewMemory(), dynamo.Options{})
	for _, body := range []string{"", "null", "[]", "{", `{"TableName"}`, `{"TableName":}`, `{"TableName":1}`, `{"TableName":"a"} x`, `{"TableName":"\ud8"}`,
		"{\"TableName\":\"\xff\"}", "{\"TableName\":\"\n\"}", strings.Repeat(`{"Item":`, 1000), `{"Item":{"a":{"L":` + strings.Repeat(`[{"L":`, 500)} {
		for _, operation := range []string{"PutItem", "CreateTable", "BatchGetItem", "TransactWriteItems"} {
			refusal := fault(t, service, operation, body)
			if refusal == nil || refusal.Status != 400 {
				t.Errorf("%s answers %.40q with %v", operation, body, refusal)
			}
		}
	}
}
