package conformance

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// units is what a call is to consume: in all, on the table, and on index due.
type units struct{ total, table, due float64 }

func (d database) wantUnits(what string, got *types.ConsumedCapacity, want units) {
	d.Helper()
	if got == nil || got.CapacityUnits == nil {
		d.Errorf("%s reports no capacity", what)
		return
	}
	is := units{total: *got.CapacityUnits}
	if got.Table != nil {
		is.table = *got.Table.CapacityUnits
	}
	if due, ok := got.GlobalSecondaryIndexes["due"]; ok {
		is.due = *due.CapacityUnits
	}
	if is != want {
		d.Errorf("%s consumed %v, want %v", what, is, want)
	}
}

// only is the capacity of the only table, nil when there is none.
func only(tables []types.ConsumedCapacity) *types.ConsumedCapacity {
	if len(tables) != 1 {
		return nil
	}
	return &tables[0]
}

func dynamoCapacityCases() []Case {
	return []Case{
		onDynamoDB("a write costs a unit for each KB begun of the larger of the old and the new item", writeCapacity),
		onDynamoDB("an index costs a unit to enter, leave or change, two to move, and nothing when its part stays the same", indexCapacity),
		onDynamoDB("a read costs half a unit for each 4 KB begun, twice that when strong", readCapacity),
		onDynamoDB("a query and a scan add sizes up before they round", pageCapacity),
		onDynamoDB("batches cost what their items cost", batchCapacity),
		onDynamoDB("transactions cost twice what their items cost", transactionCapacity),
		onDynamoDB("sizes count names, texts, two digits to a byte, and three bytes and one for each element of a list or map", sizeRules),
	}
}

// sized is an item of exactly so many bytes.
func sized(pk string, bytes int) doc {
	return doc{"pk": pk, "x": strings.Repeat("x", bytes-len("pk")-len(pk)-len("x"))}
}

func (d database) putUnits(table *string, item doc) *types.ConsumedCapacity {
	d.Helper()
	out, err := d.client.PutItem(d.ctx, &dynamodb.PutItemInput{TableName: table, Item: values(item), ReturnConsumedCapacity: "INDEXES"})
	return done(d, out, err).ConsumedCapacity
}

func (d database) updateUnits(table *string, expression string, with doc) *types.ConsumedCapacity {
	d.Helper()
	out, err := d.client.UpdateItem(d.ctx, &dynamodb.UpdateItemInput{TableName: table, Key: values(doc{"pk": "a"}), UpdateExpression: &expression,
		ExpressionAttributeNames: usedNames(expression), ExpressionAttributeValues: values(with), ReturnConsumedCapacity: "INDEXES"})
	return done(d, out, err).ConsumedCapacity
}

func (d database) deleteUnits(table *string) *types.ConsumedCapacity {
	d.Helper()
	out, err := d.client.DeleteItem(d.ctx, &dynamodb.DeleteItemInput{TableName: table, Key: values(doc{"pk": "a"}), ReturnConsumedCapacity: "INDEXES"})
	return done(d, out, err).ConsumedCapacity
}

func writeCapacity(d database) {
	table := d.create("capacity", "")
	d.wantUnits("a delete of nothing", d.deleteUnits(table), units{1, 1, 0})
	d.wantUnits("a put of 1024 bytes", d.putUnits(table, sized("a", 1024)), units{1, 1, 0})
	d.wantUnits("a put of 1025 bytes", d.putUnits(table, sized("a", 1025)), units{2, 2, 0})
	d.wantUnits("a small put over 1025 bytes", d.putUnits(table, sized("a", 10)), units{2, 2, 0})
	d.wantUnits("a put of 10 KB", d.putUnits(table, sized("a", 10<<10)), units{10, 10, 0})
	d.wantUnits("an update of one byte of 10 KB", d.updateUnits(table, "SET y = :y", doc{":y": ""}), units{11, 11, 0})
	d.wantUnits("a delete of 10 KB and a byte", d.deleteUnits(table), units{11, 11, 0})
}

func indexCapacity(d database) {
	table := d.create("capacity", "", dueIndex("INCLUDE", "y"))
	d.wantUnits("a put outside of the index", d.putUnits(table, doc{"pk": "a", "due_shard": "s"}), units{1, 1, 0})
	d.wantUnits("entering", d.updateUnits(table, "SET #at = :v", doc{":v": 1}), units{2, 1, 1})
	d.wantUnits("a put of the same", d.putUnits(table, doc{"pk": "a", "due_shard": "s", "at": 1}), units{1, 1, 0})
	d.wantUnits("a change that is not projected", d.updateUnits(table, "SET x = :v", doc{":v": 1}), units{1, 1, 0})
	d.wantUnits("a change that is projected", d.updateUnits(table, "SET y = :v", doc{":v": 1}), units{2, 1, 1})
	d.wantUnits("a change of the sort key", d.putUnits(table, doc{"pk": "a", "due_shard": "s", "at": 2, "y": 1}), units{3, 1, 2})
	d.wantUnits("a change of the partition key", d.updateUnits(table, "SET due_shard = :v", doc{":v": "t"}), units{3, 1, 2})
	d.wantUnits("a projected attribute of 2 KB", d.updateUnits(table, "SET y = :v", doc{":v": strings.Repeat("y", 2<<10)}), units{6, 3, 3})
	d.wantUnits("a move of 2 KB", d.updateUnits(table, "SET due_shard = :v", doc{":v": "u"}), units{9, 3, 6})
	d.wantUnits("leaving", d.updateUnits(table, "REMOVE due_shard", nil), units{6, 3, 3})
	d.wantUnits("a delete outside of the index", d.deleteUnits(table), units{3, 3, 0})
	d.putUnits(table, doc{"pk": "a", "due_shard": "s", "at": 2})
	d.wantUnits("a delete within the index", d.deleteUnits(table), units{2, 1, 1})
}

func readCapacity(d database) {
	table := d.create("capacity", "")
	read := func(strong bool) *types.ConsumedCapacity {
		out, err := d.client.GetItem(d.ctx, &dynamodb.GetItemInput{TableName: table, Key: values(doc{"pk": "a"}), ConsistentRead: &strong,
			ProjectionExpression: aws.String("pk"), ReturnConsumedCapacity: "TOTAL"})
		return done(d, out, err).ConsumedCapacity
	}
	for _, row := range []struct {
		bytes        int
		weak, strong float64
	}{{0, 0.5, 1}, {4096, 0.5, 1}, {4097, 1, 2}, {9000, 1.5, 3}} {
		if row.bytes > 0 {
			d.put(table, sized("a", row.bytes))
		}
		d.wantUnits("a get", read(false), units{total: row.weak})
		d.wantUnits("a strong get", read(true), units{total: row.strong})
	}
}

func pageCapacity(d database) {
	table := d.create("capacity", "sk:N", dueIndex("KEYS_ONLY"))
	query := func(index *string, name string, strong bool) *types.ConsumedCapacity {
		out, err := d.client.Query(d.ctx, &dynamodb.QueryInput{TableName: table, IndexName: index, KeyConditionExpression: aws.String("#k = :v"), ConsistentRead: &strong,
			ExpressionAttributeNames: map[string]string{"#k": name}, ExpressionAttributeValues: values(doc{":v": "a"}), ReturnConsumedCapacity: "INDEXES"})
		return done(d, out, err).ConsumedCapacity
	}
	d.wantUnits("a query that finds nothing", query(nil, "pk", false), units{0.5, 0.5, 0})
	d.wantUnits("a strong query that finds nothing", query(nil, "pk", true), units{1, 1, 0})
	d.wantUnits("a query of an index that finds nothing", query(aws.String("due"), "due_shard", false), units{0.5, 0, 0.5})
	for i := range 10 {
		d.put(table, doc{"pk": "a", "sk": i, "due_shard": "a", "at": i, "x": strings.Repeat("x", 1000)})
	}
	d.wantUnits("a query of ten items of 1 KB", query(nil, "pk", false), units{1.5, 1.5, 0})
	d.wantUnits("a strong query of ten items of 1 KB", query(nil, "pk", true), units{3, 3, 0})
	d.wantUnits("a query of ten small index entries", query(aws.String("due"), "due_shard", false), units{0.5, 0, 0.5})
	out, err := d.client.Scan(d.ctx, &dynamodb.ScanInput{TableName: table, ReturnConsumedCapacity: "TOTAL", Select: types.SelectCount})
	d.wantUnits("a scan of ten items of 1 KB", done(d, out, err).ConsumedCapacity, units{total: 1.5})
}

func batchCapacity(d database) {
	table := d.create("capacity", "")
	requests := []types.WriteRequest{{DeleteRequest: &types.DeleteRequest{Key: values(doc{"pk": "c"})}}}
	for _, item := range []doc{sized("a", 1025), sized("b", 100)} {
		requests = append(requests, types.WriteRequest{PutRequest: &types.PutRequest{Item: values(item)}})
	}
	wrote, err := d.client.BatchWriteItem(d.ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{*table: requests}, ReturnConsumedCapacity: "TOTAL"})
	d.wantUnits("the batch of writes", only(done(d, wrote, err).ConsumedCapacity), units{total: 4})
	keys := types.KeysAndAttributes{}
	for _, pk := range []string{"a", "b", "c"} {
		keys.Keys = append(keys.Keys, values(doc{"pk": pk}))
	}
	read, err := d.client.BatchGetItem(d.ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{*table: keys}, ReturnConsumedCapacity: "TOTAL"})
	d.wantUnits("the batch of reads", only(done(d, read, err).ConsumedCapacity), units{total: 1.5})
}

func transactionCapacity(d database) {
	table := d.create("capacity", "", dueIndex("KEYS_ONLY"))
	d.put(table, sized("c", 3000))
	wrote, err := d.client.TransactWriteItems(d.ctx, &dynamodb.TransactWriteItemsInput{ReturnConsumedCapacity: "INDEXES", TransactItems: []types.TransactWriteItem{
		{Put: &types.Put{TableName: table, Item: values(doc{"pk": "a", "due_shard": "s", "at": 1})}},
		{Put: &types.Put{TableName: table, Item: values(sized("b", 1025))}},
		{ConditionCheck: &types.ConditionCheck{TableName: table, Key: values(doc{"pk": "c"}), ConditionExpression: aws.String("attribute_exists(pk)")}},
	}})
	d.wantUnits("the transaction of writes", only(done(d, wrote, err).ConsumedCapacity), units{14, 12, 2})
	if got := only(wrote.ConsumedCapacity); got != nil && aws.ToFloat64(got.WriteCapacityUnits) != 14 {
		d.Errorf("write capacity is %v, want 14", aws.ToFloat64(got.WriteCapacityUnits))
	}
	read, err := d.client.TransactGetItems(d.ctx, &dynamodb.TransactGetItemsInput{ReturnConsumedCapacity: "TOTAL", TransactItems: []types.TransactGetItem{
		{Get: &types.Get{TableName: table, Key: values(doc{"pk": "a"})}}, {Get: &types.Get{TableName: table, Key: values(doc{"pk": "absent"})}},
	}})
	d.wantUnits("the transaction of reads", only(done(d, read, err).ConsumedCapacity), units{total: 4})
}

// sizeRules fills an item up to 1024 bytes around values of each type, by the
// documented rules; one byte more must cost a second unit.
func sizeRules(d database) {
	table := d.create("capacity", "")
	for name, row := range map[string]struct {
		value any
		bytes int
	}{
		"a text in UTF-8":                 {"世界", 6},
		"a binary":                        {[]byte{1, 2, 3}, 3},
		"a number of one digit":           {7, 2},
		"a number of five digits":         {number("-12345.00"), 5},
		"a number of one digit and zeros": {number("7000000"), 2},
		"a boolean":                       {true, 1},
		"a null":                          {nil, 1},
		"an empty list":                   {[]any{}, 3},
		"a list":                          {[]any{"ab", 7}, 3 + 1 + 2 + 1 + 2},
		"a map":                           {doc{"k": "ab"}, 3 + 1 + 1 + 2},
		"a set of strings":                {stringSet{"ab", "c"}, 3},
		"a set of numbers":                {numberSet{"1", "100"}, 4},
	} {
		item := sized("a", 1024-1-row.bytes)
		item["v"] = row.value
		d.wantUnits(name+" and the rest of 1 KB", d.putUnits(table, item), units{1, 1, 0})
		item["x"] = item["x"].(string) + "x"
		d.wantUnits(name+" and a byte more", d.putUnits(table, item), units{2, 2, 0})
		d.deleteUnits(table)
	}
}
