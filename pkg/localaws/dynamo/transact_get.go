package dynamo

import (
	"slices"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/expr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/jsonread"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

func (s *Service) transactGetItems(body []byte) ([]byte, error) {
	gets, capacity, err := decodeTransactGet(body)
	if err != nil {
		return nil, err
	}
	projections := make([]*expr.Projection, len(gets))
	for i, get := range gets {
		if projections[i], err = s.bindProjection(get); err != nil {
			return nil, err
		}
	}
	b := &bill{operation: "TransactGetItems", explicit: true}
	items := make([]attr.Item, len(gets))
	err = s.engine.View(func(tx kv.Tx) error {
		reasons := make([]error, len(gets))
		for i, get := range gets {
			items[i], err = s.readItem(tx, get.table, get.key)
			if err != nil && !isReason(err) {
				return err
			}
			reasons[i] = err
			b.onTable(get.table, 2*readUnits(items[i].Size(), true))
		}
		if slices.ContainsFunc(reasons, func(err error) bool { return err != nil }) {
			return cancelled(reasons)
		}
		return nil
	})
	s.report(b, err != nil)
	if err != nil {
		return nil, err
	}
	o := newObject()
	o.member("Responses")
	o.text = append(o.text, '[')
	for i, item := range items {
		if i > 0 {
			o.text = append(o.text, ',')
		}
		response := object{text: o.text}
		response.open()
		if item != nil {
			response.item("Item", projections[i].Of(item))
		}
		o.text = response.close()
	}
	o.text = append(o.text, ']')
	b.appendAll(o, capacity)
	return o.close(), nil
}

func decodeTransactGet(body []byte) (gets []*request, capacity capacityMode, err error) {
	r, err := jsonread.New(string(body))
	if err != nil {
		return nil, 0, err
	}
	err = r.Object(func(name string) (err error) {
		switch name {
		case "ReturnConsumedCapacity":
			capacity, err = readCapacityMode(r)
			return err
		case "TransactItems":
			return r.Array(func() error {
				get, err := readGet(r)
				gets = append(gets, get)
				return err
			})
		}
		return notImplemented("TransactGetItems does not implement the parameter %s", name)
	})
	switch {
	case err != nil:
		return nil, 0, err
	case len(gets) == 0:
		return nil, 0, constraint("'[]'", "transactItems", "Member must have length greater than or equal to 1")
	case len(gets) > maxTransaction:
		return nil, 0, constraint("'["+formatInt(int64(len(gets)))+" items]'", "transactItems", "Member must have length less than or equal to 100")
	}
	return gets, capacity, r.End()
}

func readGet(r *jsonread.Reader) (get *request, err error) {
	err = r.Object(func(name string) (err error) {
		if name != "Get" {
			return notImplemented("TransactGetItems does not implement the action %s", name)
		}
		if get, err = decodeFrom("Get", r); err != nil {
			return err
		}
		return get.bindPlaceholders()
	})
	if err == nil && get == nil {
		err = constraint("null", "transactItems.member.get", "Member must not be null")
	}
	return get, err
}
