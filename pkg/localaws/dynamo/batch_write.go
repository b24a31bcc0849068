package dynamo

import (
	"slices"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/jsonread"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// maxBatchWrite is how many requests one BatchWriteItem takes.
const maxBatchWrite = 25

// batchWriteItem carries out its requests in one transaction, which the
// service does not promise and nobody can tell apart: it never leaves any
// unprocessed.
func (s *Service) batchWriteItem(body []byte) ([]byte, error) {
	requests, capacity, err := decodeBatchWrite(body)
	if err != nil {
		return nil, err
	}
	writes := make([]*write, len(requests))
	for i, in := range requests {
		if writes[i], err = s.bindWrite(in); err != nil {
			return nil, err
		}
	}
	b := &bill{operation: "BatchWriteItem", write: true}
	err = s.engine.Update(func(tx kv.Tx) error { return s.writeBatch(tx, writes, b) })
	if err != nil {
		return nil, err
	}
	s.report(b, false)
	o := newObject()
	o.member("UnprocessedItems")
	o.text = append(o.text, "{}"...)
	b.appendAll(o, capacity)
	return o.close(), nil
}

func (s *Service) writeBatch(tx kv.Tx, writes []*write, b *bill) error {
	plans := make([]*plan, len(writes))
	for i, w := range writes {
		p, err := w.plan(s, tx)
		if err != nil {
			return err
		}
		if repeats(plans[:i], p) {
			return validation("Provided list of item keys contains duplicates")
		}
		if err := w.decide(p); err != nil {
			return err
		}
		plans[i] = p
	}
	for _, p := range plans {
		if err := s.apply(tx, p, b, 1, byCaller, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

func decodeBatchWrite(body []byte) (requests []*request, capacity capacityMode, err error) {
	r, err := jsonread.New(string(body))
	if err != nil {
		return nil, 0, err
	}
	err = r.Object(func(name string) (err error) {
		if r.Null() {
			return nil
		}
		switch name {
		case "ReturnConsumedCapacity":
			capacity, err = readCapacityMode(r)
		case "ReturnItemCollectionMetrics":
			_, err = choice(r, "returnItemCollectionMetrics", "SIZE", "NONE")
		case "RequestItems":
			return r.Object(func(table string) error {
				return r.Array(func() error {
					in, err := readBatchRequest(r, table)
					requests = append(requests, in)
					return err
				})
			})
		default:
			return notImplemented("BatchWriteItem does not implement the parameter %s", name)
		}
		return err
	})
	switch {
	case err != nil:
		return nil, 0, err
	case len(requests) == 0:
		return nil, 0, constraint("'{}'", "requestItems", "Member must have length greater than or equal to 1")
	case len(requests) > maxBatchWrite:
		return nil, 0, validation("Too many items requested for the BatchWriteItem call")
	}
	return requests, capacity, r.End()
}

func readBatchRequest(r *jsonread.Reader, table string) (in *request, err error) {
	err = r.Object(func(name string) (err error) {
		if r.Null() {
			return nil
		}
		if !slices.Contains([]string{"PutRequest", "DeleteRequest"}, name) {
			return notImplemented("BatchWriteItem does not implement the request %s", name)
		}
		if in != nil {
			return validation("Supplied WriteRequest has more than one type of request, must contain exactly one")
		}
		if in, err = decodeFrom(name, r); err != nil {
			return err
		}
		in.table = table
		return in.bindPlaceholders()
	})
	if err == nil && in == nil {
		err = validation("Supplied WriteRequest is empty, must contain a PutRequest or a DeleteRequest")
	}
	return in, err
}
