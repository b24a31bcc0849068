package dynamo_test

import (
	"context"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

const (
	createBody = `{"TableName":"jobs","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},
		{"AttributeName":"sk","AttributeType":"S"},{"AttributeName":"due_shard","AttributeType":"S"},{"AttributeName":"at","AttributeType":"N"}],
		"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"},{"AttributeName":"sk","KeyType":"RANGE"}],
		"GlobalSecondaryIndexes":[{"IndexName":"due","KeySchema":[{"AttributeName":"due_shard","KeyType":"HASH"},{"AttributeName":"at","KeyType":"RANGE"}],
		"Projection":{"ProjectionType":"KEYS_ONLY"}}]}`
	putBody = `{"TableName":"jobs","Item":{"pk":{"S":"tenant/nightly-report"},"sk":{"S":"20260712T013000Z#s"},"status":{"S":"SCHEDULED"},
		"epoch":{"N":"3"},"attempt":{"N":"0"},"available_at":{"N":"1783819800000"},"token":{"N":"0"},"revision":{"N":"7"},
		"digest":{"S":"b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c"},
		"timeline":{"L":[{"M":{"at":{"N":"1783819800000"},"to":{"S":"SCHEDULED"},"by":{"S":"scan"}}}]}},
		"ConditionExpression":"attribute_not_exists(pk) OR (attempt = :zero AND epoch < :mine AND #s IN (:a, :b))",
		"ExpressionAttributeNames":{"#s":"status"},
		"ExpressionAttributeValues":{":zero":{"N":"0"},":mine":{"N":"9"},":a":{"S":"SCHEDULED"},":b":{"S":"WITHDRAWN"}},
		"ReturnConsumedCapacity":"INDEXES","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`
	updateBody = `{"TableName":"jobs","Key":{"pk":{"S":"tenant/nightly-report"},"sk":{"S":"20260712T013000Z#s"}},
		"UpdateExpression":"SET #s = :running, #o = :owner, nonce = :nonce, lease_until = :until, attempt = attempt + :one, timeline = list_append(timeline, :entry) ADD fence :one REMOVE due_shard",
		"ConditionExpression":"attribute_exists(pk) AND #s IN (:a, :running) AND available_at <= :now AND attribute_not_exists(cancel)",
		"ExpressionAttributeNames":{"#s":"status","#o":"owner"},
		"ExpressionAttributeValues":{":running":{"S":"SCHEDULED"},":a":{"S":"RETRY_WAIT"},":owner":{"S":"worker-17"},":nonce":{"S":"01J2Z3"},
		":until":{"N":"1783819830000"},":one":{"N":"1"},":now":{"N":"1783819900000"},":entry":{"L":[]}},
		"ReturnConsumedCapacity":"INDEXES","ReturnValues":"ALL_NEW"}`
)

func benchService(b *testing.B) *dynamo.Service {
	b.Helper()
	service := dynamo.New(kv.NewMemory(), dynamo.Options{})
	done(b, b, serve(service, "CreateTable", createBody))
	done(b, b, serve(service, "PutItem", putBody))
	return service
}

func serve(service *dynamo.Service, operation, body string) error {
	_, err := service.ServeOperation(context.Background(), operation, []byte(body))
	return err
}

// The handler's share of a call; the SDK's own is about 45 µs.
func BenchmarkHandler(b *testing.B) {
	for name, call := range map[string]struct{ operation, body string }{
		"put of an execution":    {"PutItem", putBody},
		"update of an execution": {"UpdateItem", updateBody},
		"get of an execution":    {"GetItem", `{"TableName":"jobs","Key":{"pk":{"S":"tenant/nightly-report"},"sk":{"S":"20260712T013000Z#s"}}}`},
	} {
		b.Run(name, func(b *testing.B) {
			service := benchService(b)
			b.ReportAllocs()
			for b.Loop() {
				if err := serve(service, call.operation, call.body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
