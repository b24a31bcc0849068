package dynamo

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/expr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// reading is a Query or Scan bound to its expressions.
type reading struct {
	in         *request
	filter     *expr.Condition
	projection *expr.Projection
	terms      []expr.KeyTerm
}

func (s *Service) query(body []byte) ([]byte, error) {
	in, err := decode("Query", body)
	if err != nil {
		return nil, err
	}
	if in.keyCondition == nil {
		return nil, validation("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	q, err := s.bindReading(in)
	if err != nil {
		return nil, err
	}
	return s.readPage(q, func(from source) (span, error) {
		r, err := keySpan(from.schema(), q.terms)
		if err != nil {
			return r, err
		}
		for _, name := range q.filter.Names() {
			if from.schema().has(name) {
				return r, validation("Filter Expression can only contain non-primary key attributes: Primary key attribute: %s", name)
			}
		}
		return r, nil
	})
}

func (s *Service) bindReading(in *request) (*reading, error) {
	q := &reading{in: in}
	var err error
	if in.keyCondition != nil {
		if q.terms, err = s.cache.KeyCondition(*in.keyCondition, in.scope); err != nil {
			return nil, err
		}
	}
	if q.filter, err = s.cache.Condition("FilterExpression", in.filter, in.scope); err != nil {
		return nil, err
	}
	if q.projection, err = s.bindProjection(in); err != nil {
		return nil, err
	}
	return q, q.checkSelect()
}

func (q *reading) checkSelect() error {
	switch chosen := q.in.selectWhat; {
	case chosen == "SPECIFIC_ATTRIBUTES" && q.projection == nil:
		return validation("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
	case chosen == "COUNT" && q.projection != nil:
		return validation("Cannot specify the ProjectionExpression when choosing to get only the Count")
	case chosen != "" && chosen != "SPECIFIC_ATTRIBUTES" && q.projection != nil:
		return validation("Cannot specify the ProjectionExpression when choosing to get %s", chosen)
	case chosen == "ALL_PROJECTED_ATTRIBUTES" && q.in.index == "":
		return invalidParameter("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	}
	return nil
}

// readPage reads one page of the range that spanOf finds and answers with it.
func (s *Service) readPage(q *reading, spanOf func(source) (span, error)) ([]byte, error) {
	in := q.in
	if in.index != "" {
		if err := s.settleIndexes(in.table, time.Now()); err != nil {
			return nil, err
		}
	}
	var result *page
	err := s.engine.View(func(tx kv.Tx) error {
		from, err := s.source(tx, q)
		if err != nil {
			return err
		}
		r, err := spanOf(from)
		if err != nil {
			return err
		}
		r.space, r.backward = from.space(), in.backward
		if in.startKey != nil {
			if r.after, err = from.startRow(in.startKey); err != nil {
				return err
			}
			if !r.contains(r.after) {
				return startOutside(in)
			}
		}
		result, err = from.read(tx, in, r, q.filter, q.projection)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.answerPage(in, result), nil
}

func startOutside(in *request) error {
	if in.operation == "Query" {
		return validation("The provided starting key is outside query boundaries based on provided conditions")
	}
	return validation("The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: %d Segment: %d",
		*in.totalSegments, *in.segment)
}

// source finds what to read and checks what depends on its kind.
func (s *Service) source(tx kv.Tx, q *reading) (source, error) {
	t, err := s.lookup(tx, q.in.table)
	if err != nil || q.in.index == "" {
		return source{table: t}, err
	}
	x := t.index(q.in.index)
	switch {
	case x == nil:
		return source{}, validation("The table does not have the specified index: %s", q.in.index)
	case q.in.consistent:
		return source{}, validation("Consistent reads are not supported on global secondary indexes")
	case q.in.selectWhat == "ALL_ATTRIBUTES" && x.Projection != "ALL":
		return source{}, invalidParameter("Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its projection type is not ALL", x.Name)
	}
	return source{t, x}, x.checkProjected(q.projection.Names())
}

func (s *Service) answerPage(in *request, result *page) []byte {
	b := &bill{operation: in.operation}
	units := readUnits(result.size, in.consistent)
	if in.index != "" {
		b.onTable(in.table, 0)
		b.onIndex(in.table, in.index, units)
	} else {
		b.onTable(in.table, units)
	}
	s.report(b, false)
	o := newObject()
	if in.selectWhat != "COUNT" {
		o.items("Items", result.items)
	}
	o.int("Count", result.count)
	o.int("ScannedCount", result.scanned)
	if result.last != nil {
		o.item("LastEvaluatedKey", result.last)
	}
	b.appendOne(o, in.capacity)
	return o.close()
}
