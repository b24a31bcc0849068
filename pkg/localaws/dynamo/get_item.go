package dynamo

import (
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/expr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

func (s *Service) getItem(body []byte) ([]byte, error) {
	in, err := decode("GetItem", body)
	if err != nil {
		return nil, err
	}
	projection, err := s.bindProjection(in)
	if err != nil {
		return nil, err
	}
	var item attr.Item
	err = s.engine.View(func(tx kv.Tx) error {
		item, err = s.readItem(tx, in.table, in.key)
		return err
	})
	if err != nil {
		return nil, err
	}
	b := &bill{operation: "GetItem"}
	b.onTable(in.table, readUnits(item.Size(), in.consistent))
	s.report(b, false)
	o := newObject()
	if item != nil {
		o.item("Item", projection.Of(item))
	}
	b.appendOne(o, in.capacity)
	return o.close(), nil
}

func (s *Service) bindProjection(in *request) (*expr.Projection, error) {
	projection, err := s.cache.Projection(in.projection, in.scope)
	if err != nil {
		return nil, err
	}
	return projection, in.scope.Unused()
}

// readItem returns nil when there is no such item.
func (s *Service) readItem(tx kv.Tx, table string, key attr.Item) (attr.Item, error) {
	t, err := s.lookup(tx, table)
	if err != nil {
		return nil, err
	}
	if err := t.Key.checkKey(key); err != nil {
		return nil, err
	}
	return readRow(tx, t.itemSpace, t.Key.row(key))
}
