package dynamo

import (
	"bytes"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/expr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// span is a range of rows of one space: from inclusive, until exclusive (nil:
// no end), walked in either direction, beginning after a row (nil: at the
// start).
type span struct {
	space    string
	from     []byte
	until    []byte
	after    []byte
	backward bool
}

// contains says whether a row lies in the range.
func (r span) contains(row []byte) bool {
	return bytes.Compare(row, r.from) >= 0 && (r.until == nil || bytes.Compare(row, r.until) < 0)
}

// walk visits the rows until visit returns false.
func (r span) walk(tx kv.Tx, visit func(value []byte) bool) {
	step := func(row, value []byte) bool {
		if r.after != nil && bytes.Equal(row, r.after) {
			return true
		}
		if !r.contains(row) {
			return !r.backward && bytes.Compare(row, r.from) < 0 || r.backward && r.until != nil && bytes.Compare(row, r.until) >= 0
		}
		return visit(value)
	}
	switch {
	case r.backward && r.after != nil:
		tx.Descend(r.space, r.after, step)
	case r.backward:
		tx.Descend(r.space, r.until, step)
	case r.after != nil:
		tx.Ascend(r.space, r.after, step)
	default:
		tx.Ascend(r.space, r.from, step)
	}
}

// following is the least row that does not begin with prefix and is greater;
// nil when there is none.
func following(prefix []byte) []byte {
	next := bytes.Clone(prefix)
	for i := len(next) - 1; i >= 0; i-- {
		if next[i] < 0xFF {
			next[i]++
			return next[:i+1]
		}
	}
	return nil
}

// keySpan is the range that a key condition means.
func keySpan(schema keySchema, terms []expr.KeyTerm) (span, error) {
	hash, sort, err := assignTerms(schema, terms)
	if err != nil {
		return span{}, err
	}
	prefix := schema.partition(hash.Values[0])
	whole := span{from: prefix, until: following(prefix)}
	if sort == nil {
		return whole, nil
	}
	edge := func(v attr.Value) []byte { return attr.AppendOrdered(bytes.Clone(prefix), v) }
	first := edge(sort.Values[0])
	switch sort.Op {
	case "=":
		return span{from: first, until: following(first)}, nil
	case "<":
		return span{from: prefix, until: first}, nil
	case "<=":
		return span{from: prefix, until: following(first)}, nil
	case ">":
		return span{from: following(first), until: whole.until}, nil
	case ">=":
		return span{from: first, until: whole.until}, nil
	case "BETWEEN":
		return span{from: first, until: following(edge(sort.Values[1]))}, nil
	default:
		begin := attr.AppendOrderedPrefix(bytes.Clone(prefix), sort.Values[0].Text)
		return span{from: begin, until: following(begin)}, nil
	}
}

// assignTerms finds the term of each key attribute; sort is nil when the
// condition leaves it open.
func assignTerms(schema keySchema, terms []expr.KeyTerm) (hash, sort *expr.KeyTerm, err error) {
	for i := range terms {
		switch term := &terms[i]; term.Name {
		case schema.Hash.Name:
			hash = term
		case schema.Range.Name:
			sort = term
		}
	}
	switch {
	case hash == nil:
		return nil, nil, validation("Query condition missed key schema element: %s", schema.Hash.Name)
	case len(terms) > 1 && sort == nil && schema.Range.Name != "":
		return nil, nil, validation("Query condition missed key schema element: %s", schema.Range.Name)
	case len(terms) > 2 || len(terms) == 2 && sort == nil || hash.Op != "=":
		return nil, nil, validation("Query key condition not supported")
	}
	if err := checkTerm(hash, schema.Hash); err != nil || sort == nil {
		return hash, nil, err
	}
	return hash, sort, checkTerm(sort, schema.Range)
}

func checkTerm(term *expr.KeyTerm, part keyAttribute) error {
	for _, value := range term.Values {
		if value.Kind != part.Kind {
			return invalidParameter("Condition parameter type does not match schema type")
		}
		if value.Text == "" {
			return emptyKey(part.Name, value.Kind)
		}
	}
	return nil
}
