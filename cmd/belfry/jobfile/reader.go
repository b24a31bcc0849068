package jobfile

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// reader walks one file.
type reader struct {
	file    string
	faults  Faults
	budget  int // values that may still be read
	now     time.Time
	depth   int
	spent   bool // the budget's end has been told
	lines   map[string]int
	anchors map[string]*anchor
	kind    string // of the document that is being read: job or calendar
	only    string // the one kind that is read; empty = both
}

// anchor is a value that aliases repeat.
type anchor struct {
	value ast.Node
	open  bool // it is being read: an alias now would contain itself
}

// candidate is a job as read, or a calendar; sound when its form had no fault.
type candidate struct {
	Entry
	calendar *Calendar // nil: it is a job
	sound    bool
}

func (r *reader) refuse(n ast.Node, e *job.Error) {
	r.refuseAt(lineOf(n), e)
}

func (r *reader) refuseAt(line int, e *job.Error) {
	e.Line = max(line, 1)
	r.faults = append(r.faults, Fault{File: r.file, Err: e})
}

func lineOf(n ast.Node) int {
	if n == nil {
		return 0
	}
	t := n.GetToken()
	if t == nil || t.Position == nil {
		return 0
	}
	return t.Position.Line
}

// read finds what all documents hold.
func (r *reader) read(data []byte) []candidate {
	if len(data) > MaxFile {
		r.refuseAt(1, &job.Error{Code: job.CodeTooLarge, Field: "file", Value: fmt.Sprint(len(data)), Bound: fmt.Sprintf("%d bytes", MaxFile),
			Message: fmt.Sprintf("the file is %d bytes long", len(data)), Fix: "split it"})
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors begin UTF-8 with it
	if at := notText(data); at >= 0 {
		r.refuseAt(1+bytes.Count(data[:at], []byte("\n")), &job.Error{Code: job.CodeInvalid, Field: "file", Value: fmt.Sprintf("0x%02x", data[at]), Bound: "UTF-8 without zero bytes",
			Message: fmt.Sprintf("byte 0x%02x here is not text", data[at]), Fix: "save the file as UTF-8"})
		return nil
	}
	bodies, err := parse(data)
	if err != nil {
		r.refuseSyntax(data, err)
		return nil
	}
	var found []candidate
	for _, whole := range bodies {
		if whole == nil {
			continue
		}
		r.anchors = map[string]*anchor{}
		body, done := r.enter(whole)
		switch n := body.(type) {
		case nil, *ast.NullNode, *ast.CommentGroupNode:
		case *ast.SequenceNode:
			for _, item := range n.Values {
				found = append(found, r.document(item))
			}
		default:
			found = append(found, r.document(body))
		}
		done()
	}
	return found
}

// notText is the index of the first byte that no text in UTF-8 holds, else -1.
// Such a byte would silently become another character on its way.
func notText(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == 0 || r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// parse guards the parser: nesting is bounded before it recurses, and what
// makes it panic is an error. Documents are told apart here, since the parser
// silently drops all that follows an empty one.
func parse(data []byte) (bodies []ast.Node, err error) {
	defer func() {
		if what := recover(); what != nil {
			err = fmt.Errorf("it does not read as YAML: %v", what)
		}
	}()
	tokens := lexer.Tokenize(string(data))
	if deep := tooDeep(tokens); deep != nil {
		return nil, &yaml.SyntaxError{Message: fmt.Sprintf("it nests more than %d levels deep", maxDepth), Token: deep}
	}
	for _, document := range documents(tokens) {
		file, err := parser.Parse(document, 0, parser.AllowDuplicateMapKey())
		if err != nil {
			return nil, err
		}
		for _, d := range file.Docs {
			bodies = append(bodies, d.Body)
		}
	}
	return bodies, nil
}

// documents cuts the tokens at --- and ..., and leaves out empty documents.
func documents(tokens token.Tokens) []token.Tokens {
	var all []token.Tokens
	begin := 0
	cut := func(end int) {
		if begin < end {
			all = append(all, tokens[begin:end])
		}
		begin = end + 1
	}
	for i, t := range tokens {
		if t.Type == token.DocumentHeaderType || t.Type == token.DocumentEndType {
			cut(i)
		}
	}
	cut(len(tokens))
	return all
}

// tooDeep finds the token at which nesting passes the bound: brackets that stay
// open, or markers that follow each other on one line with no comma or bracket
// between. Nesting by indentation alone needs so many bytes that the file's size
// bounds it.
func tooDeep(tokens token.Tokens) *token.Token {
	open, run, line := 0, 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open++
			run = 0
		case token.SequenceEndType, token.MappingEndType:
			open = max(open-1, 0)
			run = 0
		case token.CollectEntryType:
			run = 0
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType, token.TagType, token.AnchorType:
			if t.Position.Line != line {
				run, line = 0, t.Position.Line
			}
			run++
		default:
		}
		if open > maxDepth || run > 4*maxDepth {
			return t
		}
	}
	return nil
}

var bareStar = regexp.MustCompile(`^\s*(- )?\s*[a-z_]+:\s+[*@%]`)

func (r *reader) refuseSyntax(data []byte, err error) {
	e := &job.Error{Code: job.CodeInvalid, Field: "file", Message: "it does not read as YAML", Fix: "mend the YAML near this line"}
	line := 1
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		e.Message = "it does not read as YAML: " + job.Shorten(syntax.Message)
		if syntax.Token != nil && syntax.Token.Position != nil {
			line = syntax.Token.Position.Line
		}
	}
	rows := strings.Split(string(data), "\n")
	if line >= 1 && line <= len(rows) && bareStar.MatchString(rows[line-1]) {
		e.Fix = `put a value that begins with *, @ or % in quotes, as in cron: "*/5 * * * *"`
	}
	r.refuseAt(line, e)
}

// enter resolves anchors and aliases, counts the value against the budget and
// tells how deep it lies. done must be called when the value has been read. A
// value that may not be read is nil.
func (r *reader) enter(n ast.Node) (value ast.Node, done func()) {
	nothing := func() {}
	r.budget--
	if r.budget < 0 || r.depth >= maxDepth {
		if !r.spent {
			r.spent = true
			r.refuse(n, &job.Error{Code: job.CodeTooLarge, Field: "file", Bound: fmt.Sprintf("%d values, %d levels", maxNodes, maxDepth),
				Message: "the file holds too many values, or nests too deep, once its aliases are followed", Fix: "split it, or repeat less through aliases"})
		}
		return nil, nothing
	}
	switch n := n.(type) {
	case *ast.AnchorNode:
		named := &anchor{value: n.Value, open: true}
		r.anchors[nameOf(n.Name)] = named
		value, inner := r.enter(n.Value)
		return value, func() { inner(); named.open = false }
	case *ast.AliasNode:
		return r.follow(n)
	case *ast.TagNode:
		r.refuse(n, &job.Error{Code: job.CodeInvalid, Field: "file", Value: job.Shorten(n.Start.Value), Message: "YAML tags are not read here", Fix: "leave the tag out"})
		return nil, nothing
	}
	r.depth++
	return n, func() { r.depth-- }
}

func (r *reader) follow(n *ast.AliasNode) (ast.Node, func()) {
	name := nameOf(n.Value)
	named, known := r.anchors[name]
	switch {
	case !known:
		r.refuse(n, &job.Error{Code: job.CodeInvalid, Field: "file", Value: job.Shorten("*" + name), Message: fmt.Sprintf("nothing before this is named &%s", job.Shorten(name)),
			Fix: "name the value above with &, or put text that begins with * in quotes"})
		return nil, func() {}
	case named.open:
		r.refuse(n, &job.Error{Code: job.CodeInvalid, Field: "file", Value: job.Shorten("*" + name), Message: "the value would contain itself", Fix: "write it out"})
		return nil, func() {}
	}
	named.open = true
	value, inner := r.enter(named.value)
	return value, func() { inner(); named.open = false }
}

func nameOf(n ast.Node) string {
	if n == nil || n.GetToken() == nil {
		return ""
	}
	return n.GetToken().Value
}
