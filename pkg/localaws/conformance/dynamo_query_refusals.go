package conformance

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// keyRow is a query that is refused.
type keyRow struct {
	name, condition string
	with            doc
	change          func(*dynamodb.QueryInput)
}

func refusedQuery(what string, rows ...keyRow) Case {
	return onDynamoDB("a query is refused for "+what, func(d database) {
		each(d, rows, func(row keyRow) string { return row.name }, func(d database, row keyRow) {
			in := &dynamodb.QueryInput{TableName: d.create("queries", "sk:N"), KeyConditionExpression: &row.condition, ExpressionAttributeValues: values(row.with)}
			if row.change != nil {
				row.change(in)
			}
			_, err := d.client.Query(d.ctx, in)
			d.refused(err, invalid)
		})
	})
}

func dynamoRefusedQueryCases() []Case {
	startAt := func(key doc) func(*dynamodb.QueryInput) {
		return func(in *dynamodb.QueryInput) { in.ExclusiveStartKey = values(key) }
	}
	return []Case{
		refusedQuery("keys that are missing or not keys",
			keyRow{"no partition key", "sk = :v", doc{":v": 1}, nil},
			keyRow{"a range of partition keys", "pk > :v", doc{":v": "a"}, nil},
			keyRow{"another attribute", "pk = :v AND x = :w", doc{":v": "a", ":w": 1}, nil},
		),
		refusedQuery("keys of another type",
			keyRow{"the partition key", "pk = :v", doc{":v": 1}, nil},
			keyRow{"the sort key", "pk = :v AND sk = :v", doc{":v": "a"}, nil},
		),
		refusedQuery("operators that keys do not take",
			keyRow{"OR", "pk = :v OR pk = :w", doc{":v": "a", ":w": "b"}, nil},
			keyRow{"<>", "pk = :v AND sk <> :w", doc{":v": "a", ":w": 1}, nil},
			keyRow{"two conditions on one key", "pk = :v AND sk > :w AND sk < :w", doc{":v": "a", ":w": 1}, nil},
		),
		refusedQuery("a filter on a key", keyRow{"the sort key", "pk = :v", doc{":v": "a", ":w": 1}, func(in *dynamodb.QueryInput) {
			in.FilterExpression = aws.String("sk > :w")
		}}),
		refusedQuery("an index that is not there", keyRow{"absent", "pk = :v", doc{":v": "a"}, func(in *dynamodb.QueryInput) {
			in.IndexName = aws.String("absent")
		}}),
		refusedQuery("COUNT with a projection", keyRow{"x", "pk = :v", doc{":v": "a"}, func(in *dynamodb.QueryInput) {
			in.Select, in.ProjectionExpression = types.SelectCount, aws.String("x")
		}}),
		refusedQuery("a start key that is none, or of another partition",
			keyRow{"no sort key", "pk = :v", doc{":v": "a"}, startAt(doc{"pk": "a"})},
			keyRow{"another partition", "pk = :v", doc{":v": "a"}, startAt(doc{"pk": "b", "sk": 1})},
		),
	}
}
