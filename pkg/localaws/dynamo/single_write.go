package dynamo

import (
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

func (s *Service) putItem(body []byte) ([]byte, error) {
	return s.writeOne("PutItem", body)
}

func (s *Service) updateItem(body []byte) ([]byte, error) {
	return s.writeOne("UpdateItem", body)
}

func (s *Service) deleteItem(body []byte) ([]byte, error) {
	return s.writeOne("DeleteItem", body)
}

func (s *Service) writeOne(operation string, body []byte) ([]byte, error) {
	in, err := decode(operation, body)
	if err != nil {
		return nil, err
	}
	if operation != "UpdateItem" && in.returnValues != "" && in.returnValues != "NONE" && in.returnValues != "ALL_OLD" {
		return nil, validation("ReturnValues can only be ALL_OLD or NONE")
	}
	w, err := s.bindWrite(in)
	if err != nil {
		return nil, err
	}
	b := &bill{operation: operation, write: true}
	p, err := s.perform(w, b, byCaller)
	s.report(b, err != nil)
	if err != nil {
		return nil, err
	}
	return w.answer(p, b), nil
}

// perform runs one write in a transaction of its own. A refused condition is
// billed for the item that it looked at.
func (s *Service) perform(w *write, b *bill, by actor) (*plan, error) {
	var p *plan
	err := s.engine.Update(func(tx kv.Tx) error {
		planned, err := w.plan(s, tx)
		if err != nil {
			return err
		}
		p = planned
		if err := w.decide(p); err != nil {
			if isConditionFailure(err) {
				b.onTable(p.table.Name, writeUnits(p.old.Size()))
			}
			return err
		}
		return s.apply(tx, p, b, 1, by, time.Now())
	})
	return p, err
}

func (w *write) answer(p *plan, b *bill) []byte {
	o := newObject()
	if attributes := w.returned(p); len(attributes) > 0 {
		o.item("Attributes", attributes)
	}
	b.appendOne(o, w.in.capacity)
	return o.close()
}

func (w *write) returned(p *plan) attr.Item {
	switch w.in.returnValues {
	case "ALL_OLD":
		return p.old
	case "ALL_NEW":
		return p.changed
	case "UPDATED_OLD":
		return w.update.Projection().Of(p.old)
	case "UPDATED_NEW":
		return w.update.Projection().Of(p.changed)
	default:
		return nil
	}
}
