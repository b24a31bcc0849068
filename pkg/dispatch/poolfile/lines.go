package poolfile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// lines are the lines of a file's keys, by their paths.
type lines map[string]int

// of is the line of a path, or of the nearest around it; at worst the first.
func (l lines) of(path string) int {
	for path != "" {
		if line, known := l[path]; known {
			return line
		}
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
	return 1
}

// decode reads the one document of a file, and where its keys stand. What makes
// the YAML reader panic is an error.
func decode(document []byte) (value any, at lines, err error) {
	defer func() {
		if what := recover(); what != nil {
			err = fmt.Errorf("%v", what)
		}
	}()
	file, err := parser.ParseBytes(document, 0)
	if err != nil {
		return nil, nil, err
	}
	if len(file.Docs) > 1 {
		return nil, nil, errors.New("it holds several documents")
	}
	if err := yaml.Unmarshal(document, &value); err != nil {
		return nil, nil, err
	}
	at = lines{}
	for _, d := range file.Docs {
		if list, alone := d.Body.(*ast.SequenceNode); alone {
			at.note("pools", list)
			continue
		}
		at.note("", d.Body)
	}
	return value, at, nil
}

// note writes down the lines of what n holds, down to the keys of a pool.
func (l lines) note(path string, n ast.Node) {
	switch n := n.(type) {
	case nil:
	case *ast.MappingNode:
		for _, pair := range n.Values {
			l.note(path, pair)
		}
	case *ast.MappingValueNode:
		key := n.Key.String()
		if path != "" {
			key = path + "." + key
		}
		// The mapping's own line is that of its first key.
		line := n.Key.GetToken().Position.Line
		if _, known := l[path]; !known && path != "" {
			l[path] = line
		}
		l[key] = line
		if strings.Count(key, ".") == 0 {
			l.note(key, n.Value)
		}
	case *ast.SequenceNode:
		for i, item := range n.Values {
			l.note(path+"["+strconv.Itoa(i)+"]", item)
		}
	default:
		if t := n.GetToken(); t != nil && t.Position != nil && path != "" {
			l[path] = t.Position.Line
		}
	}
}
