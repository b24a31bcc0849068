package conformance

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func dynamoPageCases() []Case {
	return []Case{
		onDynamoDB("Limit counts before the filter, so a page may be empty and not the last", limitBeforeFilter),
		onDynamoDB("a page ends at 1 MB, counted before the filter", megabytePage),
		onDynamoDB("COUNT counts without items", func(d database) {
			table := d.numbered(5)
			out, err := d.client.Query(d.ctx, &dynamodb.QueryInput{TableName: table, KeyConditionExpression: aws.String("pk = :p"), FilterExpression: aws.String("x > :x"),
				Select: types.SelectCount, ExpressionAttributeValues: values(doc{":p": "a", ":x": 2})})
			done(d, out, err)
			if out.Count != 2 || out.ScannedCount != 5 || len(out.Items) != 0 {
				d.Errorf("counted %d of %d with %d items, want 2 of 5 with none", out.Count, out.ScannedCount, len(out.Items))
			}
		}),
		onDynamoDB("a query continues after a start key that has been deleted", func(d database) {
			table := d.numbered(5)
			out, err := d.client.Query(d.ctx, &dynamodb.QueryInput{TableName: table, KeyConditionExpression: aws.String("pk = :p"),
				ExclusiveStartKey: values(doc{"pk": "a", "sk": number("2.5")}), ExpressionAttributeValues: values(doc{":p": "a"})})
			d.want("what follows", pick(plainAll(done(d, out, err).Items), "sk"), []any{number("3"), number("4")})
		}),
		onDynamoDB("a scan pages through everything once", func(d database) {
			table := d.create("pages", "")
			for i := range 20 {
				d.put(table, doc{"pk": fmt.Sprint(i)})
			}
			d.wantScan(&dynamodb.ScanInput{TableName: table, Limit: aws.Int32(3)}, 20)
		}),
		onDynamoDB("the segments of a parallel scan find everything once between them", func(d database) {
			table := d.create("pages", "")
			for i := range 40 {
				d.put(table, doc{"pk": fmt.Sprint(i)})
			}
			d.wantSegments(table, 40)
		}),
		onDynamoDB("a scan filters and projects", func(d database) {
			out, err := d.client.Scan(d.ctx, &dynamodb.ScanInput{TableName: d.numbered(5), FilterExpression: aws.String("x >= :x"),
				ProjectionExpression: aws.String("x"), ExpressionAttributeValues: values(doc{":x": 3})})
			d.want("what is found", plainAll(done(d, out, err).Items), []doc{{"x": 3}, {"x": 4}})
		}),
	}
}

// numbered makes a table of n items of one partition; x is the sort key again.
func (d database) numbered(n int) *string {
	d.Helper()
	table := d.create("pages", "sk:N")
	for i := range n {
		d.put(table, doc{"pk": "a", "sk": i, "x": i})
	}
	return table
}

func limitBeforeFilter(d database) {
	in := &dynamodb.QueryInput{TableName: d.numbered(6), KeyConditionExpression: aws.String("pk = :p"), FilterExpression: aws.String("x = :x"),
		Limit: aws.Int32(2), ExpressionAttributeValues: values(doc{":p": "a", ":x": 4})}
	for i, want := range []int32{0, 0, 1} {
		out, err := d.client.Query(d.ctx, in)
		done(d, out, err)
		if out.Count != want || out.ScannedCount != 2 || out.LastEvaluatedKey == nil {
			d.Fatalf("page %d has %d of %d items and goes on after %v, want %d of 2 and more to come", i, out.Count, out.ScannedCount, out.LastEvaluatedKey, want)
		}
		d.want("the last key", plain(out.LastEvaluatedKey), doc{"pk": "a", "sk": 2*i + 1})
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
	out, err := d.client.Query(d.ctx, in)
	if done(d, out, err).ScannedCount != 0 || out.LastEvaluatedKey != nil {
		d.Errorf("after the end there are %d items, and more after %v", out.ScannedCount, out.LastEvaluatedKey)
	}
}

func megabytePage(d database) {
	table := d.create("pages", "sk:N")
	for i := range 8 { // items of exactly 256 KB
		d.put(table, doc{"pk": "a", "sk": i + 1, "x": strings.Repeat("x", 256<<10-8)})
	}
	in := &dynamodb.QueryInput{TableName: table, KeyConditionExpression: aws.String("pk = :p"), FilterExpression: aws.String("attribute_not_exists(x)"),
		ExpressionAttributeValues: values(doc{":p": "a"})}
	for i, want := range []int32{4, 4} {
		out, err := d.client.Query(d.ctx, in)
		done(d, out, err)
		if out.ScannedCount != want || out.Count != 0 || out.LastEvaluatedKey == nil {
			d.Errorf("page %d has %d of %d items and goes on after %v, want 0 of %d and more to come", i, out.Count, out.ScannedCount, out.LastEvaluatedKey, want)
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func (d database) wantScan(in *dynamodb.ScanInput, want int) map[string]bool {
	d.Helper()
	seen := map[string]bool{}
	for pages := 0; ; pages++ {
		if pages == 100 {
			d.Fatal("the pages do not end")
		}
		out, err := d.client.Scan(d.ctx, in)
		for _, item := range plainAll(done(d, out, err).Items) {
			pk := item["pk"].(string)
			if seen[pk] {
				d.Errorf("%s was found twice", pk)
			}
			seen[pk] = true
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			break
		}
	}
	if want >= 0 && len(seen) != want {
		d.Errorf("found %d items, want %d", len(seen), want)
	}
	return seen
}

func (d database) wantSegments(table *string, want int) {
	d.Helper()
	const segments = 4
	all := map[string]bool{}
	for segment := range int32(segments) {
		seen := d.wantScan(&dynamodb.ScanInput{TableName: table, Limit: aws.Int32(3), Segment: aws.Int32(segment), TotalSegments: aws.Int32(segments)}, -1)
		for pk := range seen {
			if all[pk] {
				d.Errorf("%s is in two segments", pk)
			}
			all[pk] = true
		}
	}
	if len(all) != want {
		d.Errorf("the segments hold %d items, want %d", len(all), want)
	}
}
