package expr

import (
	"fmt"
	"strconv"
	"strings"
)

// parser walks the tokens of one expression.
type parser struct {
	section   string // "ConditionExpression" and so on, for messages
	text      string
	tokens    []token
	at        int
	operators int
}

// maxOperators is the number of operators and functions an expression may have.
const maxOperators = 300

// maxIndex is the highest list index in a path that is accepted.
const maxIndex = 1<<31 - 1

func newParser(section, text string) (*parser, error) {
	tokens, err := lex(section, text)
	if err != nil {
		return nil, err
	}
	return &parser{section: section, text: text, tokens: tokens}, nil
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if p.at < len(p.tokens)-1 {
		p.at++
	}
	return t
}

func (p *parser) symbol(text string) bool {
	if t := p.peek(); t.kind == tokenSymbol && t.text == text {
		p.next()
		return true
	}
	return false
}

func (p *parser) keyword(word string) bool {
	if t := p.peek(); t.kind == tokenWord && strings.EqualFold(t.text, word) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(symbol string) error {
	if !p.symbol(symbol) {
		return p.syntax()
	}
	return nil
}

func (p *parser) end() error {
	if p.peek().kind != tokenEnd {
		return p.syntax()
	}
	return nil
}

func (p *parser) syntax() error { return syntaxError(p.section, p.text, p.tokens, p.at) }

func (p *parser) invalid(format string, args ...any) error {
	return invalidf(p.section, format, args...)
}

func (p *parser) countOperator() error {
	if p.operators++; p.operators > maxOperators {
		return p.invalid("The expression contains too many operators; operator count: %d", p.operators)
	}
	return nil
}

// callAhead says whether a function call stands next.
func (p *parser) callAhead() bool {
	return p.peek().kind == tokenWord && p.tokens[p.at+1].text == "(" && p.tokens[p.at+1].kind == tokenSymbol
}

// path parses a.b[2].#c.
func (p *parser) path() (path, error) {
	first, err := p.pathName()
	if err != nil {
		return nil, err
	}
	parsed := path{first}
	for {
		switch {
		case p.symbol("."):
			element, err := p.pathName()
			if err != nil {
				return nil, err
			}
			parsed = append(parsed, element)
		case p.symbol("["):
			index := p.peek()
			n, err := strconv.Atoi(index.text)
			if index.kind != tokenNumber || err != nil || n > maxIndex {
				return nil, p.syntax()
			}
			p.next()
			if err := p.expect("]"); err != nil {
				return nil, err
			}
			parsed = append(parsed, element{index: n})
		default:
			return parsed, nil
		}
	}
}

func (p *parser) pathName() (element, error) {
	t := p.peek()
	if t.kind != tokenName && t.kind != tokenWord {
		return element{}, p.syntax()
	}
	if t.kind == tokenWord && isReserved(t.text) {
		return element{}, p.invalid("Attribute name is a reserved keyword; reserved keyword: %s", t.text)
	}
	p.next()
	return element{name: t.text, placeholder: t.kind == tokenName}, nil
}

func invalidf(section, format string, args ...any) error {
	return invalid(section, fmt.Sprintf(format, args...))
}
