package expr_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/expr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/jsonread"
)

func item(t interface{ Fatal(...any) }, text string) attr.Item {
	r, err := jsonread.New(text)
	if err != nil {
		t.Fatal(err)
	}
	read, err := attr.ReadItem(r)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

const sample = `{"a":{"N":"1"},"b":{"L":[{"N":"0"},{"M":{"c":{"S":"deep"}}}]},"c":{"M":{"a":{"S":"x"},"b":{"SS":["p","q"]}}},"s":{"SS":["x","y"]}}`

var (
	names  = []expr.Name{{Placeholder: "#a", Name: "a"}, {Placeholder: "#odd", Name: "#odd"}}
	values = `{":n":{"N":"2"},":s":{"S":"x"},":l":{"L":[]},":set":{"SS":["x"]},":t":{"S":"SS"}}`
	tokens = []string{"a", "b", "c", "s", "#a", "#odd", "#undefined", ":n", ":s", ":l", ":set", ":t", ":undefined", ".", ".", "[", "]", "0", "1", "9", "(", ")", "(", ")", ",", ",",
		"=", "=", "<>", "<", "<=", ">", ">=", "+", "-", "AND", "OR", "NOT", "IN", "BETWEEN", "SET", "REMOVE", "ADD", "DELETE", "size", "attribute_exists", "attribute_type",
		"begins_with", "contains", "if_not_exists", "list_append", "?", ":", "#", "99999999999999999999"}
)

// sentences mixes true grammar with noise, so that both parsers and evaluators
// are reached.
var sentences = rapid.Custom(func(t *rapid.T) string {
	phrases := append([]string{"a = :n", "NOT (b[1].c = :s)", "size(s) > :n", "SET a = a + :n", "SET c.a = :s, b[9] = :l", "REMOVE b[0], c.b", "ADD s :set", "DELETE s :set",
		"SET b = list_append(b, :l)", "contains(s, :s)", "a BETWEEN :n AND :n", "a IN (:n, :s)", "c.a, b[1].c, s"}, tokens...)
	if rapid.Bool().Draw(t, "sound") {
		return rapid.SampledFrom(phrases[:13]).Draw(t, "phrase")
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(phrases), 1, 8).Draw(t, "words"), " ")
})

// Nothing that is written can make the language panic, fail otherwise than
// with a refusal, or change the item that it looks at.
func TestNoTextBreaksTheLanguage(t *testing.T) {
	var cache expr.Cache
	reached := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		for _, text := range rapid.SliceOfN(sentences, 40, 40).Draw(t, "texts") {
			for what, err := range attempts(t, &cache, text) {
				var refusal *attr.Invalid
				if err != nil && !errors.As(err, &refusal) {
					t.Fatalf("%s %q ends with %v", what, text, err)
				}
				if err == nil {
					reached[what]++
				}
			}
		}
	})
	for _, what := range []string{"condition", "update", "projection"} {
		if reached[what] == 0 {
			t.Errorf("no %s was ever taken", what)
		}
	}
}

// attempts uses a text as each kind of expression, and checks that the item it
// is used on stays as it is.
func attempts(t *rapid.T, cache *expr.Cache, text string) map[string]error {
	scope, err := expr.NewScope(names, item(t, values))
	if err != nil {
		t.Fatal(err)
	}
	subject := item(t, sample)
	condition, conditionErr := cache.Condition("ConditionExpression", &text, scope)
	if conditionErr == nil {
		condition.Holds(subject)
		condition.Holds(nil)
		condition.Names()
	}
	update, updateErr := cache.Update(&text, scope)
	if updateErr == nil {
		_, updateErr = update.Apply(subject)
		update.Projection().Of(subject)
	}
	projection, projectionErr := cache.Projection(&text, scope)
	if projectionErr == nil {
		projection.Of(subject)
	}
	_, keyErr := cache.KeyCondition(text, scope)
	if !subject.Equal(item(t, sample)) {
		t.Fatalf("%q changed the item to %v", text, subject)
	}
	return map[string]error{"condition": conditionErr, "update": updateErr, "projection": projectionErr, "key condition": keyErr}
}

// One parsed text serves many requests, each with its own placeholders.
func TestACachedExpressionIsBoundAnew(t *testing.T) {
	var cache expr.Cache
	text := "#x = :v"
	for name, want := range map[string]bool{"a": true, "b": false, "c": false, "#x": false} {
		scope, err := expr.NewScope([]expr.Name{{Placeholder: "#x", Name: name}}, item(t, `{":v":{"N":"1"}}`))
		if err != nil {
			t.Fatal(err)
		}
		condition, err := cache.Condition("ConditionExpression", &text, scope)
		if err != nil {
			t.Fatal(err)
		}
		if got := condition.Holds(item(t, sample)); got != want {
			t.Errorf("with #x = %s the condition is %v, want %v", name, got, want)
		}
		if err := scope.Unused(); err != nil {
			t.Error(err)
		}
	}
}

func TestAnAttributeMayBeNamedLikeAPlaceholder(t *testing.T) {
	var cache expr.Cache
	text := "SET #x = :v REMOVE #y ADD #z :v"
	scope, err := expr.NewScope([]expr.Name{{Placeholder: "#x", Name: "#y"}, {Placeholder: "#y", Name: "#x"}, {Placeholder: "#z", Name: "#z"}}, item(t, `{":v":{"N":"1"}}`))
	if err != nil {
		t.Fatal(err)
	}
	update, err := cache.Update(&text, scope)
	if err != nil {
		t.Fatal(err)
	}
	got, err := update.Apply(item(t, `{"#x":{"N":"5"},"#z":{"N":"5"}}`))
	if want := item(t, `{"#y":{"N":"1"},"#z":{"N":"6"}}`); err != nil || !got.Equal(want) {
		t.Errorf("the item becomes %v (%v), want %v", got, err, want)
	}
}

func TestReservedWordsNeedAPlaceholder(t *testing.T) {
	var cache expr.Cache
	scope, err := expr.NewScope(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"ABORT", "name", "Status", "zone", "TTL", "size", "shard", "owner", "timezone"} {
		if _, err := cache.Projection(&word, scope); err == nil {
			t.Errorf("%s is taken", word)
		}
	}
	for _, word := range []string{"pk", "due_shard", "attempt", "epoch", "lease_until", "jobname"} {
		if _, err := cache.Projection(&word, scope); err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
}
