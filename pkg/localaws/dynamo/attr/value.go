// Package attr is the attribute values of DynamoDB: their types, their
// numbers, their sizes, their JSON form on the wire, their compact form in the
// store and their order as keys. Everything here is pure. Values are shared
// freely and must never be changed in place.
package attr

import (
	"slices"
	"strings"
)

// Kind is the type of a value.
type Kind uint8

// The ten types, and Absent for "no value".
const (
	Absent Kind = iota
	S
	N
	B
	BOOL
	NULL
	M
	L
	SS
	NS
	BS
)

var kindNames = [...]string{"", "S", "N", "B", "BOOL", "NULL", "M", "L", "SS", "NS", "BS"}

// String is the name on the wire, such as "SS".
func (k Kind) String() string { return kindNames[k] }

// KindOf finds a type by its name on the wire; Absent when there is none.
func KindOf(name string) Kind {
	for kind, known := range kindNames {
		if known == name {
			return Kind(kind)
		}
	}
	return Absent
}

// IsSet says whether values of the type are sets.
func (k Kind) IsSet() bool { return k == SS || k == NS || k == BS }

// Member is the type of a set's members.
func (k Kind) Member() Kind { return members[k] }

var members = [...]Kind{SS: S, NS: N, BS: B}

// Value is one attribute value. The zero value is Absent.
type Value struct {
	Kind Kind
	Bool bool    // BOOL
	Text string  // S; N in canonical decimal text; B as raw bytes
	List []Value // L; the members of a set, sorted by their order
	Map  Item    // M
}

// Item is attributes sorted by name.
type Item []Attribute

// Attribute is a name and its value.
type Attribute struct {
	Name  string
	Value Value
}

func (item Item) find(name string) (int, bool) {
	if len(item) <= 12 {
		for i := range item {
			if item[i].Name >= name {
				return i, item[i].Name == name
			}
		}
		return len(item), false
	}
	return slices.BinarySearchFunc(item, name, func(a Attribute, name string) int {
		return strings.Compare(a.Name, name)
	})
}

// Get returns the value of name, Absent when there is none.
func (item Item) Get(name string) Value {
	if i, found := item.find(name); found {
		return item[i].Value
	}
	return Value{}
}

// With returns a copy of item in which name has the value.
func (item Item) With(name string, value Value) Item {
	i, found := item.find(name)
	if found {
		changed := slices.Clone(item)
		changed[i].Value = value
		return changed
	}
	changed := make(Item, 0, len(item)+1)
	changed = append(changed, item[:i]...)
	changed = append(changed, Attribute{name, value})
	return append(changed, item[i:]...)
}

// Without returns a copy of item that lacks name.
func (item Item) Without(name string) Item {
	i, found := item.find(name)
	if !found {
		return item
	}
	changed := make(Item, 0, len(item)-1)
	changed = append(changed, item[:i]...)
	return append(changed, item[i+1:]...)
}

// Set gives name the value within item itself, which must be the caller's own
// copy.
func (item *Item) Set(name string, value Value) {
	i, found := item.find(name)
	if !found {
		*item = slices.Insert(*item, i, Attribute{Name: name})
	}
	(*item)[i].Value = value
}

// Remove takes name out of item itself, which must be the caller's own copy.
func (item *Item) Remove(name string) {
	if i, found := item.find(name); found {
		*item = slices.Delete(*item, i, i+1)
	}
}

// Pick returns the attributes of item whose names are listed, in name order.
func (item Item) Pick(names []string) Item {
	picked := make(Item, 0, len(names))
	for _, attribute := range item {
		if slices.Contains(names, attribute.Name) {
			picked = append(picked, attribute)
		}
	}
	return picked
}

// Equal compares values deeply. Numbers are canonical and sets sorted, so
// texts decide.
func (v Value) Equal(other Value) bool {
	if v.Kind != other.Kind || v.Bool != other.Bool || v.Text != other.Text {
		return false
	}
	return slices.EqualFunc(v.List, other.List, Value.Equal) && v.Map.Equal(other.Map)
}

// Equal compares items deeply.
func (item Item) Equal(other Item) bool {
	return slices.EqualFunc(item, other, func(a, b Attribute) bool {
		return a.Name == b.Name && a.Value.Equal(b.Value)
	})
}

// Compare orders two values of the same type S, N or B. ok is false for any
// other pair.
func (v Value) Compare(other Value) (order int, ok bool) {
	if v.Kind != other.Kind {
		return 0, false
	}
	if v.Kind == N {
		return compareNumbers(v.Text, other.Text), true
	}
	if v.Kind == S || v.Kind == B {
		return strings.Compare(v.Text, other.Text), true
	}
	return 0, false
}

// Depth counts nested levels: 1 for a scalar.
func (v Value) Depth() int {
	deepest := 0
	if !v.Kind.IsSet() {
		for _, element := range v.List {
			deepest = max(deepest, element.Depth())
		}
	}
	for _, attribute := range v.Map {
		deepest = max(deepest, attribute.Value.Depth())
	}
	return deepest + 1
}
