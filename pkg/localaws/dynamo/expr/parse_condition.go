package expr

// The number of operands that each boolean function takes.
var conditionFunctions = map[string]int{
	"attribute_exists":     1,
	"attribute_not_exists": 1,
	"attribute_type":       2,
	"begins_with":          2,
	"contains":             2,
}

func parseCondition(section, text string) (*node, error) {
	p, err := newParser(section, text)
	if err != nil {
		return nil, err
	}
	tree, err := p.or()
	if err != nil {
		return nil, err
	}
	return tree, p.end()
}

func (p *parser) or() (*node, error) { return p.connective("OR", p.and) }

func (p *parser) and() (*node, error) { return p.connective("AND", p.not) }

func (p *parser) connective(word string, operand func() (*node, error)) (*node, error) {
	first, err := operand()
	if err != nil {
		return nil, err
	}
	joined := first
	for p.keyword(word) {
		if err := p.countOperator(); err != nil {
			return nil, err
		}
		kid, err := operand()
		if err != nil {
			return nil, err
		}
		if joined == first {
			joined = &node{op: word, kids: []*node{first}}
		}
		joined.kids = append(joined.kids, kid)
	}
	return joined, nil
}

func (p *parser) not() (*node, error) {
	if !p.keyword("NOT") {
		return p.primary()
	}
	if err := p.countOperator(); err != nil {
		return nil, err
	}
	kid, err := p.not()
	if err != nil {
		return nil, err
	}
	return &node{op: "NOT", kids: []*node{kid}}, nil
}

func (p *parser) primary() (*node, error) {
	if p.symbol("(") {
		return p.group()
	}
	if p.callAhead() && p.peek().text != "size" {
		return p.booleanCall()
	}
	left, err := p.conditionOperand()
	if err != nil {
		return nil, err
	}
	return p.comparison(left)
}

func (p *parser) group() (*node, error) {
	inner, err := p.or()
	if err != nil {
		return nil, err
	}
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	if inner.grouped {
		return nil, p.invalid("The expression has redundant parentheses;")
	}
	inner.grouped = true
	return inner, nil
}

func (p *parser) booleanCall() (*node, error) {
	name := p.peek().text
	want, known := conditionFunctions[name]
	switch {
	case name == "if_not_exists" || name == "list_append":
		return nil, p.invalid("The function is not allowed in a condition expression; function: %s", name)
	case !known:
		return nil, p.invalid("Invalid function name; function: %s", name)
	}
	args, err := p.arguments(p.conditionOperand)
	if err != nil {
		return nil, err
	}
	if len(args) != want {
		return nil, p.wrongCount(name, len(args))
	}
	switch {
	case name == "contains" || name == "begins_with":
		if sameOperand(args[0], args[1]) {
			return nil, p.notDistinct(name, args[0])
		}
	case args[0].kind != operandPath:
		return nil, p.invalid("Operator or function requires a document path; operator or function: %s", name)
	}
	return &node{op: name, operands: args}, nil
}

func (p *parser) arguments(one func() (operand, error)) ([]operand, error) {
	if err := p.countOperator(); err != nil {
		return nil, err
	}
	p.next() // the name
	p.next() // the parenthesis
	var args []operand
	if p.symbol(")") {
		return nil, p.syntax()
	}
	for {
		arg, err := one()
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
		if p.symbol(")") {
			return args, nil
		}
		if err := p.expect(","); err != nil {
			return nil, err
		}
	}
}

func (p *parser) conditionOperand() (operand, error) {
	if p.peek().kind == tokenValue {
		return operand{kind: operandValue, value: p.next().text}, nil
	}
	if !p.callAhead() {
		target, err := p.path()
		return operand{kind: operandPath, path: target}, err
	}
	name := p.peek().text
	switch _, boolean := conditionFunctions[name]; {
	case boolean:
		return operand{}, p.invalid("The function is not allowed to be used this way in an expression; function: %s", name)
	case name == "if_not_exists" || name == "list_append":
		return operand{}, p.invalid("The function is not allowed in a condition expression; function: %s", name)
	case name != "size":
		return operand{}, p.invalid("Invalid function name; function: %s", name)
	}
	args, err := p.arguments(p.conditionOperand)
	if err != nil {
		return operand{}, err
	}
	if len(args) != 1 {
		return operand{}, p.wrongCount(name, len(args))
	}
	if args[0].kind == operandCall {
		return operand{}, p.invalid("The function is not allowed to be used this way in an expression; function: %s", name)
	}
	return operand{kind: operandCall, call: name, args: args}, nil
}

func (p *parser) wrongCount(name string, count int) error {
	return p.invalid("Incorrect number of operands for operator or function; operator or function: %s, number of operands: %d", name, count)
}
