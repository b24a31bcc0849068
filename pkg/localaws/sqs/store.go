package sqs

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/belfry-scheduler/belfry/pkg/localaws/kv"
)

// The spaces of the engine that belong to this package. A message's content
// and state share a key and lie apart, so that receiving a large message does
// not write it again.
const (
	queueSpace   = "sqs.queue"   // queue id -> storedQueue
	contentSpace = "sqs.content" // queue id, seq -> content
	stateSpace   = "sqs.state"   // queue id, seq -> state and phase
)

type storedQueue struct {
	Name string `json:"name"`
	record
}

func queueKey(id uint64) []byte { return binary.BigEndian.AppendUint64(nil, id) }

func (k messageKey) bytes() []byte {
	return binary.BigEndian.AppendUint64(queueKey(k.queue), k.seq)
}

func (p *pending) write(tx kv.Tx) error {
	for id, change := range p.queues {
		if change.queue == nil {
			tx.Delete(queueSpace, queueKey(id))
			continue
		}
		value, err := json.Marshal(storedQueue{Name: change.queue.name, record: change.queue.record})
		if err != nil {
			return fmt.Errorf("encode queue %s: %w", change.queue.name, err)
		}
		tx.Put(queueSpace, queueKey(id), value)
	}
	for at, change := range p.messages {
		key := at.bytes()
		if change.message == nil {
			tx.Delete(contentSpace, key)
			tx.Delete(stateSpace, key)
			continue
		}
		if change.content {
			value, err := json.Marshal(change.message.content)
			if err != nil {
				return fmt.Errorf("encode message %s: %w", change.message.ID, err)
			}
			tx.Put(contentSpace, key, value)
		}
		tx.Put(stateSpace, key, change.message.encodeState())
	}
	return nil
}

const stateSize = 5*8 + 1

func (m *message) encodeState() []byte {
	raw := make([]byte, 0, stateSize)
	for _, number := range []int64{m.sent, m.visibleAt, m.received, m.first, int64(m.receives)} {
		raw = binary.BigEndian.AppendUint64(raw, uint64(number))
	}
	return append(raw, byte(m.phase))
}

// decodeState returns the phase apart: it holds only while the message is
// still invisible.
func (m *message) decodeState(raw []byte) (phase, error) {
	if len(raw) != stateSize {
		return 0, fmt.Errorf("state of message %s has %d bytes, not %d", m.ID, len(raw), stateSize)
	}
	number := func(i int) int64 { return int64(binary.BigEndian.Uint64(raw[8*i:])) }
	m.state = state{sent: number(0), visibleAt: number(1), received: number(2), first: number(3), receives: int(number(4))}
	if phase(raw[stateSize-1]) == inFlight {
		return inFlight, nil
	}
	return delayed, nil
}

// load rebuilds every queue from the engine. Messages whose visibility or
// retention ended while nothing ran are treated as if time had passed here.
func (s *Service) load() error {
	return s.engine.View(func(tx kv.Tx) error {
		byID := make(map[uint64]*queue)
		var failed error
		tx.Ascend(queueSpace, nil, func(key, value []byte) bool {
			var q *queue
			if q, failed = s.loadQueue(key, value); failed == nil {
				byID[q.id] = q
			}
			return failed == nil
		})
		if failed != nil {
			return failed
		}
		now := clock()
		tx.Ascend(contentSpace, nil, func(key, value []byte) bool {
			failed = loadMessage(byID, key, value, tx.Get(stateSpace, key), now)
			return failed == nil
		})
		return failed
	})
}

func (s *Service) loadQueue(key, value []byte) (*queue, error) {
	if len(key) != 8 {
		return nil, errors.New("a queue's key is damaged")
	}
	var stored storedQueue
	if err := json.Unmarshal(value, &stored); err != nil {
		return nil, fmt.Errorf("decode queue: %w", err)
	}
	q := newQueue(binary.BigEndian.Uint64(key), stored.Name, s.arn(stored.Name))
	q.record = stored.record
	q.lastSeq = q.Reserved
	if err := q.readSettings(); err != nil {
		return nil, err
	}
	s.queues[q.name] = q
	s.lastID = max(s.lastID, q.id)
	return q, nil
}

func loadMessage(byID map[uint64]*queue, key, value, rawState []byte, now int64) error {
	if len(key) != 16 {
		return errors.New("a message's key is damaged")
	}
	q := byID[binary.BigEndian.Uint64(key)]
	if q == nil {
		return fmt.Errorf("a message belongs to queue %d, which is not stored", binary.BigEndian.Uint64(key))
	}
	m := &message{seq: binary.BigEndian.Uint64(key[8:])}
	if err := json.Unmarshal(value, &m.content); err != nil {
		return fmt.Errorf("decode message: %w", err)
	}
	m.bodyMD5 = md5Hex(m.Body)
	hiddenAs, err := m.decodeState(rawState)
	if err != nil {
		return err
	}
	q.insert(m, hiddenAs, now)
	return nil
}
