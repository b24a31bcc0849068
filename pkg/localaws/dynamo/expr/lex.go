package expr

import (
	"strings"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
)

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenWord             // a bare name, keyword or function
	tokenName             // #placeholder
	tokenValue            // :placeholder
	tokenNumber           // digits, only inside [ ]
	tokenSymbol           // punctuation and comparators
)

type token struct {
	kind  tokenKind
	text  string
	start int
	end   int
}

// maxExpression is the longest expression that the service takes, in bytes.
const maxExpression = 4096

func lex(section, text string) ([]token, error) {
	if strings.TrimSpace(text) == "" {
		return nil, invalid(section, "The expression can not be empty;")
	}
	if len(text) > maxExpression {
		return nil, invalidf(section, "Expression size has exceeded the maximum allowed size; expression size: %d", len(text))
	}
	tokens := make([]token, 0, 16)
	for at := 0; at < len(text); {
		if isSpace(text[at]) {
			at++
			continue
		}
		kind, end := scan(text, at)
		tokens = append(tokens, token{kind, text[at:end], at, end})
		at = end
		if kind == tokenEnd { // not a token of the language
			return nil, syntaxError(section, text, tokens, len(tokens)-1)
		}
	}
	return append(tokens, token{tokenEnd, "<EOF>", len(text), len(text)}), nil
}

func scan(text string, at int) (tokenKind, int) {
	switch b := text[at]; {
	case b == '#' || b == ':':
		end := spanWord(text, at+1)
		if end == at+1 {
			return tokenEnd, end
		}
		if b == '#' {
			return tokenName, end
		}
		return tokenValue, end
	case isLetter(b):
		return tokenWord, spanWord(text, at)
	case isDigit(b):
		end := at
		for end < len(text) && isDigit(text[end]) {
			end++
		}
		return tokenNumber, end
	case strings.IndexByte("()[],.=+-", b) >= 0:
		return tokenSymbol, at + 1
	case b == '<' || b == '>':
		if at+1 < len(text) && (text[at+1] == '=' || b == '<' && text[at+1] == '>') {
			return tokenSymbol, at + 2
		}
		return tokenSymbol, at + 1
	}
	return tokenEnd, at + 1
}

func spanWord(text string, at int) int {
	for at < len(text) && (isLetter(text[at]) || isDigit(text[at]) || text[at] == '_') {
		at++
	}
	return at
}

func isSpace(b byte) bool  { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
func isDigit(b byte) bool  { return b >= '0' && b <= '9' }
func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

// syntaxError names the token and shows it between its neighbours.
func syntaxError(section, text string, tokens []token, at int) error {
	first, last := max(at-1, 0), min(at+1, len(tokens)-1)
	near := strings.TrimSpace(text[tokens[first].start:tokens[last].end])
	return invalidf(section, "Syntax error; token: %q, near: %q", tokens[at].text, near)
}

func invalid(section, message string) error {
	return &attr.Invalid{Message: "Invalid " + section + ": " + message}
}
