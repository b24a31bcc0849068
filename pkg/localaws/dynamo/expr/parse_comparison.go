package expr

import "slices"

// maxIn is the number of values that IN takes.
const maxIn = 100

// comparison parses what follows the left operand.
func (p *parser) comparison(left operand) (*node, error) {
	t := p.peek()
	if t.kind == tokenSymbol && slices.Contains([]string{"=", "<>", "<", "<=", ">", ">="}, t.text) {
		p.next()
		return p.comparator(t.text, left)
	}
	if p.keyword("BETWEEN") {
		return p.between(left)
	}
	if p.keyword("IN") {
		return p.in(left)
	}
	if left.kind == operandCall && (t.kind == tokenEnd || t.kind == tokenWord || t.text == ")") {
		return nil, p.invalid("The function is not allowed to be used this way in an expression; function: %s", left.call)
	}
	return nil, p.syntax()
}

func (p *parser) comparator(op string, left operand) (*node, error) {
	if err := p.countOperator(); err != nil {
		return nil, err
	}
	right, err := p.conditionOperand()
	if err != nil {
		return nil, err
	}
	if sameOperand(left, right) {
		return nil, p.notDistinct(op, left)
	}
	return &node{op: op, operands: []operand{left, right}}, nil
}

func (p *parser) between(left operand) (*node, error) {
	if err := p.countOperator(); err != nil {
		return nil, err
	}
	low, err := p.conditionOperand()
	if err != nil {
		return nil, err
	}
	if !p.keyword("AND") {
		return nil, p.syntax()
	}
	high, err := p.conditionOperand()
	if err != nil {
		return nil, err
	}
	if sameOperand(left, low) || sameOperand(left, high) {
		return nil, p.notDistinct("BETWEEN", left)
	}
	return &node{op: "BETWEEN", operands: []operand{left, low, high}}, nil
}

func (p *parser) in(left operand) (*node, error) {
	if err := p.countOperator(); err != nil {
		return nil, err
	}
	if err := p.expect("("); err != nil {
		return nil, err
	}
	operands := []operand{left}
	for {
		choice, err := p.conditionOperand()
		if err != nil {
			return nil, err
		}
		if sameOperand(left, choice) {
			return nil, p.notDistinct("IN", left)
		}
		operands = append(operands, choice)
		if p.symbol(")") {
			break
		}
		if err := p.expect(","); err != nil {
			return nil, err
		}
	}
	if len(operands)-1 > maxIn {
		return nil, p.wrongCount("IN", len(operands))
	}
	return &node{op: "IN", operands: operands}, nil
}

func (p *parser) notDistinct(op string, first operand) error {
	return p.invalid("The first operand must be distinct from the remaining operands for this operator or function; "+
		"operator: %s, first operand: %s", op, first.path)
}

// sameOperand is about paths: comparing an attribute with itself is a mistake.
func sameOperand(a, b operand) bool {
	return a.kind == operandPath && b.kind == operandPath && slices.Equal(a.path, b.path)
}
