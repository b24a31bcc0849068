package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// queryRow is a key condition on items whose sort keys are given, and what it
// finds.
type queryRow struct {
	kind      string // of the sort key
	stored    []any
	condition string
	with      doc
	want      []any
}

func dynamoQueryCases() []Case {
	texts := []any{"", "a", "a\x00", "a\x00b", "a\x01", "ab", "b", "é", "世"}[1:]
	numbers := []any{number("-1E+125"), number("-100.5"), -100, -2, number("-0.001"), 0, number("0.001"), number("0.1"), 2, 10, number("10.5"), 99, 100, number("1E+125")}
	bytes := []any{[]byte{0}, []byte{0, 0}, []byte{0, 1}, []byte{1}, []byte{0xff}, []byte{0xff, 0xff}}
	rows := []queryRow{
		{"S", texts, "", nil, texts},
		{"S", texts, "sk = :v", doc{":v": "a"}, []any{"a"}},
		{"S", texts, "sk < :v", doc{":v": "ab"}, texts[:4]},
		{"S", texts, "sk <= :v", doc{":v": "ab"}, texts[:5]},
		{"S", texts, "sk > :v", doc{":v": "a"}, texts[1:]},
		{"S", texts, "sk >= :v", doc{":v": "a\x00"}, texts[1:]},
		{"S", texts, "sk BETWEEN :v AND :w", doc{":v": "a\x00", ":w": "ab"}, texts[1:5]},
		{"S", texts, "begins_with(sk, :v)", doc{":v": "a"}, texts[:5]},
		{"S", texts, "begins_with(sk, :v)", doc{":v": "a\x00"}, texts[1:3]},
		{"S", texts, "sk = :v", doc{":v": "nothing"}, nil},
		{"N", numbers, "", nil, numbers},
		{"N", numbers, "sk < :v", doc{":v": 0}, numbers[:5]},
		{"N", numbers, "sk > :v", doc{":v": number("0.00")}, numbers[6:]},
		{"N", numbers, "sk BETWEEN :v AND :w", doc{":v": number("-100.5"), ":w": number("0.0010")}, numbers[1:7]},
		{"N", numbers, "sk >= :v", doc{":v": number("9.9")}, numbers[9:]},
		{"B", bytes, "", nil, bytes},
		{"B", bytes, "begins_with(sk, :v)", doc{":v": []byte{0}}, bytes[:3]},
		{"B", bytes, "begins_with(sk, :v)", doc{":v": []byte{0xff}}, bytes[4:]},
		{"B", bytes, "sk > :v", doc{":v": []byte{0}}, bytes[1:]},
	}
	cases := make([]Case, len(rows))
	for i, row := range rows {
		cases[i] = onDynamoDB(fmt.Sprintf("query by %s: pk = :p %s%s", row.kind, row.condition, strings.ToValidUTF8(describe(row.with), "?")), row.run)
	}
	return append(cases, dynamoRefusedQueryCases()...)
}

func (row queryRow) run(d database) {
	table := d.create("queries", "sk:"+row.kind)
	for i := range row.stored { // neither in order nor in reverse
		d.put(table, doc{"pk": "a", "sk": row.stored[(i*5+3)%len(row.stored)]})
	}
	for _, sk := range row.stored {
		d.put(table, doc{"pk": "a", "sk": sk}, doc{"pk": "b", "sk": sk}, doc{"pk": "A", "sk": sk})
	}
	in := &dynamodb.QueryInput{TableName: table, KeyConditionExpression: aws.String("pk = :p"), ExpressionAttributeValues: values(keyedBy(row.with))}
	if row.condition != "" {
		in.KeyConditionExpression = aws.String("pk = :p AND " + row.condition)
	}
	want := make([]doc, len(row.want))
	for i, sk := range row.want {
		want[i] = doc{"pk": "a", "sk": sk}
	}
	out, err := d.client.Query(d.ctx, in)
	d.want("what is found", plainAll(done(d, out, err).Items), want)
	slices.Reverse(want)
	in.ScanIndexForward = aws.Bool(false)
	out, err = d.client.Query(d.ctx, in)
	d.want("what is found backwards", plainAll(done(d, out, err).Items), want)
	in.Limit = aws.Int32(2)
	d.want("what is found backwards by twos", d.pages(in), want)
}

// pages reads page after page.
func (d database) pages(in *dynamodb.QueryInput) (all []doc) {
	d.Helper()
	for range 100 {
		out, err := d.client.Query(d.ctx, in)
		all = append(all, plainAll(done(d, out, err).Items)...)
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return all
		}
	}
	d.Fatal("the pages do not end")
	return nil
}

func keyedBy(with doc) doc {
	out := doc{":p": "a"}
	for name, v := range with {
		out[name] = v
	}
	return out
}
