package expr

import (
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
)

const keySection = "KeyConditionExpression"

// KeyTerm is one condition on one key attribute: Op is "=", "<", "<=", ">",
// ">=", "BETWEEN" (two values) or "begins_with".
type KeyTerm struct {
	Name   string
	Op     string
	Values []attr.Value
}

// keyTerms takes a key condition apart: comparisons of key attributes with
// values, joined by AND.
func (s *Scope) keyTerms(tree *node) ([]KeyTerm, error) {
	if err := s.check(keySection, tree); err != nil {
		return nil, err
	}
	terms, err := s.collectTerms(tree, nil)
	if err != nil {
		return nil, err
	}
	for i := range terms {
		for j := range i {
			if terms[i].Name == terms[j].Name {
				return nil, invalidf(keySection, "KeyConditionExpressions must only contain one condition per key")
			}
		}
	}
	return terms, nil
}

func (s *Scope) collectTerms(n *node, terms []KeyTerm) ([]KeyTerm, error) {
	switch n.op {
	case "AND":
		for _, kid := range n.kids {
			var err error
			if terms, err = s.collectTerms(kid, terms); err != nil {
				return nil, err
			}
		}
		return terms, nil
	case "=", "<", "<=", ">", ">=", "BETWEEN", "begins_with":
		term, err := s.keyTerm(n)
		return append(terms, term), err
	default:
		return nil, invalidf(keySection, "Invalid operator used in KeyConditionExpression: %s", n.op)
	}
}

func (s *Scope) keyTerm(n *node) (KeyTerm, error) {
	first := n.operands[0]
	if first.kind != operandPath {
		return KeyTerm{}, invalidf(keySection, "Invalid condition in KeyConditionExpression: %s operator must have the key attribute as its first operand", n.op)
	}
	if len(first.path) > 1 {
		return KeyTerm{}, invalidf(keySection, "KeyConditionExpressions cannot have conditions on nested attributes")
	}
	term := KeyTerm{Name: s.name(first.path[0]), Op: n.op}
	for _, o := range n.operands[1:] {
		if o.kind != operandValue {
			return KeyTerm{}, invalidf(keySection, "Invalid condition in KeyConditionExpression: multiple attribute names used in one condition")
		}
		term.Values = append(term.Values, s.value(o.value))
	}
	return term, nil
}
