package sqs

import "github.com/belfry-scheduler/belfry/pkg/localaws/kv"

// pending is what has changed in memory and is not yet in the engine. It
// remembers which records changed, not what they became: the value is read
// when it is written, so that transactions which reach the engine in another
// order than the changes were made still leave the latest state.
type pending struct {
	off      bool // nothing is stored, so nothing is remembered
	messages map[messageKey]messageChange
	queues   map[uint64]queueChange
}

type messageKey struct{ queue, seq uint64 }

type messageChange struct {
	message *message // nil when it is gone
	content bool     // its content too, not only its state
}

type queueChange struct{ queue *queue } // nil when it is gone

func newPending() pending {
	return pending{
		messages: make(map[messageKey]messageChange),
		queues:   make(map[uint64]queueChange),
	}
}

// store marks a new message.
func (p *pending) store(q *queue, m *message) {
	if !p.off {
		p.messages[messageKey{q.id, m.seq}] = messageChange{message: m, content: true}
	}
}

// touch marks a message whose state has changed.
func (p *pending) touch(q *queue, m *message) {
	if !p.off {
		key := messageKey{q.id, m.seq}
		p.messages[key] = messageChange{message: m, content: p.messages[key].content}
	}
}

// drop marks a message that is gone.
func (p *pending) drop(q *queue, m *message) {
	if !p.off {
		p.messages[messageKey{q.id, m.seq}] = messageChange{}
	}
}

func (p *pending) keep(q *queue) {
	if !p.off {
		p.queues[q.id] = queueChange{queue: q}
	}
}

func (p *pending) forget(q *queue) {
	if !p.off {
		p.queues[q.id] = queueChange{}
	}
}

func (p *pending) any() bool { return len(p.messages) > 0 || len(p.queues) > 0 }

// takeFrom moves everything that is newer into p.
func (p *pending) takeFrom(newer *pending) {
	for key, change := range newer.messages {
		// What was to be stored in full still is, if it still exists.
		change.content = change.content || p.messages[key].content && change.message != nil
		p.messages[key] = change
	}
	for id, change := range newer.queues {
		p.queues[id] = change
	}
	clear(newer.messages)
	clear(newer.queues)
}

// commit returns once everything that this call changed is in the engine. It
// must be called without the lock: calls that commit at the same time share
// the engine's transaction, and whichever runs first writes for all.
//
//	Requires    nothing; runs after the change in memory
//	Writes      every pending record, as it is at that moment
//	Loses when  the engine fails; the changes stay pending and the next commit tries again
//	Then        the caller answers, or reports an internal fault
func (s *Service) commit() error {
	if s.engine == nil {
		return nil
	}
	taken := newPending()
	err := s.engine.Update(func(tx kv.Tx) error {
		// The engine may run this more than once when another transaction of
		// the same group fails, so what was taken before is written again.
		s.mu.Lock()
		defer s.mu.Unlock()
		taken.takeFrom(&s.pending)
		return taken.write(tx)
	})
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		taken.takeFrom(&s.pending)
		s.pending.takeFrom(&taken)
	}
	return err
}
