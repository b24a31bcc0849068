package dynamo_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

func TestTheMeterHearsWhatTheWireCannotReport(t *testing.T) {
	var heard []dynamo.Consumption
	b := setup(t, kv.NewMemory(), dynamo.Options{Meter: func(c dynamo.Consumption) { heard = append(heard, c) }})
	b.createJobs("KEYS_ONLY")
	large := job("large", "1")
	large["x"] = s(string(make([]byte, 3000)))
	absent := types.TransactWriteItem{Delete: &types.Delete{TableName: jobs, Key: item{"pk": s("a"), "sk": s("absent")}, ConditionExpression: aws.String("attribute_exists(pk)")}}
	calls := []struct {
		name string
		call func() error
		want dynamo.Consumption
	}{
		{"a put", func() error { b.put(large); return nil }, dynamo.Consumption{Operation: "PutItem", Write: true, Units: 4, OnTable: 3}},
		{"a refused put over it", func() error {
			_, err := b.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: jobs, Item: job("large", "2"), ConditionExpression: aws.String("attribute_not_exists(pk)")})
			return err
		}, dynamo.Consumption{Operation: "PutItem", Write: true, Units: 3, OnTable: 3, Refused: true}},
		{"a refused update of nothing", func() error {
			_, err := b.client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: jobs, Key: item{"pk": s("a"), "sk": s("absent")}, ConditionExpression: aws.String("attribute_exists(pk)")})
			return err
		}, dynamo.Consumption{Operation: "UpdateItem", Write: true, Units: 1, OnTable: 1, Refused: true}},
		{"a cancelled transaction", func() error {
			_, err := b.client.TransactWriteItems(t.Context(), &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{absent}})
			return err
		}, dynamo.Consumption{Operation: "TransactWriteItems", Write: true, Units: 2, OnTable: 2, Refused: true}},
		{"a query", func() error { b.due(); return nil }, dynamo.Consumption{Operation: "Query", Units: 0.5}},
	}
	for _, row := range calls {
		heard = nil
		err := row.call()
		if (err != nil) != row.want.Refused || len(heard) != 1 {
			t.Errorf("%s ended with %v and was heard as %+v", row.name, err, heard)
			continue
		}
		got := heard[0]
		if got.Table != "jobs" || got.Operation != row.want.Operation || got.Write != row.want.Write || got.Units != row.want.Units || got.OnTable != row.want.OnTable || got.Refused != row.want.Refused {
			t.Errorf("%s was heard as %+v, want %+v", row.name, got, row.want)
		}
		if got.Units != got.OnTable+got.OnIndexes["due"] {
			t.Errorf("%s: %+v does not add up", row.name, got)
		}
	}
}
