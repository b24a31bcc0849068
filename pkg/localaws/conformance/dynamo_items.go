package conformance

import (
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func dynamoItemCases() []Case {
	return []Case{
		onDynamoDB("an item of every type comes back as it was put", everyType),
		onDynamoDB("a put replaces the whole item and returns the old one on request", func(d database) {
			table := d.create("items", "")
			d.put(table, doc{"pk": "a", "x": 1, "y": 2})
			out, err := d.client.PutItem(d.ctx, &dynamodb.PutItemInput{TableName: table, Item: values(doc{"pk": "a", "x": 3}), ReturnValues: "ALL_OLD"})
			d.want("the old item", plain(done(d, out, err).Attributes), doc{"pk": "a", "x": 1, "y": 2})
			d.wantItem(table, doc{"pk": "a"}, doc{"pk": "a", "x": 3})
		}),
		onDynamoDB("a get of what is not there returns no item", func(d database) {
			d.wantItem(d.create("items", "sk:N"), doc{"pk": "a", "sk": 1}, nil)
		}),
		onDynamoDB("items that differ in the sort key only are different items", func(d database) {
			table := d.create("items", "sk:B")
			d.put(table, doc{"pk": "a", "sk": []byte{0}, "x": 1}, doc{"pk": "a", "sk": []byte{0, 0}, "x": 2})
			d.wantItem(table, doc{"pk": "a", "sk": []byte{0}}, doc{"pk": "a", "sk": []byte{0}, "x": 1})
		}),
		onDynamoDB("equal numbers are equal keys however they are written", func(d database) {
			table := d.create("items", "sk:N")
			d.put(table, doc{"pk": "a", "sk": number("1.50")}, doc{"pk": "a", "sk": number("15e-1"), "x": 1})
			d.wantItem(table, doc{"pk": "a", "sk": number("1.5")}, doc{"pk": "a", "sk": number("1.5"), "x": 1})
		}),
		onDynamoDB("a delete removes the item, returns it on request, and may be repeated", func(d database) {
			table := d.create("items", "")
			d.put(table, doc{"pk": "a", "x": 1})
			for _, want := range []doc{{"pk": "a", "x": 1}, nil} {
				out, err := d.client.DeleteItem(d.ctx, &dynamodb.DeleteItemInput{TableName: table, Key: values(doc{"pk": "a"}), ReturnValues: "ALL_OLD"})
				d.want("the old item", plain(done(d, out, err).Attributes), want)
			}
			d.wantItem(table, doc{"pk": "a"}, nil)
		}),
		onDynamoDB("a failed condition changes nothing, and shows the item on request only", failedCondition),
		onDynamoDB("a failed condition on an absent item shows no item", func(d database) {
			table := d.create("items", "")
			_, err := d.client.UpdateItem(d.ctx, &dynamodb.UpdateItemInput{
				TableName: table, Key: values(doc{"pk": "a"}), UpdateExpression: aws.String("SET x = :x"), ConditionExpression: aws.String("attribute_exists(pk)"),
				ExpressionAttributeValues: values(doc{":x": 1}), ReturnValuesOnConditionCheckFailure: "ALL_OLD",
			})
			var failed *types.ConditionalCheckFailedException
			if !errors.As(err, &failed) || failed.Item != nil {
				d.Errorf("error is %v with %v, want a failed condition without an item", err, failed)
			}
			d.wantItem(table, doc{"pk": "a"}, nil)
		}),
		onDynamoDB("an update makes the item that is not there", func(d database) {
			table := d.create("items", "sk:S")
			d.update(table, doc{"pk": "a", "sk": "b"}, "SET x = :x", doc{":x": 1})
			d.wantItem(table, doc{"pk": "a", "sk": "b"}, doc{"pk": "a", "sk": "b", "x": 1})
		}),
		onDynamoDB("an update without an expression makes an item of its key", func(d database) {
			table := d.create("items", "")
			out, err := d.client.UpdateItem(d.ctx, &dynamodb.UpdateItemInput{TableName: table, Key: values(doc{"pk": "a"}), ReturnValues: "ALL_NEW"})
			d.want("the new item", plain(done(d, out, err).Attributes), doc{"pk": "a"})
		}),
		onDynamoDB("an update returns what was asked for", returnedValues),
	}
}

func everyType(d database) {
	table := d.create("items", "sk:N")
	item := doc{
		"pk": "grüße <&> 世界\n\"\\\u0001", "sk": number("-12345678901234567890.123456789012345678"),
		"empty": "", "bytes": []byte{0, 1, 0xff}, "no bytes": []byte{}, "yes": true, "no": false, "null": nil,
		"strings": stringSet{"a", "b"}, "numbers": numberSet{"-1", "2.5", "3"}, "binaries": binarySet{{0}, {1, 2}},
		"list": []any{"a", 1, []any{}, doc{}}, "map": doc{"a.b[0]": doc{"c": []any{nil}}},
	}
	d.put(table, item)
	d.wantItem(table, doc{"pk": item["pk"], "sk": item["sk"]}, item)
}

func failedCondition(d database) {
	table := d.create("items", "")
	d.put(table, doc{"pk": "a", "x": 1})
	condition, names := aws.String("#x = :x"), map[string]string{"#x": "x"}
	calls := map[string]func(show types.ReturnValuesOnConditionCheckFailure) error{
		"put": func(show types.ReturnValuesOnConditionCheckFailure) error {
			_, err := d.client.PutItem(d.ctx, &dynamodb.PutItemInput{TableName: table, Item: values(doc{"pk": "a", "x": 3}), ConditionExpression: condition,
				ExpressionAttributeNames: names, ExpressionAttributeValues: values(doc{":x": 2}), ReturnValuesOnConditionCheckFailure: show})
			return err
		},
		"update": func(show types.ReturnValuesOnConditionCheckFailure) error {
			_, err := d.client.UpdateItem(d.ctx, &dynamodb.UpdateItemInput{TableName: table, Key: values(doc{"pk": "a"}), ConditionExpression: condition,
				UpdateExpression: aws.String("REMOVE #x"), ExpressionAttributeNames: names, ExpressionAttributeValues: values(doc{":x": 2}),
				ReturnValuesOnConditionCheckFailure: show})
			return err
		},
		"delete": func(show types.ReturnValuesOnConditionCheckFailure) error {
			_, err := d.client.DeleteItem(d.ctx, &dynamodb.DeleteItemInput{TableName: table, Key: values(doc{"pk": "a"}), ConditionExpression: condition,
				ExpressionAttributeNames: names, ExpressionAttributeValues: values(doc{":x": 2}), ReturnValuesOnConditionCheckFailure: show})
			return err
		},
	}
	for name, call := range calls {
		for show, want := range map[types.ReturnValuesOnConditionCheckFailure]doc{"": nil, "NONE": nil, "ALL_OLD": {"pk": "a", "x": 1}} {
			err := call(show)
			var failed *types.ConditionalCheckFailedException
			if !errors.As(err, &failed) {
				d.Errorf("%s: error is %v, want a failed condition", name, err)
				continue
			}
			d.want(name+" with "+string(show)+": the item shown", plain(failed.Item), want)
		}
	}
	d.wantItem(table, doc{"pk": "a"}, doc{"pk": "a", "x": 1})
}

func returnedValues(d database) {
	table := d.create("items", "")
	for wanted, want := range map[types.ReturnValue]doc{
		"NONE":        nil,
		"ALL_OLD":     {"pk": "a", "x": 1, "m": doc{"a": 1, "b": 2}, "l": []any{1, 2, 3}, "z": 9},
		"ALL_NEW":     {"pk": "a", "x": 2, "m": doc{"a": 5, "b": 2}, "l": []any{1, 7, 3}, "y": 3},
		"UPDATED_OLD": {"x": 1, "m": doc{"a": 1}, "l": []any{2}, "z": 9},
		"UPDATED_NEW": {"x": 2, "m": doc{"a": 5}, "l": []any{7}, "y": 3},
	} {
		d.put(table, doc{"pk": "a", "x": 1, "m": doc{"a": 1, "b": 2}, "l": []any{1, 2, 3}, "z": 9})
		out, err := d.client.UpdateItem(d.ctx, &dynamodb.UpdateItemInput{
			TableName: table, Key: values(doc{"pk": "a"}), ReturnValues: wanted,
			UpdateExpression:          aws.String("SET x = x + :one, m.a = :five, l[1] = :seven, y = :three REMOVE z"),
			ExpressionAttributeValues: values(doc{":one": 1, ":five": 5, ":seven": 7, ":three": 3}),
		})
		d.want(string(wanted), plain(done(d, out, err).Attributes), want)
	}
}

// update runs an update expression that must succeed.
func (d database) update(table *string, key doc, expression string, with doc) {
	d.Helper()
	out, err := d.tryUpdate(table, key, expression, nil, with)
	done(d, out, err)
}

func (d database) tryUpdate(table *string, key doc, expression string, names map[string]string, with doc) (*dynamodb.UpdateItemOutput, error) {
	return d.client.UpdateItem(d.ctx, &dynamodb.UpdateItemInput{
		TableName: table, Key: values(key), UpdateExpression: &expression, ExpressionAttributeNames: names, ExpressionAttributeValues: values(with),
	})
}
