package conformance

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func dueIndex(projection types.ProjectionType, include ...string) indexed {
	return indexed{name: "due", hash: "due_shard:S", sort: "at:N", projection: projection, include: include}
}

func dynamoIndexCases() []Case {
	return []Case{
		onDynamoDB("an index holds only items that have both its keys, in its own order", sparseIndex),
		onDynamoDB("an item enters, moves within and leaves an index as its attributes come and go", indexMoves),
		onDynamoDB("an index shows what it projects", indexProjections),
		onDynamoDB("items with equal index keys page one by one, forwards and backwards", equalIndexKeys),
		onDynamoDB("a scan of an index sees its items only", func(d database) {
			table := d.create("indexes", "", dueIndex("KEYS_ONLY"))
			d.put(table, doc{"pk": "a", "due_shard": "1", "at": 1, "x": 1}, doc{"pk": "b", "due_shard": "1"}, doc{"pk": "c", "at": 1})
			out, err := d.client.Scan(d.ctx, &dynamodb.ScanInput{TableName: table, IndexName: aws.String("due")})
			d.want("the index", plainAll(done(d, out, err).Items), []doc{{"pk": "a", "due_shard": "1", "at": 1}})
		}),
		refusedIndexQuery("for a strong read of an index", func(in *dynamodb.QueryInput) { in.ConsistentRead = aws.Bool(true) }),
		refusedIndexQuery("for all attributes of an index that has not all", func(in *dynamodb.QueryInput) { in.Select = types.SelectAllAttributes }),
		refusedIndexQuery("for a projection that the index has not", func(in *dynamodb.QueryInput) { in.ProjectionExpression = aws.String("x") }),
		refusedIndexQuery("for a start key that lacks the index key, or the table's",
			func(in *dynamodb.QueryInput) { in.ExclusiveStartKey = values(doc{"pk": "a"}) },
			func(in *dynamodb.QueryInput) { in.ExclusiveStartKey = values(doc{"due_shard": "1", "at": 1}) }),
		onDynamoDB("an index key of another type is refused, in a put and in an update", func(d database) {
			table := d.create("indexes", "", dueIndex("KEYS_ONLY"))
			_, err := d.client.PutItem(d.ctx, &dynamodb.PutItemInput{TableName: table, Item: values(doc{"pk": "a", "due_shard": "1", "at": "soon"})})
			d.refused(err, invalid)
			_, err = d.tryUpdate(table, doc{"pk": "a"}, "SET due_shard = :v", nil, doc{":v": 1})
			d.refused(err, invalid)
			_, err = d.tryUpdate(table, doc{"pk": "a"}, "SET due_shard = :v", nil, doc{":v": nil})
			d.refused(err, invalid)
			d.wantItem(table, doc{"pk": "a"}, nil)
		}),
		onDynamoDB("an empty index key is refused, in a put and in an update", func(d database) {
			table := d.create("indexes", "", dueIndex("KEYS_ONLY"))
			_, err := d.client.PutItem(d.ctx, &dynamodb.PutItemInput{TableName: table, Item: values(doc{"pk": "a", "due_shard": "", "at": 1})})
			d.refused(err, invalid)
			_, err = d.tryUpdate(table, doc{"pk": "a"}, "SET due_shard = :v", nil, doc{":v": ""})
			d.refused(err, invalid)
			d.wantItem(table, doc{"pk": "a"}, nil)
		}),
	}
}

// due reads one shard of the index in full.
func (d database) due(table *string, shard string) []doc {
	d.Helper()
	out, err := d.client.Query(d.ctx, &dynamodb.QueryInput{TableName: table, IndexName: aws.String("due"), KeyConditionExpression: aws.String("due_shard = :s"),
		ExpressionAttributeValues: values(doc{":s": shard})})
	return plainAll(done(d, out, err).Items)
}

func sparseIndex(d database) {
	table := d.create("indexes", "sk:S", dueIndex("ALL"))
	d.put(table,
		doc{"pk": "a", "sk": "1", "due_shard": "x", "at": 30}, doc{"pk": "b", "sk": "1", "due_shard": "x", "at": 4},
		doc{"pk": "c", "sk": "1", "due_shard": "x", "at": number("-100.5")}, doc{"pk": "d", "sk": "1", "due_shard": "y", "at": 1},
		doc{"pk": "e", "sk": "1", "due_shard": "x"}, doc{"pk": "f", "sk": "1", "at": 5}, doc{"pk": "g", "sk": "1"},
	)
	d.want("shard x", pick(d.due(table, "x"), "pk"), []any{"c", "b", "a"})
	d.want("shard y", pick(d.due(table, "y"), "pk"), []any{"d"})
	out, err := d.client.Query(d.ctx, &dynamodb.QueryInput{TableName: table, IndexName: aws.String("due"), KeyConditionExpression: aws.String("due_shard = :s AND #at < :at"),
		ExpressionAttributeNames: map[string]string{"#at": "at"}, ExpressionAttributeValues: values(doc{":s": "x", ":at": 30})})
	d.want("shard x before 30", pick(plainAll(done(d, out, err).Items), "pk"), []any{"c", "b"})
}

func indexMoves(d database) {
	table := d.create("indexes", "", dueIndex("KEYS_ONLY"))
	key := doc{"pk": "a"}
	names := map[string]string{"#at": "at"}
	steps := []struct {
		expression string
		with       doc
		names      map[string]string
		want       []doc
	}{
		{"SET due_shard = :s", doc{":s": "x"}, nil, []doc{}},
		{"SET #at = :at", doc{":at": 5}, names, []doc{{"pk": "a", "due_shard": "x", "at": 5}}},
		{"SET #at = :at", doc{":at": 7}, names, []doc{{"pk": "a", "due_shard": "x", "at": 7}}},
		{"SET due_shard = :s", doc{":s": "y"}, nil, []doc{}},
		{"SET due_shard = :s", doc{":s": "x"}, nil, []doc{{"pk": "a", "due_shard": "x", "at": 7}}},
		{"REMOVE #at", nil, names, []doc{}},
	}
	for _, step := range steps {
		out, err := d.tryUpdate(table, key, step.expression, step.names, step.with)
		done(d, out, err)
		d.want("shard x after "+step.expression, d.due(table, "x"), step.want)
	}
	d.put(table, doc{"pk": "a", "due_shard": "x", "at": 1})
	d.want("shard x after a put", d.due(table, "x"), []doc{{"pk": "a", "due_shard": "x", "at": 1}})
	_, err := d.client.DeleteItem(d.ctx, &dynamodb.DeleteItemInput{TableName: table, Key: values(key)})
	done(d, key, err)
	d.want("shard x after a delete", d.due(table, "x"), []doc{})
}

func indexProjections(d database) {
	table := d.create("indexes", "sk:S",
		indexed{"keys", "due_shard:S", "at:N", "KEYS_ONLY", nil},
		indexed{"some", "due_shard:S", "at:N", "INCLUDE", []string{"x", "absent"}},
		indexed{"all", "due_shard:S", "", "ALL", nil},
	)
	item := doc{"pk": "a", "sk": "b", "due_shard": "s", "at": 1, "x": doc{"deep": 1}, "y": 2}
	d.put(table, item)
	for index, want := range map[string]doc{
		"keys": {"pk": "a", "sk": "b", "due_shard": "s", "at": 1},
		"some": {"pk": "a", "sk": "b", "due_shard": "s", "at": 1, "x": doc{"deep": 1}},
		"all":  item,
	} {
		out, err := d.client.Query(d.ctx, &dynamodb.QueryInput{TableName: table, IndexName: aws.String(index), KeyConditionExpression: aws.String("due_shard = :s"),
			ExpressionAttributeValues: values(doc{":s": "s"})})
		d.want("index "+index, plainAll(done(d, out, err).Items), []doc{want})
	}
}

func equalIndexKeys(d database) {
	table := d.create("indexes", "sk:S", dueIndex("KEYS_ONLY"))
	for i := range 7 {
		d.put(table, doc{"pk": fmt.Sprint(i % 3), "sk": fmt.Sprint(i), "due_shard": "x", "at": 5})
	}
	forwards := d.pageDue(table, true)
	backwards := d.pageDue(table, false)
	slices.Reverse(backwards)
	d.want("the pages backwards, reversed", backwards, forwards)
	sorts := pick(forwards, "sk")
	slices.SortFunc(sorts, func(a, b any) int { return slices.Compare([]byte(a.(string)), []byte(b.(string))) })
	d.want("the items found, sorted", sorts, []any{"0", "1", "2", "3", "4", "5", "6"})
}

// pageDue pages through shard x by twos.
func (d database) pageDue(table *string, forward bool) []doc {
	d.Helper()
	return d.pages(&dynamodb.QueryInput{TableName: table, IndexName: aws.String("due"), KeyConditionExpression: aws.String("due_shard = :s"), Limit: aws.Int32(2),
		ScanIndexForward: &forward, ExpressionAttributeValues: values(doc{":s": "x"})})
}

func refusedIndexQuery(what string, changes ...func(*dynamodb.QueryInput)) Case {
	return onDynamoDB("a query is refused "+what, func(d database) {
		table := d.create("indexes", "", dueIndex("KEYS_ONLY"))
		for _, change := range changes {
			in := &dynamodb.QueryInput{TableName: table, IndexName: aws.String("due"),
				KeyConditionExpression: aws.String("due_shard = :s"), ExpressionAttributeValues: values(doc{":s": "1"})}
			change(in)
			_, err := d.client.Query(d.ctx, in)
			d.refused(err, invalid)
		}
	})
}
