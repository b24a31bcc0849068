package dynamo

import (
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// indexChange is one entry to put into an index, or to delete when it has no
// record.
type indexChange struct {
	Space   string
	Row     []byte
	Record  []byte
	Visible int64 // Unix nanoseconds from which index reads see it
}

func (c indexChange) make(tx kv.Tx) {
	if c.Record == nil {
		tx.Delete(c.Space, c.Row)
		return
	}
	tx.Put(c.Space, c.Row, c.Record)
}

// changeIndex makes the change now, or, under an index lag, puts it at the end
// of the table's queue.
func (s *Service) changeIndex(tx kv.Tx, t *table, change indexChange, now time.Time) {
	lag := time.Duration(s.indexLag.Load())
	if lag <= 0 && (!s.lagged.Load() || first(tx, t.lagSpace) == nil) {
		change.make(tx)
		return
	}
	change.Visible = now.Add(lag).UnixNano()
	queued, err := json.Marshal(change)
	if err != nil {
		panic(err) // bytes, strings and numbers always have a JSON form
	}
	tx.Put(t.lagSpace, nextNumber(tx, t.meta, "lag"), queued)
}

// settleIndexes makes the changes of a table whose time has come. Index reads
// call it first.
func (s *Service) settleIndexes(name string, now time.Time) error {
	if !s.lagged.Load() || !s.anyDue(name, now) {
		return nil
	}
	return s.engine.Update(func(tx kv.Tx) error {
		t, err := s.lookup(tx, name)
		if err != nil {
			return err
		}
		for {
			key, change := oldestChange(tx, t.lagSpace)
			if key == nil || change.Visible > now.UnixNano() {
				return nil
			}
			change.make(tx)
			tx.Delete(t.lagSpace, key)
		}
	})
}

// anyDue looks without writing, so that most reads wait for no writer.
func (s *Service) anyDue(name string, now time.Time) (due bool) {
	_ = s.engine.View(func(tx kv.Tx) error {
		t, err := s.lookup(tx, name)
		if err != nil {
			return err
		}
		key, change := oldestChange(tx, t.lagSpace)
		due = key != nil && change.Visible <= now.UnixNano()
		return nil
	})
	return due
}

func oldestChange(tx kv.Tx, space string) (key []byte, change indexChange) {
	tx.Ascend(space, nil, func(k, queued []byte) bool {
		if json.Unmarshal(queued, &change) == nil {
			key = append([]byte{}, k...)
		}
		return false
	})
	return key, change
}

func first(tx kv.Tx, space string) (key []byte) {
	tx.Ascend(space, nil, func(k, _ []byte) bool {
		key = append([]byte{}, k...)
		return false
	})
	return key
}

// nextNumber counts up the counter name of a space; its form sorts by number.
func nextNumber(tx kv.Tx, space, name string) []byte {
	var n uint64
	if stored := tx.Get(space, []byte(name)); stored != nil {
		n = binary.BigEndian.Uint64(stored)
	}
	next := binary.BigEndian.AppendUint64(nil, n+1)
	tx.Put(space, []byte(name), next)
	return next
}
