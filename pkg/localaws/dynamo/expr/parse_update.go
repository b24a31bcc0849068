package expr

import (
	"slices"
	"strings"
)

func parseUpdate(text string) ([]action, error) {
	p, err := newParser("UpdateExpression", text)
	if err != nil {
		return nil, err
	}
	var actions []action
	seen := map[string]bool{}
	for p.peek().kind != tokenEnd {
		section := strings.ToUpper(p.peek().text)
		clause := p.clause(section)
		if p.peek().kind != tokenWord || clause == nil {
			return nil, p.syntax()
		}
		if seen[section] {
			return nil, p.invalid("The %q section can only be used once in an update expression;", section)
		}
		seen[section] = true
		p.next()
		for {
			parsed, err := clause()
			if err != nil {
				return nil, err
			}
			parsed.section = section
			actions = append(actions, parsed)
			if !p.symbol(",") {
				break
			}
		}
	}
	return actions, nil
}

func (p *parser) clause(section string) func() (action, error) {
	switch section {
	case "SET":
		return p.set
	case "REMOVE":
		return func() (action, error) {
			target, err := p.path()
			return action{path: target}, err
		}
	case "ADD", "DELETE":
		return p.pathAndValue
	default:
		return nil
	}
}

func (p *parser) set() (action, error) {
	target, err := p.path()
	if err != nil {
		return action{}, err
	}
	if err := p.expect("="); err != nil {
		return action{}, err
	}
	value, err := p.sum()
	return action{path: target, value: value}, err
}

func (p *parser) pathAndValue() (action, error) {
	target, err := p.path()
	if err != nil {
		return action{}, err
	}
	if p.peek().kind != tokenValue {
		return action{}, p.syntax()
	}
	return action{path: target, value: operand{kind: operandValue, value: p.next().text}}, nil
}

// sum parses an operand, or two joined by + or -.
func (p *parser) sum() (operand, error) {
	left, err := p.setOperand()
	if err != nil {
		return operand{}, err
	}
	op := p.peek()
	if op.kind != tokenSymbol || op.text != "+" && op.text != "-" {
		return left, nil
	}
	p.next()
	if err := p.countOperator(); err != nil {
		return operand{}, err
	}
	right, err := p.setOperand()
	if err != nil {
		return operand{}, err
	}
	return operand{kind: operandCall, call: op.text, args: []operand{left, right}}, nil
}

func (p *parser) setOperand() (operand, error) {
	switch {
	case p.symbol("("):
		inner, err := p.sum()
		if err != nil {
			return operand{}, err
		}
		return inner, p.expect(")")
	case p.peek().kind == tokenValue:
		return operand{kind: operandValue, value: p.next().text}, nil
	case p.callAhead():
		return p.updateCall()
	}
	target, err := p.path()
	return operand{kind: operandPath, path: target}, err
}

func (p *parser) updateCall() (operand, error) {
	name := p.peek().text
	if name != "if_not_exists" && name != "list_append" {
		if _, known := conditionFunctions[name]; known || name == "size" {
			return operand{}, p.invalid("The function is not allowed in an update expression; function: %s", name)
		}
		return operand{}, p.invalid("Invalid function name; function: %s", name)
	}
	args, err := p.arguments(p.setOperand)
	if err != nil {
		return operand{}, err
	}
	if len(args) != 2 {
		return operand{}, p.wrongCount(name, len(args))
	}
	if name == "if_not_exists" && args[0].kind != operandPath {
		return operand{}, p.invalid("Operator or function requires a document path; operator or function: %s", name)
	}
	return operand{kind: operandCall, call: name, args: args}, nil
}

// parseProjection parses a, b.c[0], #d.
func parseProjection(text string) ([]path, error) {
	p, err := newParser("ProjectionExpression", text)
	if err != nil {
		return nil, err
	}
	var paths []path
	for {
		target, err := p.path()
		if err != nil {
			return nil, err
		}
		paths = append(paths, target)
		if !p.symbol(",") {
			return slices.Clip(paths), p.end()
		}
	}
}
