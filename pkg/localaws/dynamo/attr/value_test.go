package attr_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/jsonread"
)

func read(t interface{ Fatal(...any) }, text string) (attr.Item, error) {
	r, err := jsonread.New(text)
	if err != nil {
		t.Fatal(err)
	}
	return attr.ReadItem(r)
}

// anyValue draws values of every type, nested a little.
func anyValue(depth int) *rapid.Generator[attr.Value] {
	return rapid.Custom(func(t *rapid.T) attr.Value {
		kinds := []attr.Kind{attr.S, attr.N, attr.B, attr.BOOL, attr.NULL, attr.SS, attr.NS, attr.BS}
		if depth > 0 {
			kinds = append(kinds, attr.M, attr.L)
		}
		v := attr.Value{Kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
		switch v.Kind {
		case attr.BOOL:
			v.Bool = rapid.Bool().Draw(t, "bool")
		case attr.M:
			v.Map = anyItem(depth-1).Draw(t, "map")
		case attr.L:
			v.List = rapid.SliceOfN(anyValue(depth-1), 0, 3).Draw(t, "list")
		case attr.SS, attr.NS, attr.BS:
			scalars := rapid.SliceOfNDistinct(anyScalar(v.Kind.Member()), 1, 4, func(v attr.Value) string { return v.Text })
			v.List = attr.SortSet(scalars.Draw(t, "members"))
		case attr.S, attr.N, attr.B:
			v = anyScalar(v.Kind).Draw(t, "scalar")
		case attr.NULL, attr.Absent:
		}
		return v
	})
}

func anyScalar(kind attr.Kind) *rapid.Generator[attr.Value] {
	return rapid.Custom(func(t *rapid.T) attr.Value {
		if kind == attr.N {
			return number(t, drawn.Draw(t, "number"))
		}
		if kind == attr.B {
			return attr.Value{Kind: kind, Text: string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))}
		}
		return attr.Value{Kind: kind, Text: rapid.String().Draw(t, "text")}
	})
}

func anyItem(depth int) *rapid.Generator[attr.Item] {
	return rapid.Custom(func(t *rapid.T) attr.Item {
		item := attr.Item{}
		for _, name := range rapid.SliceOfN(rapid.String(), 0, 16).Draw(t, "names") {
			item = item.With(name, anyValue(depth).Draw(t, "value"))
		}
		return item
	})
}

func TestItemsSurviveTheStoreAndTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		item := anyItem(2).Draw(t, "item")
		stored, err := attr.Record(attr.AppendRecord(nil, item))
		if err != nil || !stored.Equal(item) {
			t.Fatalf("stored: %v (%v)", stored, err)
		}
		wire := item.AppendJSON(nil)
		if !json.Valid(wire) {
			t.Fatalf("not JSON: %s", wire)
		}
		sent, err := read(t, string(wire))
		if err != nil || !sent.Equal(item) {
			t.Fatalf("sent: %v (%v)", sent, err)
		}
		if sent.Size() != item.Size() {
			t.Fatalf("the size changed from %d to %d", item.Size(), sent.Size())
		}
	})
}

func TestDamagedRecordsAreErrors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		record := attr.AppendRecord(nil, anyItem(1).Draw(t, "item"))
		cut := record[:rapid.IntRange(0, len(record)-1).Draw(t, "cut")]
		if _, err := attr.Record(cut); !errors.Is(err, attr.ErrRecord) {
			t.Fatalf("%x cut to %x gives %v", record, cut, err)
		}
		_, _ = attr.Record(rapid.SliceOf(rapid.Byte()).Draw(t, "noise")) // must not panic
	})
}

func TestItemsAreMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var item, own attr.Item
		model := map[string]string{}
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			name := rapid.StringMatching(`[a-p]`).Draw(t, "name")
			if rapid.Bool().Draw(t, "remove") {
				item = item.Without(name)
				own.Remove(name)
				delete(model, name)
				continue
			}
			value := attr.Value{Kind: attr.S, Text: rapid.StringMatching(`[a-z]`).Draw(t, "value")}
			before := append(attr.Item{}, item...)
			old := item
			item = item.With(name, value)
			if !old.Equal(before) {
				t.Fatal("With changed the item that it was given")
			}
			own.Set(name, value)
			model[name] = value.Text
		}
		got := map[string]string{}
		for _, attribute := range item {
			got[attribute.Name] = item.Get(attribute.Name).Text
		}
		if !reflect.DeepEqual(got, model) || !own.Equal(item) {
			t.Fatalf("%v and %v, want %v", got, own, model)
		}
	})
}
