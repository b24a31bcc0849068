package dynamo

import (
	"slices"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/expr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/jsonread"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// maxBatchGet is how many keys one BatchGetItem takes; its answer stops at
// maxBatchBytes, and the rest comes back as UnprocessedKeys.
const (
	maxBatchGet   = 100
	maxBatchBytes = 16 << 20
)

// keysOfTable is one entry of BatchGetItem's RequestItems.
type keysOfTable struct {
	request
	keys []attr.Item

	bound *expr.Projection
	found []attr.Item
	rest  []attr.Item
}

func (s *Service) batchGetItem(body []byte) ([]byte, error) {
	entries, capacity, err := decodeBatchGet(body)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if err := entry.bindPlaceholders(); err != nil {
			return nil, err
		}
		if entry.bound, err = s.bindProjection(&entry.request); err != nil {
			return nil, err
		}
	}
	b := &bill{operation: "BatchGetItem"}
	err = s.engine.View(func(tx kv.Tx) error {
		budget := maxBatchBytes
		for _, entry := range entries {
			if err := s.readKeys(tx, entry, b, &budget); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.report(b, false)
	return answerBatchGet(entries, b, capacity), nil
}

func decodeBatchGet(body []byte) (entries []*keysOfTable, capacity capacityMode, err error) {
	r, err := jsonread.New(string(body))
	if err != nil {
		return nil, 0, err
	}
	total := 0
	err = r.Object(func(name string) error {
		switch name {
		case "ReturnConsumedCapacity":
			capacity, err = readCapacityMode(r)
			return err
		case "RequestItems":
			return r.Object(func(table string) error {
				entry, err := readKeysOfTable(r, table)
				entries = append(entries, entry)
				total += len(entry.keys)
				return err
			})
		}
		return notImplemented("BatchGetItem does not implement the parameter %s", name)
	})
	if err != nil {
		return nil, 0, err
	}
	if len(entries) == 0 {
		return nil, 0, constraint("'{}'", "requestItems", "Member must have length greater than or equal to 1")
	}
	if total > maxBatchGet {
		return nil, 0, validation("Too many items requested for the BatchGetItem call")
	}
	return entries, capacity, r.End()
}

var keysMembers = []string{"Keys", "ConsistentRead", "ProjectionExpression", "ExpressionAttributeNames"}

func readKeysOfTable(r *jsonread.Reader, table string) (*keysOfTable, error) {
	entry := &keysOfTable{request: request{operation: "Keys", table: table}}
	err := r.Object(func(name string) error {
		switch {
		case r.Null():
			return nil
		case !slices.Contains(keysMembers, name):
			return notImplemented("BatchGetItem does not implement the parameter %s", name)
		case name != "Keys":
			return entry.read(name, r)
		}
		return r.Array(func() error {
			key, err := attr.ReadItem(r)
			entry.keys = append(entry.keys, key)
			return err
		})
	})
	if err == nil && len(entry.keys) == 0 {
		err = constraint("'[]'", "requestItems."+table+".member.keys", "Member must have length greater than or equal to 1")
	}
	return entry, err
}

func (s *Service) readKeys(tx kv.Tx, entry *keysOfTable, b *bill, budget *int) error {
	for i, key := range entry.keys {
		item, err := s.readItem(tx, entry.table, key)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(entry.keys[:i], key.Equal) {
			return validation("Provided list of item keys contains duplicates")
		}
		if *budget -= item.Size(); *budget < 0 {
			entry.rest = append(entry.rest, key)
			continue
		}
		b.onTable(entry.table, readUnits(item.Size(), entry.consistent))
		if item != nil {
			entry.found = append(entry.found, entry.bound.Of(item))
		}
	}
	return nil
}

func answerBatchGet(entries []*keysOfTable, b *bill, capacity capacityMode) []byte {
	o := newObject()
	o.member("Responses")
	responses := object{text: o.text}
	responses.open()
	for _, entry := range entries {
		responses.items(entry.table, entry.found)
	}
	o.text = responses.close()
	o.member("UnprocessedKeys")
	unprocessed := object{text: o.text}
	unprocessed.open()
	for _, entry := range entries {
		if len(entry.rest) > 0 {
			unprocessed.member(entry.table)
			unprocessed.text = entry.appendRest(unprocessed.text)
		}
	}
	o.text = unprocessed.close()
	b.appendAll(o, capacity)
	return o.close()
}

// appendRest writes what the caller has to ask for again.
func (entry *keysOfTable) appendRest(dst []byte) []byte {
	o := &object{text: dst}
	o.open()
	o.items("Keys", entry.rest)
	if entry.consistent {
		o.member("ConsistentRead")
		o.text = append(o.text, "true"...)
	}
	if entry.projection != nil {
		o.string("ProjectionExpression", *entry.projection)
	}
	if entry.hasNames {
		o.member("ExpressionAttributeNames")
		names := object{text: o.text}
		names.open()
		for _, n := range entry.names {
			names.string(n.Placeholder, n.Name)
		}
		o.text = names.close()
	}
	return o.close()
}
