package conformance

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

func dynamoProjectionCases() []Case {
	item := doc{"pk": "a", "x": 1, "m": doc{"a": 1, "b": doc{"c": 2, "d": 3}}, "l": []any{10, doc{"k": 1, "j": 2}, 12}, "dot.ted": 5}
	rows := []struct {
		projection string
		want       doc
	}{
		{"x", doc{"x": 1}},
		{"x, absent", doc{"x": 1}},
		{"absent", doc{}},
		{"m.b.c, m.a", doc{"m": doc{"a": 1, "b": doc{"c": 2}}}},
		{"l[2], l[0]", doc{"l": []any{10, 12}}},
		{"l[1].k", doc{"l": []any{doc{"k": 1}}}},
		{"l[7]", doc{}},
		{"m.absent, x.a", doc{}},
		{"#dotted, pk", doc{"dot.ted": 5, "pk": "a"}},
	}
	cases := []Case{}
	for _, row := range rows {
		cases = append(cases, onDynamoDB("projection: "+row.projection, func(d database) {
			table := d.create("projections", "")
			d.put(table, item)
			out, err := d.client.GetItem(d.ctx, &dynamodb.GetItemInput{TableName: table, Key: values(doc{"pk": "a"}),
				ProjectionExpression: aws.String(row.projection), ExpressionAttributeNames: usedNames(row.projection)})
			d.want("the item", plain(done(d, out, err).Item), row.want)
		}))
	}
	return append(cases,
		refusedProjection("text that is no list of paths", "x,", "l[x]"),
		refusedProjection("a path and a part of it", "m, m.a"),
		refusedProjection("two paths without a comma, one path twice, a reserved word, nothing", "x y", "x, x", "size", ""),
	)
}

func refusedProjection(what string, projections ...string) Case {
	return onDynamoDB("a projection is refused for "+what, func(d database) {
		each(d, projections, func(p string) string { return p }, func(d database, projection string) {
			_, err := d.client.GetItem(d.ctx, &dynamodb.GetItemInput{TableName: d.create("projections", ""), Key: values(doc{"pk": "a"}), ProjectionExpression: &projection})
			d.refused(err, invalid)
		})
	})
}
