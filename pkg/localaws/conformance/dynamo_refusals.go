package conformance

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// valueRow is an item that may not be stored.
type valueRow struct {
	name string
	item doc
}

func refusedPut(what string, rows ...valueRow) Case {
	return onDynamoDB("a put is refused for "+what, func(d database) {
		each(d, rows, func(row valueRow) string { return row.name }, func(d database, row valueRow) {
			table := d.create("values", "sk:N")
			_, err := d.client.PutItem(d.ctx, &dynamodb.PutItemInput{TableName: table, Item: values(row.item)})
			d.refused(err, invalid)
			out, err := d.client.Scan(d.ctx, &dynamodb.ScanInput{TableName: table})
			d.want("what the table holds", plainAll(done(d, out, err).Items), []doc{})
		})
	})
}

func dynamoValueCases() []Case {
	with := func(x any) doc { return doc{"pk": "a", "sk": 1, "x": x} }
	cases := []Case{
		refusedPut("a key that is missing, empty, too long or of another type",
			valueRow{"no partition key", doc{"sk": 1}},
			valueRow{"no sort key", doc{"pk": "a"}},
			valueRow{"a partition key of another type", doc{"pk": 1, "sk": 1}},
			valueRow{"a sort key of another type", doc{"pk": "a", "sk": "1"}},
			valueRow{"an empty partition key", doc{"pk": "", "sk": 1}},
			valueRow{"a partition key of 2049 bytes", doc{"pk": strings.Repeat("k", 2049), "sk": 1}},
		),
		refusedPut("an empty set", valueRow{"strings", with(stringSet{})}),
		refusedPut("a set with a member twice",
			valueRow{"strings", with(stringSet{"a", "b", "a"})},
			valueRow{"numbers, written differently", with(numberSet{"1", "1.0"})},
			valueRow{"binaries", with(binarySet{{1}, {1}})},
		),
		refusedPut("a number that is none",
			valueRow{"a word", with(number("one"))},
			valueRow{"not finite", with(number("NaN"))},
			valueRow{"nothing", with(number(""))},
		),
		refusedPut("a number too small", valueRow{"1e-131", with(number("1e-131"))}),
		refusedPut("a number too long or too large",
			valueRow{"39 digits", with(number("123456789012345678901234567890123456789"))},
			valueRow{"1e126", with(number("1e126"))},
			valueRow{"-1e126 deep within", with([]any{doc{"y": number("-1e126")}})},
		),
		refusedPut("a null that is false", valueRow{"false", with(&types.AttributeValueMemberNULL{Value: false})}),
		refusedPut("levels too deep", valueRow{"forty", with(nested(40))}),
		refusedPut("an item of more than 400 KB", valueRow{"a byte more", with(strings.Repeat("x", 400<<10-7))}),
	}
	return append(cases,
		onDynamoDB("a sort key of 1025 bytes is refused", func(d database) {
			table := d.create("values", "sk:S")
			_, err := d.client.PutItem(d.ctx, &dynamodb.PutItemInput{TableName: table, Item: values(doc{"pk": "a", "sk": strings.Repeat("k", 1025)})})
			d.refused(err, invalid)
		}),
		onDynamoDB("the largest of everything is stored", func(d database) {
			table := d.create("values", "sk:S")
			key := doc{"pk": strings.Repeat("k", 2048), "sk": strings.Repeat("s", 1024)}
			item := doc{"max": number("9.9999999999999999999999999999999999999E+125"), "min": number("-1E-130"), "deep": nested(30)}
			for name, v := range key {
				item[name] = v
			}
			d.put(table, item)
			d.wantItem(table, key, item)
			d.put(table, doc{"pk": "a", "sk": "b", "x": strings.Repeat("x", 400<<10-7)})
		}),
		onDynamoDB("an update that makes the item larger than 400 KB is refused", func(d database) {
			table := d.create("values", "")
			d.put(table, doc{"pk": "a", "x": strings.Repeat("x", 300<<10)})
			_, err := d.tryUpdate(table, doc{"pk": "a"}, "SET y = :v", nil, doc{":v": strings.Repeat("x", 100<<10)})
			d.refused(err, invalid)
		}),
	)
}

// nested is a value of so many levels.
func nested(levels int) any {
	v := any("bottom")
	for range levels - 1 {
		v = []any{v}
	}
	return v
}

func dynamoRefusalCases() []Case {
	return []Case{
		refusedKey("without the sort key", doc{"pk": "a"}),
		refusedKey("with an attribute too many", doc{"pk": "a", "sk": 1, "x": 1}),
		refusedKey("of another type", doc{"pk": "a", "sk": "1"}),
		refusedKey("with an empty string", doc{"pk": "", "sk": 1}),
		onDynamoDB("calls on a table that is not there are refused", absentTable),
		onDynamoDB("a put returns old values or none", func(d database) {
			table := d.create("refusals", "")
			_, err := d.client.PutItem(d.ctx, &dynamodb.PutItemInput{TableName: table, Item: values(doc{"pk": "a"}), ReturnValues: "ALL_NEW"})
			d.refused(err, invalid)
		}),
		onDynamoDB("placeholders without an expression are refused", func(d database) {
			table := d.create("refusals", "")
			_, err := d.client.PutItem(d.ctx, &dynamodb.PutItemInput{TableName: table, Item: values(doc{"pk": "a"}), ExpressionAttributeNames: map[string]string{"#a": "a"}})
			d.refused(err, invalid)
			_, err = d.client.PutItem(d.ctx, &dynamodb.PutItemInput{TableName: table, Item: values(doc{"pk": "a"}), ExpressionAttributeValues: values(doc{":a": 1})})
			d.refused(err, invalid)
		}),
	}
}

func refusedKey(what string, key doc) Case {
	return onDynamoDB("a get is refused for a key "+what, func(d database) {
		_, err := d.client.GetItem(d.ctx, &dynamodb.GetItemInput{TableName: d.create("keys", "sk:N"), Key: values(key)})
		d.refused(err, invalid)
	})
}

func absentTable(d database) {
	table, key := aws.String(d.prefix+"absent"), values(doc{"pk": "a"})
	calls := map[string]func() error{
		"PutItem": func() error {
			_, err := d.client.PutItem(d.ctx, &dynamodb.PutItemInput{TableName: table, Item: key})
			return err
		},
		"GetItem": func() error {
			_, err := d.client.GetItem(d.ctx, &dynamodb.GetItemInput{TableName: table, Key: key})
			return err
		},
		"Query": func() error {
			_, err := d.client.Query(d.ctx, &dynamodb.QueryInput{TableName: table, KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: values(doc{":p": "a"})})
			return err
		},
		"DescribeTable": func() error {
			_, err := d.client.DescribeTable(d.ctx, &dynamodb.DescribeTableInput{TableName: table})
			return err
		},
		"DeleteTable": func() error {
			_, err := d.client.DeleteTable(d.ctx, &dynamodb.DeleteTableInput{TableName: table})
			return err
		},
		"TransactWriteItems": func() error {
			_, err := d.client.TransactWriteItems(d.ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
				{Put: &types.Put{TableName: table, Item: key}},
			}})
			return err
		},
	}
	for name, call := range calls {
		if err := call(); err == nil {
			d.Errorf("%s went through", name)
		} else {
			d.refused(err, notFound)
		}
	}
}
