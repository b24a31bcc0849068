package dynamo

import (
	"maps"
	"slices"
	"strconv"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
)

// object writes one JSON object, member by member, at the end of text.
type object struct {
	text []byte
	more bool
}

func newObject() *object {
	o := &object{text: make([]byte, 0, 512)}
	o.open()
	return o
}

func (o *object) open() { o.text = append(o.text, '{') }

func (o *object) close() []byte {
	o.text = append(o.text, '}')
	return o.text
}

// member writes a name; the caller appends the value to text.
func (o *object) member(name string) {
	if o.more {
		o.text = append(o.text, ',')
	}
	o.more = true
	o.text = attr.AppendString(o.text, name)
	o.text = append(o.text, ':')
}

func (o *object) item(name string, item attr.Item) {
	o.member(name)
	o.text = item.AppendJSON(o.text)
}

func (o *object) int(name string, n int) {
	o.member(name)
	o.text = strconv.AppendInt(o.text, int64(n), 10)
}

func (o *object) items(name string, items []attr.Item) {
	o.member(name)
	o.text = append(o.text, '[')
	for i, item := range items {
		if i > 0 {
			o.text = append(o.text, ',')
		}
		o.text = item.AppendJSON(o.text)
	}
	o.text = append(o.text, ']')
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
