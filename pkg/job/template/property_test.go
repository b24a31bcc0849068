package template_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/belfry-scheduler/belfry/pkg/job/template"
)

// someJSON draws a document of any shape whose strings hold anything.
func someJSON(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Map(rapid.IntRange(-1000, 1000), func(n int) any { return float64(n) }),
		rapid.Just[any](nil), rapid.Just[any](true))
	if depth == 0 {
		return leaf
	}
	inner := someJSON(depth - 1)
	return rapid.OneOf(leaf, rapid.Map(rapid.SliceOfN(inner, 0, 4), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(rapid.String(), inner, 0, 4), func(m map[string]any) any { return m }))
}

func TestADocumentWithoutTemplatesStaysAsItIsByteForByte(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		document, err := json.MarshalIndent(someJSON(3).Draw(t, "document"), "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		document = bytes.ReplaceAll(document, []byte("{{"), []byte("{-"))
		if !json.Valid(document) {
			return
		}
		got, err := template.Payload(document, facts())
		if err != nil || !bytes.Equal(got, document) {
			t.Fatalf("%s\nbecame %s, %v", document, got, err)
		}
	})
}

// Whatever a value holds, in a document it is one string, or the value itself.
func TestValuesCannotLeaveTheirPlaceInADocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := someJSON(2).Draw(t, "value")
		written, err := json.Marshal(value)
		if err != nil || bytes.Contains(written, []byte("{{")) || bytes.Contains(written, []byte(`\u007b`)) || value == nil {
			return
		}
		around := rapid.StringMatching(`[ -z|~\n"\\]{0,10}`).Draw(t, "around")
		quoted, _ := json.Marshal(around + "{{ payload.v }}" + around)
		got, err := template.Payload(json.RawMessage(`{"v":`+string(written)+`,"whole":"{{ payload.v | json }}","within":`+string(quoted)+`}`), facts())
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		var read struct {
			Whole  any
			Within string
		}
		if err := json.Unmarshal(got, &read); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		text, is := value.(string)
		if !is {
			text = string(written)
		}
		if !reflect.DeepEqual(read.Whole, value) || is && read.Within != around+text+around {
			t.Fatalf("%s became %s", written, got)
		}
	})
}

func TestNothingThatIsFilledInIsReadAgain(t *testing.T) {
	f := facts()
	f.Job = "{{ tenant }}"
	parsed, err := template.Parse("{{ job }}{{ '{{ job }}' }}")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := parsed.Render(f, nil); err != nil || got != "{{ tenant }}{{ job }}" {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzTemplates(f *testing.F) {
	for _, text := range []string{"{{ scheduled_time | date '%F' }}", "{{ payload.order.items.1 | default \"a\\\"\" | json }}", "{{ interval_start | default interval_end | add '-1d2h' | utc }}", "{{ '{{' }}", "a {{", "{{ job | | }}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := template.Parse(text)
		var refused *template.Error
		if err != nil {
			if !errors.As(err, &refused) || refused.Message == "" || refused.Fix == "" || len(err.Error()) > 2000 {
				t.Fatalf("%q is refused with %v", text, err)
			}
			return
		}
		got, err := parsed.Render(facts(), nil)
		if err != nil && !errors.As(err, &refused) || len(got) > template.MaxOutput {
			t.Fatalf("%q gives %d bytes, %v", text, len(got), err)
		}
		if !template.Has(text) && got != text {
			t.Fatalf("%q became %q", text, got)
		}
		document, err := json.Marshal(map[string]string{"a": text})
		if err != nil || strings.Contains(text, "payload") {
			return
		}
		if filled, err := template.Payload(document, facts()); err == nil && !json.Valid(filled) {
			t.Fatalf("%q in a document gives %s", text, filled)
		}
	})
}
