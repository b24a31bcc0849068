package jobfile

import (
	"fmt"
	"sort"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// keys says which keys a mapping may have and how each value is read.
type keys map[string]func(path string, n ast.Node)

// pair is one key with its value.
type pair struct {
	key    string
	node   ast.Node // of the key
	value  ast.Node
	merged bool // it came through <<
}

// mapping reads n by known; path is "" for a job or a calendar itself.
func (r *reader) mapping(path string, n ast.Node, known keys) {
	r.mappingBy(path, n, func([]pair) keys { return known })
}

// mappingBy reads n by the keys that choose makes of what it holds; of what is no
// mapping it is asked with nothing.
func (r *reader) mappingBy(path string, n ast.Node, choose func([]pair) keys) {
	value, done := r.enter(n)
	defer done()
	if value == nil {
		return
	}
	pairs, ok := r.pairs(value)
	known := choose(pairs)
	if !ok {
		r.refuse(n, &job.Error{Code: job.CodeInvalid, Field: fieldOr(path, r.kind), Value: scalarText(value), Bound: "keys and values", Message: "keys are expected here: " + known.list(),
			Fix: "write it as key: value"})
		return
	}
	for _, p := range pairs {
		read, isKnown := known[p.key]
		if !isKnown {
			r.refuse(p.node, &job.Error{Code: job.CodeUnknownField, Field: joined(path, p.key), Bound: known.list(),
				Message: fmt.Sprintf("%q is not a key %s", job.Shorten(p.key), r.place(path)), Fix: known.nearest(p.key)})
			continue
		}
		r.lines[joined(path, p.key)] = lineOf(p.node)
		read(joined(path, p.key), p.value)
	}
}

// pairs lists the pairs of a mapping in their order; what << merges comes after
// what stands there, and gives way to it. Keys given twice are refused here.
func (r *reader) pairs(n ast.Node) ([]pair, bool) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		return nil, false
	}
	var own, merged []pair
	seen := map[string]int{}
	for _, v := range values {
		if v.Key.IsMergeKey() {
			merged = append(merged, r.merge(v.Value)...)
			continue
		}
		key, isText := keyText(v.Key)
		if !isText {
			r.refuse(v.Key, &job.Error{Code: job.CodeInvalid, Field: "file", Message: "a key must be plain text", Fix: "write the key as a word"})
			continue
		}
		if line, again := seen[key]; again {
			r.refuse(v.Key, &job.Error{Code: job.CodeInvalid, Field: job.Shorten(key), Message: fmt.Sprintf("%q is given twice, first on line %d", job.Shorten(key), line), Fix: "keep one of them"})
			continue
		}
		seen[key] = lineOf(v.Key)
		own = append(own, pair{key: key, node: v.Key, value: v.Value})
	}
	for _, p := range merged {
		if _, given := seen[p.key]; !given {
			seen[p.key] = lineOf(p.node)
			own = append(own, p)
		}
	}
	return own, true
}

// merge lists the pairs that << takes over from one mapping or a list of them.
func (r *reader) merge(n ast.Node) []pair {
	value, done := r.enter(n)
	defer done()
	if value == nil {
		return nil
	}
	if list, isList := value.(*ast.SequenceNode); isList {
		var all []pair
		for _, item := range list.Values {
			all = append(all, r.merge(item)...)
		}
		return all
	}
	pairs, ok := r.pairs(value)
	if !ok {
		r.refuse(n, &job.Error{Code: job.CodeInvalid, Field: "<<", Message: "only keys and values can be merged", Fix: "name a mapping with & and merge it with *"})
		return nil
	}
	r.budget -= len(pairs)
	for i := range pairs {
		pairs[i].merged = true
	}
	return pairs
}

// keyText is a scalar key's text.
func keyText(n ast.MapKeyNode) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func joined(path, key string) string {
	key = job.Shorten(key)
	if path == "" {
		return key
	}
	return path + "." + key
}

func fieldOr(path, otherwise string) string {
	if path == "" {
		return otherwise
	}
	return path
}

func (r *reader) place(path string) string {
	if path == "" {
		return "of a " + r.kind
	}
	return "of " + path
}

func (k keys) names() []string {
	names := make([]string, 0, len(k))
	for name := range k {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func (k keys) list() string { return strings.Join(k.names(), ", ") }

// nearest is what to do about a key that is not known: the one that was likely
// meant, when one is near.
func (k keys) nearest(key string) string {
	best, distance := "", min(3, (len(key)+2)/3) // a short word is near to everything
	for _, name := range k.names() {
		if d := editDistance(strings.ToLower(job.Shorten(key)), name); d < distance {
			best, distance = name, d
		}
	}
	if best == "" {
		return "remove it, or use one of the allowed keys"
	}
	return "did you mean " + best + "?"
}

// editDistance counts the single-letter changes that make a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := diagonal
			if a[i-1] != b[j-1] {
				change++
			}
			diagonal = row[j]
			row[j] = min(change, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
