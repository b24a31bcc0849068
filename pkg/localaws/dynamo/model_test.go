package dynamo_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo"
)

// row is an item of the model: a key, and what an index may want.
type row struct {
	pk, sk string
	shard  string // empty: absent
	due    *int   // nil: absent
	data   string
}

// model is the naive table: a map and linear searches.
type model struct {
	*rapid.T
	ctx    context.Context
	client *dynamodb.Client
	rows   map[string]row
}

// Whatever is written in whatever order, table and index answer every query
// as a map and a sort would, page by page and in both directions.
func TestTableAndIndexAgreeWithANaiveModel(t *testing.T) {
	for name, engine := range engines(t) {
		t.Run(name, func(t *testing.T) {
			b := setup(t, engine, dynamo.Options{})
			b.createJobs("ALL")
			rapid.Check(t, func(rt *rapid.T) {
				m := &model{T: rt, ctx: t.Context(), client: b.client, rows: map[string]row{}}
				m.empty()
				rt.Repeat(map[string]func(*rapid.T){
					"put":    m.put,
					"update": m.update,
					"delete": m.delete,
					"claim":  m.claim,
					"":       m.check,
				})
			})
		})
	}
}

func (m *model) key(t *rapid.T) row {
	return row{pk: rapid.SampledFrom([]string{"a", "ab", "b"}).Draw(t, "pk"), sk: rapid.SampledFrom([]string{"1", "10", "2"}).Draw(t, "sk")}
}

func (m *model) draw(t *rapid.T) row {
	r := m.key(t)
	r.shard = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "shard")
	if due := rapid.SampledFrom([]int{-20, -3, 0, 3, 3, 20, 99}).Draw(t, "due"); due != 99 {
		r.due = &due
	}
	r.data = rapid.SampledFrom([]string{"", "d", "dd"}).Draw(t, "data")
	return r
}

func (r row) key() item { return item{"pk": s(r.pk), "sk": s(r.sk)} }

func (r row) item() item {
	all := r.key()
	if r.shard != "" {
		all["due_shard"] = s(r.shard)
	}
	if r.due != nil {
		all["due"] = n(strconv.Itoa(*r.due))
	}
	if r.data != "" {
		all["data"] = s(r.data)
	}
	return all
}

func (r row) String() string {
	due := "-"
	if r.due != nil {
		due = strconv.Itoa(*r.due)
	}
	return fmt.Sprintf("%s/%s %s@%s %s", r.pk, r.sk, r.shard, due, r.data)
}

func read(one item) row {
	r := row{pk: text(one["pk"]), sk: text(one["sk"]), shard: text(one["due_shard"]), data: text(one["data"])}
	if due, found := one["due"]; found {
		value, _ := strconv.Atoi(text(due))
		r.due = &value
	}
	return r
}

func (m *model) empty() {
	out, err := m.client.Scan(m.ctx, &dynamodb.ScanInput{TableName: jobs})
	for _, one := range done(m, out, err).Items {
		deleted, err := m.client.DeleteItem(m.ctx, &dynamodb.DeleteItemInput{TableName: jobs, Key: read(one).key()})
		done(m, deleted, err)
	}
}

func (m *model) put(t *rapid.T) {
	r := m.draw(t)
	out, err := m.client.PutItem(m.ctx, &dynamodb.PutItemInput{TableName: jobs, Item: r.item()})
	done(t, out, err)
	m.rows[r.pk+"/"+r.sk] = r
}

func (m *model) delete(t *rapid.T) {
	r := m.key(t)
	out, err := m.client.DeleteItem(m.ctx, &dynamodb.DeleteItemInput{TableName: jobs, Key: r.key()})
	done(t, out, err)
	delete(m.rows, r.pk+"/"+r.sk)
}

// update sets or removes each attribute.
func (m *model) update(t *rapid.T) {
	r := m.draw(t)
	set, remove, values := "", "", item{}
	for _, name := range []string{"due_shard", "due", "data"} {
		if value, found := r.item()[name]; found {
			set += map[bool]string{true: ", ", false: "SET "}[set != ""] + "#" + name + " = :" + name
			values[":"+name] = value
		} else {
			remove += map[bool]string{true: ", ", false: " REMOVE "}[remove != ""] + "#" + name
		}
	}
	in := &dynamodb.UpdateItemInput{TableName: jobs, Key: r.key(), UpdateExpression: aws.String(set + remove),
		ExpressionAttributeNames: map[string]string{"#due_shard": "due_shard", "#due": "due", "#data": "data"}}
	if len(values) > 0 {
		in.ExpressionAttributeValues = values
	}
	out, err := m.client.UpdateItem(m.ctx, in)
	done(t, out, err)
	m.rows[r.pk+"/"+r.sk] = r
}

// claim is a conditional update: it moves a due time that it expects.
func (m *model) claim(t *rapid.T) {
	r, expected := m.key(t), rapid.SampledFrom([]int{-3, 3, 20}).Draw(t, "expected")
	_, err := m.client.UpdateItem(m.ctx, &dynamodb.UpdateItemInput{TableName: jobs, Key: r.key(), UpdateExpression: aws.String("SET due = due + :one"),
		ConditionExpression: aws.String("due = :expected"), ExpressionAttributeValues: item{":one": n("1"), ":expected": n(strconv.Itoa(expected))}})
	now, found := m.rows[r.pk+"/"+r.sk]
	holds := found && now.due != nil && *now.due == expected
	if holds != (err == nil) {
		t.Fatalf("the condition ended with %v on %v", err, now)
	}
	if holds {
		next := *now.due + 1
		now.due = &next
		m.rows[r.pk+"/"+r.sk] = now
	}
}

// check looks at one partition and one shard of the index.
func (m *model) check(t *rapid.T) {
	pk := rapid.SampledFrom([]string{"a", "ab", "b"}).Draw(t, "partition")
	want := m.find(func(r row) bool { return r.pk == pk })
	m.compare(t, "partition "+pk, want, bySort, &dynamodb.QueryInput{TableName: jobs, KeyConditionExpression: aws.String("pk = :k"), ExpressionAttributeValues: item{":k": s(pk)}})
	shard := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "shard")
	want = m.find(func(r row) bool { return r.shard == shard && r.due != nil && *r.due >= -3 })
	m.compare(t, "shard "+shard, want, byDue, &dynamodb.QueryInput{TableName: jobs, IndexName: aws.String("due"), KeyConditionExpression: aws.String("due_shard = :k AND due >= :d"),
		ExpressionAttributeValues: item{":k": s(shard), ":d": n("-3")}})
}

func (m *model) find(keep func(row) bool) (found []row) {
	for r := range maps.Values(m.rows) {
		if keep(r) {
			found = append(found, r)
		}
	}
	return found
}

// compare asks in full, by pages and backwards. Rows with equal index keys
// have no order that the model knows, so what was found need only be sorted
// by the key; the three answers must be alike in everything.
func (m *model) compare(t *rapid.T, what string, want []row, order func(a, b row) int, in *dynamodb.QueryInput) {
	all := m.ask(t, in)
	if in.IndexName != nil && !slices.IsSortedFunc(all, func(a, b row) int { return cmp.Compare(*a.due, *b.due) }) {
		t.Fatalf("%s is not in order: %v", what, all)
	}
	got := slices.Clone(all)
	if in.IndexName != nil {
		slices.SortFunc(got, order)
	}
	if slices.SortFunc(want, order); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s holds %v, want %v", what, got, want)
	}
	in.Limit = aws.Int32(int32(rapid.IntRange(1, 4).Draw(t, "limit")))
	if paged := m.ask(t, in); fmt.Sprint(paged) != fmt.Sprint(all) {
		t.Fatalf("%s by pages of %d holds %v, want %v", what, *in.Limit, paged, all)
	}
	in.ScanIndexForward = aws.Bool(false)
	backwards := m.ask(t, in)
	if slices.Reverse(backwards); fmt.Sprint(backwards) != fmt.Sprint(all) {
		t.Fatalf("%s backwards holds %v, want %v", what, backwards, all)
	}
}

func (m *model) ask(t *rapid.T, in *dynamodb.QueryInput) (found []row) {
	in.ExclusiveStartKey = nil
	for range 20 {
		out, err := m.client.Query(m.ctx, in)
		for _, one := range done(t, out, err).Items {
			found = append(found, read(one))
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return found
		}
	}
	t.Fatal("the pages do not end")
	return nil
}

// byDue orders rows of the index; ties by text.
func byDue(a, b row) int {
	return cmp.Or(cmp.Compare(*a.due, *b.due), cmp.Compare(a.String(), b.String()))
}

func bySort(a, b row) int { return cmp.Compare(a.sk, b.sk) }
