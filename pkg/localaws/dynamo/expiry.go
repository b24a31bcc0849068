package dynamo

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// oldestExpiry: the service leaves items alone whose expiry lies more than
// five years back, as it takes them for mistakes.
const oldestExpiry = 5 * 365 * 24 * time.Hour

// applyExpiry keeps the list of expiries in step with the item.
func (p *plan) applyExpiry(tx kv.Tx) {
	if p.table.TTL == "" {
		return
	}
	before, after := expiryRow(p.table, p.old, p.row), expiryRow(p.table, p.changed, p.row)
	if string(before) == string(after) {
		return
	}
	if before != nil {
		tx.Delete(p.table.expirySpace, before)
	}
	if after != nil {
		tx.Put(p.table.expirySpace, after, []byte{})
	}
}

// expiryRow sorts by expiry; nil when the item never expires.
func expiryRow(t *table, item attr.Item, row []byte) []byte {
	value := item.Get(t.TTL)
	if value.Kind != attr.N {
		return nil
	}
	whole, _, _ := strings.Cut(value.Text, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || seconds < 0 {
		return nil
	}
	return append(binary.BigEndian.AppendUint64(nil, uint64(seconds)), row...)
}

// sweepBatch is how many items one transaction of a sweep removes.
const sweepBatch = 100

// SweepExpired removes every item whose time to live has passed at now, as the
// service does some time after it: with a REMOVE in the stream that carries
// the service's identity, and without consuming capacity. Until then readers
// see the items. It returns how many were removed.
func (s *Service) SweepExpired(now time.Time) (int, error) {
	total := 0
	for _, name := range s.tableNames() {
		for {
			removed := 0
			err := s.engine.Update(func(tx kv.Tx) (err error) {
				removed, err = s.sweepTable(tx, name, now)
				return err
			})
			if err != nil {
				return total, err
			}
			total += removed
			if removed < sweepBatch {
				break
			}
		}
	}
	return total, nil
}

func (s *Service) sweepTable(tx kv.Tx, name string, now time.Time) (int, error) {
	if tx.Get(catalogSpace, []byte(name)) == nil {
		return 0, nil // deleted meanwhile
	}
	t, err := s.lookup(tx, name)
	if err != nil {
		return 0, err
	}
	rows := expiredRows(tx, t, now)
	for _, row := range rows {
		p := &plan{table: t, row: row}
		if p.old, err = readRow(tx, t.itemSpace, row); err != nil {
			return 0, err
		}
		if err := s.apply(tx, p, &bill{}, 0, byService, now); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

func expiredRows(tx kv.Tx, t *table, now time.Time) (rows [][]byte) {
	if t.TTL == "" {
		return nil
	}
	from := binary.BigEndian.AppendUint64(nil, uint64(max(0, now.Add(-oldestExpiry).Unix())))
	tx.Ascend(t.expirySpace, from, func(key, _ []byte) bool {
		if int64(binary.BigEndian.Uint64(key)) >= now.Unix() || len(rows) == sweepBatch {
			return false
		}
		rows = append(rows, append([]byte{}, key[8:]...))
		return true
	})
	return rows
}

func (s *Service) tableNames() (names []string) {
	_ = s.engine.View(func(tx kv.Tx) error {
		tx.Ascend(catalogSpace, nil, func(key, _ []byte) bool {
			names = append(names, string(key))
			return true
		})
		return nil
	})
	return names
}
