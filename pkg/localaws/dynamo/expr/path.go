package expr

import (
	"strconv"
	"strings"
)

// path leads to a part of an item: a name, then names (of map entries) and
// indexes (of list elements).
type path []element

// element is a name, or an index when the name is empty. In a parsed tree the
// name may be a #placeholder; bound paths hold real names, which may begin
// with # themselves.
type element struct {
	name        string
	placeholder bool
	index       int
}

func (e element) isIndex() bool { return e.name == "" }

// String renders a path as the service does in messages: [a, [0], b].
func (p path) String() string {
	parts := make([]string, len(p))
	for i, e := range p {
		parts[i] = e.name
		if e.isIndex() {
			parts[i] = "[" + strconv.Itoa(e.index) + "]"
		}
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// checkDisjoint refuses two paths of which one contains the other, and two that
// disagree on whether a place is a list or a map.
func checkDisjoint(section string, paths []path) error {
	for i, one := range paths {
		for _, two := range paths[:i] {
			if err := checkPair(section, two, one); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkPair(section string, one, two path) error {
	for i := 0; i < len(one) && i < len(two); i++ {
		if one[i] == two[i] {
			continue
		}
		if one[i].isIndex() != two[i].isIndex() {
			return invalidf(section, "Two document paths conflict with each other; "+
				"must remove or rewrite one of these paths; path one: %s, path two: %s", one, two)
		}
		return nil
	}
	return invalidf(section, "Two document paths overlap with each other; "+
		"must remove or rewrite one of these paths; path one: %s, path two: %s", one, two)
}
