package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func dynamoBatchCases() []Case {
	return []Case{
		onDynamoDB("a batch reads items of several tables, each with its projection", func(d database) {
			one, two := d.create("one", ""), d.create("two", "sk:N")
			d.put(one, doc{"pk": "a", "x": 1, "y": 2}, doc{"pk": "b", "x": 3})
			d.put(two, doc{"pk": "a", "sk": 1, "size": 5})
			out, err := d.client.BatchGetItem(d.ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
				*one: {Keys: keys(doc{"pk": "a"}, doc{"pk": "absent"}), ProjectionExpression: aws.String("x")},
				*two: {Keys: keys(doc{"pk": "a", "sk": 1}), ProjectionExpression: aws.String("#size"), ExpressionAttributeNames: usedNames("#size"), ConsistentRead: aws.Bool(true)},
			}})
			done(d, out, err)
			d.want("table one", plainAll(out.Responses[*one]), []doc{{"x": 1}})
			d.want("table two", plainAll(out.Responses[*two]), []doc{{"size": 5}})
			if len(out.UnprocessedKeys) != 0 {
				d.Errorf("unprocessed keys: %v", out.UnprocessedKeys)
			}
		}),
		onDynamoDB("a batch of reads stops at 16 MB and says what is left", largeBatch),
		onDynamoDB("a batch puts and deletes", func(d database) {
			table := d.create("batches", "")
			d.put(table, doc{"pk": "a"}, doc{"pk": "b", "x": 1})
			out, err := d.writeBatch(table, putRequest(doc{"pk": "b", "x": 2}), deleteRequest(doc{"pk": "a"}), putRequest(doc{"pk": "c"}))
			if len(done(d, out, err).UnprocessedItems) != 0 {
				d.Errorf("unprocessed items: %v", out.UnprocessedItems)
			}
			d.wantItem(table, doc{"pk": "a"}, nil)
			d.wantItem(table, doc{"pk": "b"}, doc{"pk": "b", "x": 2})
			d.wantItem(table, doc{"pk": "c"}, doc{"pk": "c"})
		}),
		onDynamoDB("a batch of writes with one item twice is refused", func(d database) {
			table := d.create("batches", "")
			_, err := d.writeBatch(table, putRequest(doc{"pk": "a"}), deleteRequest(doc{"pk": "a"}))
			d.refused(err, invalid)
		}),
		onDynamoDB("a batch of 26 writes is refused", func(d database) {
			requests := []types.WriteRequest{}
			for i := range 26 {
				requests = append(requests, putRequest(doc{"pk": fmt.Sprint(i)}))
			}
			_, err := d.writeBatch(d.create("batches", ""), requests...)
			d.refused(err, invalid)
		}),
		onDynamoDB("a batch of writes with an item without its key is refused whole", func(d database) {
			table := d.create("batches", "")
			_, err := d.writeBatch(table, putRequest(doc{"pk": "a"}), putRequest(doc{"x": 1}))
			d.refused(err, invalid)
			d.wantItem(table, doc{"pk": "a"}, nil)
		}),
		onDynamoDB("a batch of 101 keys, or with one key twice, is refused", func(d database) {
			table := d.create("batches", "")
			many := []doc{}
			for i := range 101 {
				many = append(many, doc{"pk": fmt.Sprint(i)})
			}
			for _, wanted := range [][]doc{many, {{"pk": "a"}, {"pk": "a"}}} {
				_, err := d.client.BatchGetItem(d.ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{*table: {Keys: keys(wanted...)}}})
				d.refused(err, invalid)
			}
		}),
	}
}

func keys(docs ...doc) []map[string]types.AttributeValue {
	out := make([]map[string]types.AttributeValue, len(docs))
	for i, d := range docs {
		out[i] = values(d)
	}
	return out
}

func putRequest(item doc) types.WriteRequest {
	return types.WriteRequest{PutRequest: &types.PutRequest{Item: values(item)}}
}

func deleteRequest(key doc) types.WriteRequest {
	return types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: values(key)}}
}

func (d database) writeBatch(table *string, requests ...types.WriteRequest) (*dynamodb.BatchWriteItemOutput, error) {
	return d.client.BatchWriteItem(d.ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{*table: requests}})
}

func largeBatch(d database) {
	table := d.create("batches", "")
	all := []doc{}
	for i := range 45 {
		d.put(table, doc{"pk": fmt.Sprint(i), "x": strings.Repeat("x", 390<<10)})
		all = append(all, doc{"pk": fmt.Sprint(i)})
	}
	wanted := map[string]types.KeysAndAttributes{*table: {Keys: keys(all...), ProjectionExpression: aws.String("#pk"), ExpressionAttributeNames: usedNames("#pk")}}
	found := []doc{}
	rounds := 0
	for ; len(wanted) > 0 && rounds < 10; rounds++ {
		out, err := d.client.BatchGetItem(d.ctx, &dynamodb.BatchGetItemInput{RequestItems: wanted})
		found = append(found, plainAll(done(d, out, err).Responses[*table])...)
		wanted = out.UnprocessedKeys
	}
	if rounds != 2 || len(found) != len(all) {
		d.Errorf("found %d items in %d rounds, want %d in 2", len(found), rounds, len(all))
	}
	for _, key := range all {
		if !slices.ContainsFunc(found, func(f doc) bool { return f["pk"] == key["pk"] }) {
			d.Errorf("%v was not found", key)
		}
	}
}
