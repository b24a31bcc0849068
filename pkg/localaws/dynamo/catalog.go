package dynamo

import (
	"bytes"
	"encoding/json"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

const catalogSpace = "catalog"

// lookup finds a table within tx. What it decoded before is used again while
// the stored bytes are the same, so a table that was deleted and made anew
// between two calls is never confused with its past.
func (s *Service) lookup(tx kv.Tx, name string) (*table, error) {
	stored := tx.Get(catalogSpace, []byte(name))
	if stored == nil {
		return nil, tableNotFound()
	}
	if cached, found := s.tables.Load(name); found && bytes.Equal(cached.(*catalogEntry).stored, stored) {
		return cached.(*catalogEntry).table, nil
	}
	decoded, err := decodeTable(stored, s.opts.Region, s.opts.Account)
	if err != nil {
		return nil, err
	}
	s.tables.Store(name, &catalogEntry{bytes.Clone(stored), decoded})
	return decoded, nil
}

type catalogEntry struct {
	stored []byte
	table  *table
}

func saveTable(tx kv.Tx, t *table) error {
	stored, err := json.Marshal(t)
	if err != nil {
		return err
	}
	tx.Put(catalogSpace, []byte(t.Name), stored)
	return nil
}

// clearSpace deletes every key of a space.
func clearSpace(tx kv.Tx, space string) {
	var keys [][]byte
	tx.Ascend(space, nil, func(key, _ []byte) bool {
		keys = append(keys, bytes.Clone(key))
		return true
	})
	for _, key := range keys {
		tx.Delete(space, key)
	}
}
