package attr

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/jsonread"
)

// maxLevels is how deep an item may nest.
const maxLevels = 32

// ReadItem reads {"name":{"S":"value"},…}. Its errors are *jsonread.Error for
// what is not such JSON and *Invalid for values that the service refuses.
func ReadItem(r *jsonread.Reader) (Item, error) { return readItem(r, 1) }

func readItem(r *jsonread.Reader, level int) (Item, error) {
	item := make(Item, 0, 8)
	err := r.Object(func(name string) error {
		if len(name) > 65535 {
			return &Invalid{"One or more parameter values were invalid: Attribute name is too large, must be less than 65536 bytes"}
		}
		value, err := readValue(r, level)
		item = append(item, Attribute{name, value})
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(item, func(a, b Attribute) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(item); i++ {
		if item[i].Name == item[i-1].Name {
			return nil, &Invalid{"One or more parameter values were invalid: Duplicate attribute name: " + item[i].Name}
		}
	}
	return item, nil
}

// ReadValue reads {"S":"value"}; see ReadItem.
func ReadValue(r *jsonread.Reader) (Value, error) { return readValue(r, 1) }

func readValue(r *jsonread.Reader, level int) (Value, error) {
	if level > maxLevels {
		return Value{}, &Invalid{"Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit"}
	}
	var value Value
	count := 0
	err := r.Object(func(name string) error {
		count++
		kind := KindOf(name)
		if kind == Absent {
			return &Invalid{"localaws: unknown attribute type " + name + " in an AttributeValue"}
		}
		read, err := readKind(r, kind, level)
		value = read
		return err
	})
	switch {
	case err != nil:
		return Value{}, err
	case count == 0:
		return Value{}, &Invalid{"Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"}
	case count > 1:
		return Value{}, &Invalid{"Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes"}
	}
	return value, nil
}

func readKind(r *jsonread.Reader, kind Kind, level int) (Value, error) {
	switch kind {
	case BOOL:
		flag, err := r.Bool()
		return Value{Kind: BOOL, Bool: flag}, err
	case NULL:
		flag, err := r.Bool()
		if err == nil && !flag {
			err = &Invalid{"One or more parameter values were invalid: Null attribute value types must have the value of true"}
		}
		return Value{Kind: NULL}, err
	case M:
		fields, err := readItem(r, level+1)
		return Value{Kind: M, Map: fields}, err
	case L:
		list := []Value{}
		err := r.Array(func() error {
			element, err := readValue(r, level+1)
			list = append(list, element)
			return err
		})
		return Value{Kind: L, List: list}, err
	case SS, NS, BS:
		return readSet(r, kind)
	case S, N, B, Absent:
	}
	return readScalar(r, kind)
}

func readScalar(r *jsonread.Reader, kind Kind) (Value, error) {
	text, err := r.String()
	if err != nil {
		return Value{}, err
	}
	switch {
	case kind == N && text == "":
		return Value{}, &Invalid{"The parameter cannot be converted to a numeric value"}
	case kind == N:
		return Number(text)
	case kind == B:
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return Value{}, &Invalid{"One or more parameter values were invalid: a binary value is not valid base64"}
		}
		return Value{Kind: B, Text: string(raw)}, nil
	default:
		return Value{Kind: S, Text: text}, nil
	}
}

func readSet(r *jsonread.Reader, kind Kind) (Value, error) {
	members := []Value{}
	var given []string
	err := r.Array(func() error {
		member, err := readScalar(r, kind.Member())
		members = append(members, member)
		given = append(given, member.Text)
		return err
	})
	if err != nil {
		return Value{}, err
	}
	if len(members) == 0 {
		return Value{}, &Invalid{emptySets[kind]}
	}
	members = SortSet(members)
	for i := 1; i < len(members); i++ {
		if members[i].Text == members[i-1].Text {
			return Value{}, &Invalid{duplicates(kind, given)}
		}
	}
	return Value{Kind: kind, List: members}, nil
}

// SortSet brings members into their order, in place.
func SortSet(members []Value) []Value {
	slices.SortFunc(members, func(a, b Value) int {
		order, _ := a.Compare(b)
		return order
	})
	return members
}

// emptySets are the service's wordings, spaces and grammar included.
var emptySets = map[Kind]string{
	SS: "One or more parameter values were invalid: An string set  may not be empty",
	NS: "One or more parameter values were invalid: An number set  may not be empty",
	BS: "One or more parameter values were invalid: Binary sets should not be empty",
}

func duplicates(kind Kind, given []string) string {
	if kind == SS {
		return "One or more parameter values were invalid: Input collection [" + strings.Join(given, ", ") + "] contains duplicates."
	}
	return "Input collection contains duplicates"
}
