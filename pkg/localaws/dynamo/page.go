package dynamo

import (
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/expr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// maxPage is how much a Query or Scan reads before it stops, counted before
// filters; the item that reaches it is the page's last.
const maxPage = 1 << 20

// source is what a Query or Scan reads: a table, or one of its indexes.
type source struct {
	table *table
	index *index // nil for the table itself
}

func (s source) schema() keySchema {
	if s.index != nil {
		return s.index.Key
	}
	return s.table.Key
}

func (s source) space() string {
	if s.index != nil {
		return s.index.space
	}
	return s.table.itemSpace
}

// startKey is the key that resumes reading after item: the index key, if any,
// and always the table's.
func (s source) startKey(item attr.Item) attr.Item {
	key := s.table.Key.keyOf(item)
	if s.index != nil {
		for _, part := range s.index.Key.attributes() {
			key = key.With(part.Name, item.Get(part.Name))
		}
	}
	return key
}

// startRow is the row of a start key, which need not be there (any more).
func (s source) startRow(key attr.Item) ([]byte, error) {
	parts := s.table.Key.attributes()
	if s.index != nil {
		for _, part := range s.index.Key.attributes() {
			if !s.table.Key.has(part.Name) {
				parts = append(parts, part)
			}
		}
	}
	fits := len(key) == len(parts)
	for _, part := range parts {
		value := key.Get(part.Name)
		fits = fits && value.Kind == part.Kind && value.Text != ""
	}
	if !fits {
		return nil, validation("The provided starting key is invalid: The provided key element does not match the schema")
	}
	row := s.table.Key.row(key)
	if s.index != nil {
		row = s.index.row(key, row)
	}
	return row, nil
}

// page is one answer of a Query or Scan.
type page struct {
	items   []attr.Item
	count   int // after the filter
	scanned int // before it
	size    int
	last    attr.Item // where it stopped early; nil at the end
}

// read fills a page from the range.
func (s source) read(tx kv.Tx, in *request, r span, filter *expr.Condition, projection *expr.Projection) (*page, error) {
	result := &page{}
	var damaged error
	r.walk(tx, func(stored []byte) bool {
		item, err := attr.Record(stored)
		if err != nil {
			damaged = err
			return false
		}
		result.scanned++
		result.size += item.Size()
		if filter.Holds(item) {
			result.count++
			if in.selectWhat != "COUNT" {
				result.items = append(result.items, projection.Of(item))
			}
		}
		if result.size >= maxPage || in.limit != nil && int64(result.scanned) >= *in.limit {
			result.last = s.startKey(item)
			return false
		}
		return true
	})
	return result, damaged
}
