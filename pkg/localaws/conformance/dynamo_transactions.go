package conformance

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func dynamoTransactionCases() []Case {
	return []Case{
		onDynamoDB("a transaction does all its writes, on several tables", func(d database) {
			one, two := d.create("one", ""), d.create("two", "sk:N")
			d.put(one, doc{"pk": "a", "x": 1}, doc{"pk": "b"}, doc{"pk": "c"})
			done(d, one, d.transact("",
				types.TransactWriteItem{Put: &types.Put{TableName: two, Item: values(doc{"pk": "n", "sk": 1})}},
				types.TransactWriteItem{Update: &types.Update{TableName: one, Key: values(doc{"pk": "a"}), UpdateExpression: aws.String("SET x = x + :v"), ExpressionAttributeValues: values(doc{":v": 1})}},
				types.TransactWriteItem{Delete: &types.Delete{TableName: one, Key: values(doc{"pk": "b"}), ConditionExpression: aws.String("attribute_exists(pk)")}},
				types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: one, Key: values(doc{"pk": "c"}), ConditionExpression: aws.String("attribute_exists(pk)")}},
			))
			d.wantItem(two, doc{"pk": "n", "sk": 1}, doc{"pk": "n", "sk": 1})
			d.wantItem(one, doc{"pk": "a"}, doc{"pk": "a", "x": 2})
			d.wantItem(one, doc{"pk": "b"}, nil)
			d.wantItem(one, doc{"pk": "c"}, doc{"pk": "c"})
		}),
		onDynamoDB("a transaction with a failed condition does nothing and says which", cancelledTransaction),
		onDynamoDB("a transaction with a value that does not fit is cancelled and says why", unfitTransaction),
		onDynamoDB("a transaction with one item twice is refused", func(d database) {
			table := d.create("transactions", "")
			err := d.transact("", putIfAbsent(table, "a"), putIfAbsent(table, "a"))
			d.refused(err, invalid)
			d.wantItem(table, doc{"pk": "a"}, nil)
		}),
		onDynamoDB("a transaction of 100 writes is done, one of 101 is refused", func(d database) {
			table := d.create("transactions", "")
			writes := []types.TransactWriteItem{}
			for i := range 101 {
				writes = append(writes, putIfAbsent(table, fmt.Sprint(i)))
			}
			d.refused(d.transact("", writes...), invalid)
			done(d, table, d.transact("", writes[:100]...))
		}),
		onDynamoDB("a repeated client token repeats the answer, not the writes", clientToken),
		onDynamoDB("a transaction reads several items, present and absent, in order", func(d database) {
			table := d.create("transactions", "")
			d.put(table, doc{"pk": "a", "x": 1, "y": 1}, doc{"pk": "b", "x": 2})
			out, err := d.client.TransactGetItems(d.ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
				{Get: &types.Get{TableName: table, Key: values(doc{"pk": "b"})}},
				{Get: &types.Get{TableName: table, Key: values(doc{"pk": "absent"})}},
				{Get: &types.Get{TableName: table, Key: values(doc{"pk": "a"}), ProjectionExpression: aws.String("y")}},
			}})
			got := []doc{}
			for _, response := range done(d, out, err).Responses {
				got = append(got, plain(response.Item))
			}
			d.want("the items", got, []doc{{"pk": "b", "x": 2}, nil, {"y": 1}})
		}),
	}
}

// transact sends writes; an empty token leaves it to the SDK.
func (d database) transact(token string, writes ...types.TransactWriteItem) error {
	in := &dynamodb.TransactWriteItemsInput{TransactItems: writes}
	if token != "" {
		in.ClientRequestToken = &token
	}
	_, err := d.client.TransactWriteItems(d.ctx, in)
	return err
}

func putIfAbsent(table *string, pk string) types.TransactWriteItem {
	return types.TransactWriteItem{Put: &types.Put{TableName: table, Item: values(doc{"pk": pk}), ConditionExpression: aws.String("attribute_not_exists(pk)")}}
}

func cancelledTransaction(d database) {
	table := d.create("transactions", "")
	d.put(table, doc{"pk": "a", "x": 1}, doc{"pk": "b", "x": 2})
	shown := putIfAbsent(table, "a")
	shown.Put.ReturnValuesOnConditionCheckFailure = "ALL_OLD"
	err := d.transact("", shown, putIfAbsent(table, "c"), putIfAbsent(table, "b"),
		types.TransactWriteItem{Delete: &types.Delete{TableName: table, Key: values(doc{"pk": "absent"}), ConditionExpression: aws.String("attribute_exists(pk)"),
			ReturnValuesOnConditionCheckFailure: "ALL_OLD"}})
	d.wantReasons(err, "ConditionalCheckFailed", "None", "ConditionalCheckFailed", "ConditionalCheckFailed")
	var cancelled *types.TransactionCanceledException
	if errors.As(err, &cancelled) && len(cancelled.CancellationReasons) == 4 {
		for i, want := range []doc{{"pk": "a", "x": 1}, nil, nil, nil} {
			d.want(fmt.Sprintf("the item of reason %d", i), plain(cancelled.CancellationReasons[i].Item), want)
		}
	}
	d.wantItem(table, doc{"pk": "c"}, nil)
	d.wantItem(table, doc{"pk": "a"}, doc{"pk": "a", "x": 1})
}

func unfitTransaction(d database) {
	table := d.create("transactions", "")
	d.put(table, doc{"pk": "a", "x": "text"})
	err := d.transact("", putIfAbsent(table, "c"), types.TransactWriteItem{Update: &types.Update{
		TableName: table, Key: values(doc{"pk": "a"}), UpdateExpression: aws.String("ADD x :v"), ExpressionAttributeValues: values(doc{":v": 1}),
	}})
	d.wantReasons(err, "None", "ValidationError")
	d.wantItem(table, doc{"pk": "c"}, nil)
}

func (d database) wantReasons(err error, codes ...string) {
	d.Helper()
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		d.Errorf("error is %v, want a cancelled transaction", err)
		return
	}
	got := []string{}
	for _, reason := range cancelled.CancellationReasons {
		got = append(got, aws.ToString(reason.Code))
	}
	if !slices.Equal(got, codes) {
		d.Errorf("reasons are %v, want %v", got, codes)
	}
}

func clientToken(d database) {
	table := d.create("transactions", "")
	count := func(by int) types.TransactWriteItem {
		return types.TransactWriteItem{Update: &types.Update{TableName: table, Key: values(doc{"pk": "a"}), UpdateExpression: aws.String("ADD x :v, y :w, z :w"),
			ExpressionAttributeValues: values(doc{":v": by, ":w": 1})}}
	}
	token := d.prefix + "token"
	for range 5 {
		done(d, table, d.transact(token, count(1)))
	}
	d.wantItem(table, doc{"pk": "a"}, doc{"pk": "a", "x": 1, "y": 1, "z": 1})
	d.refused(d.transact(token, count(2)), "IdempotentParameterMismatchException")
	done(d, table, d.transact(token+"2", count(2)))
	d.wantItem(table, doc{"pk": "a"}, doc{"pk": "a", "x": 3, "y": 2, "z": 2})
}
