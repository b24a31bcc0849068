package expr

import (
	"slices"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
)

// Update is a bound update expression. A nil *Update changes nothing.
type Update struct {
	actions []action // paths resolved
	scope   *Scope
}

// The wordings of updates that do not fit the item.
const (
	wrongOperand = "An operand in the update expression has an incorrect data type"
	missingRead  = "The provided expression refers to an attribute that does not exist in the item"
	wrongPath    = "The document path provided in the update expression is invalid for update"
)

// Targets lists the top-level attributes that the update writes.
func (u *Update) Targets() []string {
	if u == nil {
		return nil
	}
	names := make([]string, len(u.actions))
	for i, a := range u.actions {
		names[i] = a.path[0].name
	}
	return names
}

// Apply returns item as the update leaves it. All reads see item as it was.
func (u *Update) Apply(item attr.Item) (attr.Item, error) {
	if u == nil {
		return item, nil
	}
	changed := append(make(attr.Item, 0, len(item)+len(u.actions)), item...)
	for _, a := range u.actions {
		if err := u.perform(a, item, &changed); err != nil {
			return nil, err
		}
	}
	return changed, nil
}

// perform carries one action out on changed, which is the caller's own copy of
// the item's top level; what lies deeper is shared with before.
func (u *Update) perform(a action, before attr.Item, changed *attr.Item) error {
	switch a.section {
	case "SET":
		value, err := u.scope.evaluate(a.value, before)
		if err != nil {
			return err
		}
		return place(changed, a.path, value)
	case "REMOVE":
		return displace(changed, a.path)
	}
	current := u.scope.lookup(before, a.path)
	given := u.scope.value(a.value.value)
	if a.section == "ADD" {
		value, err := add(current, given)
		if err != nil {
			return err
		}
		return place(changed, a.path, value)
	}
	return subtract(a.path, changed, current, given)
}

func subtract(p path, changed *attr.Item, current, given attr.Value) error {
	if current.Kind == attr.Absent {
		return nil
	}
	if current.Kind != given.Kind {
		return &attr.Invalid{Message: wrongOperand}
	}
	left := slices.DeleteFunc(slices.Clone(current.List), func(member attr.Value) bool {
		return slices.ContainsFunc(given.List, member.Equal)
	})
	if len(left) == 0 {
		return displace(changed, p)
	}
	return place(changed, p, attr.Value{Kind: current.Kind, List: left})
}

func add(current, given attr.Value) (attr.Value, error) {
	switch {
	case current.Kind == attr.Absent:
		return given, nil
	case current.Kind != given.Kind:
		return attr.Value{}, &attr.Invalid{Message: wrongOperand}
	case given.Kind == attr.N:
		return attr.Add(current, given)
	}
	union := slices.Clone(current.List)
	for _, member := range given.List {
		if !slices.ContainsFunc(current.List, member.Equal) {
			union = append(union, member)
		}
	}
	return attr.Value{Kind: current.Kind, List: attr.SortSet(union)}, nil
}

// evaluate computes the right side of a SET.
func (s *Scope) evaluate(o operand, item attr.Item) (attr.Value, error) {
	switch {
	case o.kind == operandValue:
		return s.value(o.value), nil
	case o.kind == operandPath:
		value := s.lookup(item, o.path)
		if value.Kind == attr.Absent {
			return value, &attr.Invalid{Message: missingRead}
		}
		return value, nil
	case o.call == "if_not_exists":
		if value := s.lookup(item, o.args[0].path); value.Kind != attr.Absent {
			return value, nil
		}
		return s.evaluate(o.args[1], item)
	}
	left, err := s.evaluate(o.args[0], item)
	if err != nil {
		return left, err
	}
	right, err := s.evaluate(o.args[1], item)
	if err != nil {
		return right, err
	}
	return combine(o.call, left, right)
}

func combine(call string, left, right attr.Value) (attr.Value, error) {
	want := attr.N
	if call == "list_append" {
		want = attr.L
	}
	if left.Kind != want || right.Kind != want {
		return attr.Value{}, &attr.Invalid{Message: wrongOperand}
	}
	switch call {
	case "+":
		return attr.Add(left, right)
	case "-":
		return attr.Sub(left, right)
	default:
		return attr.Value{Kind: attr.L, List: slices.Concat(left.List, right.List)}, nil
	}
}
