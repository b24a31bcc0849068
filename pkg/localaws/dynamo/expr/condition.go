package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
)

// Condition is a bound condition or filter expression. A nil *Condition holds
// for every item.
type Condition struct {
	tree  *node
	scope *Scope
}

// Holds evaluates the condition; a nil item is one that does not exist.
func (c *Condition) Holds(item attr.Item) bool {
	return c == nil || c.scope.holds(c.tree, item)
}

// Names lists the top-level attributes that the condition reads.
func (c *Condition) Names() []string {
	if c == nil {
		return nil
	}
	return c.scope.topNames(c.tree, nil)
}

func (s *Scope) topNames(n *node, names []string) []string {
	for _, kid := range n.kids {
		names = s.topNames(kid, names)
	}
	for _, o := range n.operands {
		if o.kind == operandCall {
			o = o.args[0]
		}
		if o.kind == operandPath {
			names = append(names, s.name(o.path[0]))
		}
	}
	return names
}

func (s *Scope) holds(n *node, item attr.Item) bool {
	switch n.op {
	case "AND":
		return !slices.ContainsFunc(n.kids, func(kid *node) bool { return !s.holds(kid, item) })
	case "OR":
		return slices.ContainsFunc(n.kids, func(kid *node) bool { return s.holds(kid, item) })
	case "NOT":
		return !s.holds(n.kids[0], item)
	}
	first := s.operand(n.operands[0], item)
	switch n.op {
	case "attribute_exists":
		return first.Kind != attr.Absent
	case "attribute_not_exists":
		return first.Kind == attr.Absent
	case "IN":
		return first.Kind != attr.Absent && slices.ContainsFunc(n.operands[1:], func(o operand) bool {
			return first.Equal(s.operand(o, item))
		})
	}
	second := s.operand(n.operands[1], item)
	switch n.op {
	case "attribute_type":
		return first.Kind != attr.Absent && first.Kind.String() == second.Text
	case "begins_with":
		return first.Kind == second.Kind && (first.Kind == attr.S || first.Kind == attr.B) && strings.HasPrefix(first.Text, second.Text)
	case "contains":
		return contains(first, second)
	case "BETWEEN":
		return compares(">=", first, second) && compares("<=", first, s.operand(n.operands[2], item))
	}
	return compares(n.op, first, second)
}

// compares is false for values of different types, and <> true; so is <> when
// one of the two is absent.
func compares(op string, a, b attr.Value) bool {
	if op == "<>" {
		return !a.Equal(b)
	}
	if a.Kind == attr.Absent || b.Kind == attr.Absent {
		return false
	}
	if op == "=" {
		return a.Equal(b)
	}
	order, ordered := a.Compare(b)
	if !ordered {
		return false
	}
	switch op {
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	default:
		return order >= 0
	}
}

func contains(whole, part attr.Value) bool {
	switch {
	case whole.Kind == attr.S || whole.Kind == attr.B:
		return part.Kind == whole.Kind && strings.Contains(whole.Text, part.Text)
	case whole.Kind == attr.L || whole.Kind.IsSet():
		return slices.ContainsFunc(whole.List, part.Equal)
	default:
		return false
	}
}

func (s *Scope) operand(o operand, item attr.Item) attr.Value {
	switch o.kind {
	case operandPath:
		return s.lookup(item, o.path)
	case operandValue:
		return s.value(o.value)
	case operandCall:
	}
	return size(s.operand(o.args[0], item))
}

// size is Absent for types that have none, so that comparisons are false.
func size(v attr.Value) attr.Value {
	var n int
	switch v.Kind {
	case attr.S:
		n = v.Runes()
	case attr.B:
		n = len(v.Text)
	case attr.M:
		n = len(v.Map)
	case attr.L, attr.SS, attr.NS, attr.BS:
		n = len(v.List)
	case attr.Absent, attr.N, attr.BOOL, attr.NULL:
		return attr.Value{}
	}
	return attr.Value{Kind: attr.N, Text: strconv.Itoa(n)}
}
