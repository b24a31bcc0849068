package template

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Bounds of a text.
const (
	maxExpressions = 100 // in one text
	maxFilters     = 6   // in one expression
	maxPath        = 16  // members deep
)

// Template is a text that was read. The zero value is an empty text.
type Template struct {
	parts []part
}

// part is a literal, or else an expression.
type part struct {
	literal    string
	expression *expression
}

type expression struct {
	text    string // as written, for refusals
	source  source
	filters []filter
}

// source is where a value comes from: a literal, a name, or a member of the
// payload.
type source struct {
	literal   string
	isLiteral bool
	name      string
	path      []string // of payload
}

type filter struct {
	name     string
	argument string // a text, or the name of a time
	named    bool   // the argument is a name
	given    bool
}

// Has tells whether a text asks for anything to be filled in.
func Has(text string) bool { return strings.Contains(text, "{{") }

// Parse reads a text. The error is an *Error.
func Parse(text string) (*Template, error) {
	t := &Template{}
	for n := 0; ; n++ {
		before, rest, found := strings.Cut(text, "{{")
		if before != "" {
			t.parts = append(t.parts, part{literal: before})
		}
		if !found {
			return t, nil
		}
		if n == maxExpressions {
			return nil, wrong(fmt.Sprint(n), fmt.Sprintf("%d", maxExpressions), fmt.Sprintf("the text has more than %d templates", maxExpressions), "keep fewer")
		}
		e, after, err := parseExpression(rest)
		if err != nil {
			return nil, err
		}
		t.parts = append(t.parts, part{expression: e})
		text = after
	}
}

const howToClose = "close it with }}, or write {{ '{{' }} for the braces themselves"

// parseExpression reads up to and with }}, and gives what comes behind.
func parseExpression(text string) (*expression, string, error) {
	s := &scanner{rest: text}
	e := &expression{}
	if err := s.source(&e.source); err != nil {
		return nil, "", err
	}
	for s.take("|") {
		if len(e.filters) == maxFilters {
			return nil, "", wrong(s.read(text), fmt.Sprintf("%d filters", maxFilters), fmt.Sprintf("the template has more than %d filters", maxFilters), "keep fewer")
		}
		f, err := s.filter()
		if err != nil {
			return nil, "", err
		}
		e.filters = append(e.filters, f)
	}
	if !s.take("}}") {
		return nil, "", wrong(s.read(text), "}}", "the template is not closed where it must be", howToClose)
	}
	e.text = "{{" + s.read(text)
	return e, s.rest, e.check()
}

// scanner reads the words of an expression.
type scanner struct{ rest string }

// read is what of the text was read.
func (s *scanner) read(text string) string { return shorten(text[:len(text)-len(s.rest)]) }

func (s *scanner) skip() { s.rest = strings.TrimLeft(s.rest, " \t\r\n") }

func (s *scanner) take(mark string) bool {
	s.skip()
	rest, is := strings.CutPrefix(s.rest, mark)
	if is {
		s.rest = rest
	}
	return is
}

// word reads a name; empty = there is none.
func (s *scanner) word() string {
	s.skip()
	end := strings.IndexFunc(s.rest, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' })
	if end < 0 {
		end = len(s.rest)
	}
	word := s.rest[:end]
	s.rest = s.rest[end:]
	return word
}

// text reads a literal in single or double quotes; the latter has the escapes of
// JSON.
func (s *scanner) text() (string, bool, error) {
	s.skip()
	if rest, is := strings.CutPrefix(s.rest, "'"); is {
		text, after, closed := strings.Cut(rest, "'")
		if !closed {
			return "", false, wrong(shorten(s.rest), "'…'", "the text in the template is not closed", "close it with another '")
		}
		s.rest = after
		return text, true, nil
	}
	if !strings.HasPrefix(s.rest, `"`) {
		return "", false, nil
	}
	for end := 1; end < len(s.rest); end++ {
		switch s.rest[end] {
		case '\\':
			end++
		case '"':
			var text string
			if json.Unmarshal([]byte(s.rest[:end+1]), &text) != nil {
				return "", false, wrong(shorten(s.rest[:end+1]), `"…" with the escapes of JSON`, "the text in the template does not read", "put it in single quotes")
			}
			s.rest = s.rest[end+1:]
			return text, true, nil
		}
	}
	return "", false, wrong(shorten(s.rest), `"…"`, "the text in the template is not closed", "close it with another \", or put it in single quotes")
}

func (s *scanner) source(into *source) error {
	text, is, err := s.text()
	if err != nil || is {
		into.literal, into.isLiteral = text, is
		return err
	}
	if into.name = s.word(); into.name == "" {
		return wrong(shorten(s.rest), names(), "a template begins with a name or a text in quotes", "use one of "+names()+"; "+howToClose)
	}
	if !slices.ContainsFunc(known, func(k name) bool { return k.name == into.name }) {
		return wrong(into.name, names(), fmt.Sprintf("nothing is called %q in a template", into.name), nearest(into.name)+"; "+braces)
	}
	for strings.HasPrefix(s.rest, ".") {
		end := 1
		for end < len(s.rest) && isMember(s.rest[end]) {
			end++
		}
		if into.name != "payload" || end == 1 || len(into.path) == maxPath {
			return wrong(into.name+shorten(s.rest[:end]), "payload.member.member, up to 16 deep", "only members of the payload are named with full stops: letters, digits, '_' and '-'", "write payload.member")
		}
		into.path = append(into.path, s.rest[1:end])
		s.rest = s.rest[end:]
	}
	return nil
}

const braces = "write {{ '{{' }} for the braces themselves"

func isMember(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func (s *scanner) filter() (filter, error) {
	f := filter{name: s.word()}
	if !slices.Contains(filterNames, f.name) {
		return f, wrong(f.name, strings.Join(filterNames, ", "), fmt.Sprintf("there is no filter %q", f.name), "use one of "+strings.Join(filterNames, ", "))
	}
	text, is, err := s.text()
	if err != nil {
		return f, err
	}
	if f.argument, f.given = text, is; !is {
		if f.argument = s.word(); f.argument != "" {
			f.named, f.given = true, true
		}
	}
	return f, nil
}

func shorten(text string) string {
	const most = 60
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
