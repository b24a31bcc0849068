package dynamo

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/localaws/dynamo/attr"
	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// Stream records are kept for a day, like the service's.
const streamRetention = 24 * time.Hour

// trimBatch bounds the tidying that one append does.
const trimBatch = 4

// appendStream adds a record of the change to the table's stream, if it has
// one. A stored record is its time (8 bytes, Unix seconds) and its JSON.
func (s *Service) appendStream(tx kv.Tx, p *plan, by actor, now time.Time) error {
	t := p.table
	if t.Stream.View == "" {
		return nil
	}
	key := nextNumber(tx, t.meta, "stream")
	stored := binary.BigEndian.AppendUint64(make([]byte, 0, 1024), uint64(now.Unix()))
	stored = append(stored, s.streamRecord(p, key, by, now)...)
	tx.Put(t.streamSpace, key, stored)
	trimStream(tx, t, now)
	return nil
}

func trimStream(tx kv.Tx, t *table, now time.Time) {
	var old [][]byte
	tx.Ascend(t.streamSpace, nil, func(key, stored []byte) bool {
		if now.Sub(time.Unix(int64(binary.BigEndian.Uint64(stored)), 0)) <= streamRetention || len(old) == trimBatch {
			return false
		}
		old = append(old, append([]byte{}, key...))
		return true
	})
	for _, key := range old {
		tx.Delete(t.streamSpace, key)
	}
}

func (s *Service) streamRecord(p *plan, key []byte, by actor, now time.Time) []byte {
	o := newObject()
	o.string("eventID", hex.EncodeToString(append([]byte(p.table.ID), key...)))
	o.string("eventName", p.eventName())
	o.string("eventVersion", "1.1")
	o.string("eventSource", "aws:dynamodb")
	o.string("awsRegion", s.opts.Region)
	o.member("dynamodb")
	o.text = p.appendChange(o.text, key, now)
	if by == byService {
		o.member("userIdentity")
		o.text = append(o.text, `{"PrincipalId":"dynamodb.amazonaws.com","Type":"Service"}`...)
	}
	return o.close()
}

func (p *plan) eventName() string {
	switch {
	case p.old == nil:
		return "INSERT"
	case p.changed == nil:
		return "REMOVE"
	default:
		return "MODIFY"
	}
}

func (p *plan) appendChange(dst, key []byte, now time.Time) []byte {
	present := p.changed
	if present == nil {
		present = p.old
	}
	keys := p.table.Key.keyOf(present)
	size := keys.Size()
	o := &object{text: dst}
	o.open()
	o.member("ApproximateCreationDateTime")
	o.text = strconv.AppendInt(o.text, now.Unix(), 10)
	o.item("Keys", keys)
	if view := p.table.Stream.View; p.changed != nil && (view == "NEW_IMAGE" || view == "NEW_AND_OLD_IMAGES") {
		o.item("NewImage", p.changed)
		size += p.changed.Size()
	}
	if view := p.table.Stream.View; p.old != nil && (view == "OLD_IMAGE" || view == "NEW_AND_OLD_IMAGES") {
		o.item("OldImage", p.old)
		size += p.old.Size()
	}
	o.string("SequenceNumber", sequenceNumber(key))
	o.int("SizeBytes", size)
	o.string("StreamViewType", p.table.Stream.View)
	return o.close()
}

// sequenceNumber has the service's width, so that texts sort like numbers.
func sequenceNumber(key []byte) string {
	return fmt.Sprintf("%021d", binary.BigEndian.Uint64(key))
}

func (o *object) string(name, value string) {
	o.member(name)
	o.text = attr.AppendString(o.text, value)
}
