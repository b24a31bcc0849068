package dynamo

import (
	"slices"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/expr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// write is one wanted change of one item, bound to its expressions: a put, an
// update, a delete, or a mere condition check.
type write struct {
	in        *request
	condition *expr.Condition
	update    *expr.Update
}

// plan is what a write means for the item that is there.
type plan struct {
	table   *table
	row     []byte
	old     attr.Item // nil when absent
	changed attr.Item // nil when absent
	check   bool      // nothing is to be written
}

// bindWrite parses the expressions of in and checks what needs no table.
func (s *Service) bindWrite(in *request) (*write, error) {
	update, err := s.cache.Update(in.update, in.scope)
	if err != nil {
		return nil, err
	}
	condition, err := s.cache.Condition("ConditionExpression", in.condition, in.scope)
	if err != nil {
		return nil, err
	}
	if err := in.scope.Unused(); err != nil {
		return nil, err
	}
	if in.item.Size() > maxItem {
		return nil, validation("Item size has exceeded the maximum allowed size")
	}
	return &write{in, condition, update}, nil
}

// plan finds the table, checks the request against it and reads the item.
func (w *write) plan(s *Service, tx kv.Tx) (*plan, error) {
	t, err := s.lookup(tx, w.in.table)
	if err != nil {
		return nil, err
	}
	key := w.in.key
	if w.in.item != nil {
		key = w.in.item
		err = t.Key.checkItem(key)
	} else {
		err = w.checkKey(t)
	}
	if err != nil {
		return nil, err
	}
	p := &plan{table: t, row: t.Key.row(key), check: w.in.operation == "ConditionCheck"}
	p.old, err = readRow(tx, t.itemSpace, p.row)
	return p, err
}

func (w *write) checkKey(t *table) error {
	for _, name := range w.update.Targets() {
		if t.Key.has(name) {
			return invalidParameter("Cannot update attribute %s. This attribute is part of the key", name)
		}
	}
	return t.Key.checkKey(w.in.key)
}

func readRow(tx kv.Tx, space string, row []byte) (attr.Item, error) {
	stored := tx.Get(space, row)
	if stored == nil {
		return nil, nil
	}
	return attr.Record(stored)
}

// decide evaluates the condition and computes the changed item. It writes
// nothing.
func (w *write) decide(p *plan) error {
	if !w.condition.Holds(p.old) {
		return conditionFailed(p.old, w.in.returnFailed)
	}
	switch w.in.operation {
	case "ConditionCheck":
		p.changed = p.old
		return nil
	case "DeleteItem", "Delete", "DeleteRequest":
		p.changed = nil
		return nil
	case "UpdateItem", "Update":
		return w.decideUpdate(p)
	default:
		p.changed = w.in.item
	}
	return p.checkIndexes()
}

func (w *write) decideUpdate(p *plan) error {
	base := p.old
	if base == nil {
		base = w.in.key
	}
	changed, err := w.update.Apply(base)
	if err != nil {
		return err
	}
	p.changed = changed
	if changed.Size() > maxItem {
		return validation("Item size to update has exceeded the maximum allowed size")
	}
	for _, name := range w.update.Targets() {
		if changed.Get(name).Depth() > 32 {
			return validation("Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit")
		}
	}
	return p.checkIndexes()
}

func (p *plan) checkIndexes() error {
	for _, x := range p.table.Indexes {
		if err := x.check(p.changed); err != nil {
			return err
		}
	}
	return nil
}

// apply carries a decided plan out, in all its places, and bills it factor
// times (transactions: twice).
func (s *Service) apply(tx kv.Tx, p *plan, b *bill, factor float64, by actor, now time.Time) error {
	b.onTable(p.table.Name, factor*itemWriteUnits(p.old, p.changed))
	if p.check {
		return nil
	}
	for _, x := range p.table.Indexes {
		s.applyIndex(tx, p, x, b, factor, now)
	}
	if p.old == nil && p.changed == nil || p.old != nil && p.changed != nil && p.old.Equal(p.changed) {
		return nil
	}
	if p.changed == nil {
		tx.Delete(p.table.itemSpace, p.row)
	} else {
		tx.Put(p.table.itemSpace, p.row, attr.AppendRecord(make([]byte, 0, 256), p.changed))
	}
	p.applyExpiry(tx)
	return s.appendStream(tx, p, by, now)
}

func (s *Service) applyIndex(tx kv.Tx, p *plan, x *index, b *bill, factor float64, now time.Time) {
	old, changed := x.project(p.old), x.project(p.changed)
	moved := old != nil && changed != nil && !x.sameKey(old, changed)
	units := indexWriteUnits(old, changed, moved)
	if units == 0 {
		return
	}
	b.onIndex(p.table.Name, x.Name, factor*units)
	if old != nil && (changed == nil || moved) {
		s.changeIndex(tx, p.table, indexChange{Space: x.space, Row: x.row(old, p.row)}, now)
	}
	if changed != nil {
		s.changeIndex(tx, p.table, indexChange{Space: x.space, Row: x.row(changed, p.row), Record: attr.AppendRecord(nil, changed)}, now)
	}
}

func (x *index) sameKey(a, b attr.Item) bool {
	return !slices.ContainsFunc(x.Key.attributes(), func(part keyAttribute) bool {
		return !a.Get(part.Name).Equal(b.Get(part.Name))
	})
}

// actor is who makes a change: the caller, or the service itself (expiry).
type actor bool

const (
	byCaller  actor = false
	byService actor = true
)
