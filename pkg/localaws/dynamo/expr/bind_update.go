package expr

import (
	"cmp"
	"slices"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
)

const updateSection = "UpdateExpression"

// bindUpdate checks the actions against the scope and brings them into the
// order in which they are carried out: removals last, and of a list from its
// end, because indexes mean the list as it was.
func (s *Scope) bindUpdate(actions []action) (*Update, error) {
	bound := slices.Clone(actions)
	paths := make([]path, len(bound))
	for i := range bound {
		if err := s.checkAction(bound[i]); err != nil {
			return nil, err
		}
		bound[i].path = s.resolve(bound[i].path)
		paths[i] = bound[i].path
	}
	if err := checkDisjoint(updateSection, paths); err != nil {
		return nil, err
	}
	slices.SortStableFunc(bound, inOrder)
	return &Update{actions: bound, scope: s}, nil
}

func inOrder(a, b action) int {
	removeA, removeB := a.section == "REMOVE", b.section == "REMOVE"
	switch {
	case removeA && removeB:
		return comparePaths(b.path, a.path)
	case removeA:
		return 1
	case removeB:
		return -1
	}
	return comparePaths(a.path, b.path)
}

func comparePaths(a, b path) int {
	return slices.CompareFunc(a, b, func(x, y element) int {
		return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.index, y.index))
	})
}

func (s *Scope) checkAction(a action) error {
	if err := s.usePath(updateSection, a.path); err != nil {
		return err
	}
	switch a.section {
	case "SET":
		if err := s.useOperand(updateSection, a.value); err != nil {
			return err
		}
		return s.checkCall(a.value)
	case "ADD", "DELETE":
		if err := s.useValue(updateSection, a.value.value); err != nil {
			return err
		}
		kind := s.value(a.value.value).Kind
		if !kind.IsSet() && (a.section == "DELETE" || kind != attr.N) {
			return invalidf(updateSection, "Incorrect operand type for operator or function; operator: %s, operand type: %s, typeSet: ALLOWED_FOR_%s_OPERAND",
				a.section, longNames[kind], a.section)
		}
	}
	return nil
}

// checkCall refuses literals whose type the function cannot take.
func (s *Scope) checkCall(o operand) error {
	if o.kind != operandCall {
		return nil
	}
	for _, arg := range o.args {
		if err := s.checkCall(arg); err != nil {
			return err
		}
	}
	switch o.call {
	case "+", "-":
		return s.literals(updateSection, o.call, o.args, func(k attr.Kind) bool { return k == attr.N })
	case "list_append":
		return s.literals(updateSection, o.call, o.args, func(k attr.Kind) bool { return k == attr.L })
	}
	return nil
}

// longNames are the types as this one message calls them.
var longNames = map[attr.Kind]string{
	attr.S: "STRING", attr.N: "NUMBER", attr.B: "BINARY", attr.BOOL: "BOOLEAN", attr.NULL: "NULL", attr.M: "MAP", attr.L: "LIST",
	attr.SS: "SS", attr.NS: "NS", attr.BS: "BS",
}
