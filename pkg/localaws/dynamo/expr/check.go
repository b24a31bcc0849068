package expr

import (
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
)

// check binds the tree to the scope: every placeholder must be defined, and
// literal operands must have types that their operator takes.
func (s *Scope) check(section string, n *node) error {
	for _, kid := range n.kids {
		if err := s.check(section, kid); err != nil {
			return err
		}
	}
	for _, o := range n.operands {
		if err := s.useOperand(section, o); err != nil {
			return err
		}
		if err := s.checkSize(section, o); err != nil {
			return err
		}
	}
	switch n.op {
	case "<", "<=", ">", ">=":
		return s.literals(section, n.op, n.operands, isOrdered)
	case "BETWEEN":
		return s.checkBetween(section, n)
	case "begins_with":
		return s.literals(section, n.op, n.operands, func(k attr.Kind) bool { return k == attr.S || k == attr.B })
	case "attribute_type":
		return s.checkAttributeType(section, n.operands[1])
	}
	return nil
}

func (s *Scope) literals(section, op string, operands []operand, allowed func(attr.Kind) bool) error {
	for _, o := range operands {
		if o.kind != operandValue {
			continue
		}
		if kind := s.value(o.value).Kind; !allowed(kind) {
			return wrongType(section, op, kind)
		}
	}
	return nil
}

func isOrdered(k attr.Kind) bool { return k == attr.S || k == attr.N || k == attr.B }

func wrongType(section, op string, kind attr.Kind) error {
	return invalidf(section, "Incorrect operand type for operator or function; operator or function: %s, operand type: %s", op, kind)
}

func (s *Scope) checkSize(section string, o operand) error {
	if o.kind != operandCall || o.call != "size" {
		return nil
	}
	return s.literals(section, "size", o.args, func(k attr.Kind) bool {
		return k != attr.N && k != attr.BOOL && k != attr.NULL
	})
}

func (s *Scope) checkBetween(section string, n *node) error {
	if err := s.literals(section, n.op, n.operands, isOrdered); err != nil {
		return err
	}
	low, high := n.operands[1], n.operands[2]
	if low.kind != operandValue || high.kind != operandValue {
		return nil
	}
	from, to := s.value(low.value), s.value(high.value)
	order, ordered := from.Compare(to)
	switch {
	case !ordered:
		return invalidf(section, "The BETWEEN operator requires same data type for lower and upper bounds; "+
			"lower bound operand: %s, upper bound operand: %s", show(from), show(to))
	case order > 0:
		return invalidf(section, "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; "+
			"lower bound operand: %s, upper bound operand: %s", show(from), show(to))
	}
	return nil
}

func show(v attr.Value) string { return fmt.Sprintf("AttributeValue: {%s:%s}", v.Kind, v.Text) }

func (s *Scope) checkAttributeType(section string, o operand) error {
	if o.kind != operandValue {
		return invalidf(section, "Operator or function requires a literal operand; operator or function: attribute_type")
	}
	value := s.value(o.value)
	if value.Kind != attr.S {
		return wrongType(section, "attribute_type", value.Kind)
	}
	if attr.KindOf(value.Text) == attr.Absent {
		return invalidf(section, "Invalid attribute type name found; type: %s, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}", value.Text)
	}
	return nil
}
