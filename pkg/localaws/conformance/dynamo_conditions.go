package conformance

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// conditioned is what the condition cases look at.
var conditioned = doc{
	"pk": "a", "s": "hello", "n": number("10"), "frac": number("0.1"), "b": []byte("bytes"), "t": true, "nul": nil, "e": "",
	"ss": stringSet{"x", "y"}, "ns": numberSet{"1", "2"}, "l": []any{"x", 1, doc{"deep": []any{7}}}, "m": doc{"k": "v", "size": 3}, "dot.ted": 1,
}

// conditionRow is a condition and whether it holds for conditioned.
type conditionRow struct {
	condition string
	with      doc
	holds     bool
}

func dynamoConditionCases() []Case {
	rows := append(comparisons(), functions()...)
	cases := make([]Case, len(rows))
	for i, row := range rows {
		cases[i] = row.asCase()
	}
	return cases
}

func comparisons() []conditionRow {
	return []conditionRow{
		{"s = :v", doc{":v": "hello"}, true},
		{"s <> :v", doc{":v": "hello"}, false},
		{"s <> :v", doc{":v": 1}, true},
		{"absent = :v", doc{":v": "hello"}, false},
		{"absent <> :v", doc{":v": "hello"}, true},
		{"NOT absent = :v", doc{":v": "hello"}, true},
		{"n = :v", doc{":v": number("1e1")}, true},
		{"n < :v", doc{":v": 9}, false},
		{"n < :v", doc{":v": "9"}, false},
		{"n <= :v", doc{":v": 10}, true},
		{"n > :v", doc{":v": number("9.99999999999999999999999999999999999")}, true},
		{"frac = :v", doc{":v": number("0.10000000000000000001")}, false},
		{"n >= :v", doc{":v": 11}, false},
		{"s > :v", doc{":v": "Hello"}, true},
		{"b < :v", doc{":v": []byte("bz")}, true},
		{"n BETWEEN :a AND :b", doc{":a": 10, ":b": 20}, true},
		{"n BETWEEN :a AND :b", doc{":a": 11, ":b": 20}, false},
		{"n BETWEEN :a AND :b AND s = :c", doc{":a": 1, ":b": 20, ":c": "no"}, false},
		{"s IN (:a, :b)", doc{":a": "no", ":b": "hello"}, true},
		{"s IN (:a, :b)", doc{":a": "no", ":b": 5}, false},
		{":v IN (s, n)", doc{":v": 10}, true},
	}
}

func functions() []conditionRow {
	return []conditionRow{
		{"attribute_exists(s)", nil, true},
		{"attribute_exists(m.k)", nil, true},
		{"attribute_exists(m.nothing)", nil, false},
		{"attribute_exists(l[2].deep[0])", nil, true},
		{"attribute_exists(l[3])", nil, false},
		{"attribute_exists(nul)", nil, true},
		{"attribute_not_exists(absent)", nil, true},
		{"attribute_not_exists(pk)", nil, false},
		{"attribute_type(m, :v)", doc{":v": "M"}, true},
		{"attribute_type(n, :v)", doc{":v": "S"}, false},
		{"attribute_type(nul, :v)", doc{":v": "NULL"}, true},
		{"begins_with(s, :v)", doc{":v": "hell"}, true},
		{"begins_with(s, :v)", doc{":v": "ello"}, false},
		{"begins_with(b, :v)", doc{":v": []byte("by")}, true},
		{"contains(s, :v)", doc{":v": "ell"}, true},
		{"contains(ss, :v)", doc{":v": "x"}, true},
		{"contains(ss, :v)", doc{":v": "z"}, false},
		{"contains(ns, :v)", doc{":v": number("2.0")}, true},
		{"contains(l, :v)", doc{":v": 1}, true},
		{"contains(l, :v)", doc{":v": "1"}, false},
		{"size(s) = :v", doc{":v": 5}, true},
		{"size(l) > :v", doc{":v": 3}, false},
		{"size(m) = :v AND size(ss) = :v AND size(ns) = :v", doc{":v": 2}, true},
		{"size(b) BETWEEN :a AND :b", doc{":a": 5, ":b": 5}, true},
		{"size(e) = :v", doc{":v": 0}, true},
		{"size(absent) = :v", doc{":v": 0}, false},
		{"l[2].deep[0] = :v", doc{":v": 7}, true},
		{"m.#size = :v", doc{":v": 3}, true},
		{"#dotted = :v", doc{":v": 1}, true},
		{"s = :a OR s = :b AND n = :c", doc{":a": "hello", ":b": "x", ":c": 0}, true},
		{"(s = :a OR s = :b) AND n = :c", doc{":a": "hello", ":b": "x", ":c": 0}, false},
		{"NOT s = :a AND n = :c", doc{":a": "x", ":c": 0}, false},
		{"NOT (s = :a AND n = :c)", doc{":a": "x", ":c": 0}, true},
		{"not s = :a and n = :c or t = :t", doc{":a": "hello", ":c": 0, ":t": true}, true},
		{"t = :v AND nul = :n", doc{":v": true, ":n": nil}, true},
		{"m = :v", doc{":v": doc{"size": 3, "k": "v"}}, true},
		{"ss = :v", doc{":v": stringSet{"y", "x"}}, true},
		{"l = :v", doc{":v": []any{"x", 1}}, false},
	}
}

func (row conditionRow) asCase() Case {
	name := "the condition holds: "
	if !row.holds {
		name = "the condition does not hold: "
	}
	return onDynamoDB(name+row.condition+describe(row.with), func(d database) {
		table := d.create("conditions", "")
		d.put(table, conditioned)
		in := &dynamodb.DeleteItemInput{TableName: table, Key: values(doc{"pk": "a"}), ConditionExpression: aws.String(row.condition),
			ExpressionAttributeValues: values(row.with), ExpressionAttributeNames: usedNames(row.condition)}
		_, err := d.client.DeleteItem(d.ctx, in)
		if row.holds {
			done(d, row, err)
			return
		}
		d.refused(err, conditionFailed)
	})
}
