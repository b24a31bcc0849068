package sqs

import (
	"container/list"
	"time"
)

// queue is one standard queue. Service.mu guards all of it.
type queue struct {
	id   uint64
	name string
	arn  string
	record

	settings settings
	messages map[uint64]*message
	ready    *ordering // visible, in the order in which they became so
	timed    *ordering // delayed or in flight, by the end of that
	age      *ordering // all, oldest first
	counts   [3]int    // by phase
	lastSeq  uint64
	sends    int

	waiters *list.List // of *waiter, longest wait first
	timer   *time.Timer
}

// record is what is stored of a queue besides its messages.
type record struct {
	Attributes map[string]string `json:"attributes"` // as set, not the defaults
	Tags       map[string]string `json:"tags,omitempty"`
	Created    int64             `json:"created"`  // seconds since 1970
	Modified   int64             `json:"modified"` // seconds since 1970
	Purged     int64             `json:"purged,omitempty"`
	Reserved   uint64            `json:"reserved"` // highest number that a message may have got
}

func newQueue(id uint64, name, arn string) *queue {
	return &queue{
		id: id, name: name, arn: arn,
		messages: make(map[uint64]*message),
		ready:    byVisibility(),
		timed:    byVisibility(),
		age:      byAge(),
		waiters:  list.New(),
	}
}

// insert puts a message that is in no heap where its state belongs at now.
// hiddenAs says what it is while it is not visible.
func (q *queue) insert(m *message, hiddenAs phase, now int64) {
	q.messages[m.seq] = m
	q.age.add(m)
	q.place(m, hiddenAs, now)
}

func (q *queue) place(m *message, hiddenAs phase, now int64) {
	if m.visibleAt > now {
		m.phase = hiddenAs
		q.timed.add(m)
	} else {
		m.phase = ready
		q.ready.add(m)
	}
	q.counts[m.phase]++
}

func (q *queue) displace(m *message) {
	if m.phase == ready {
		q.ready.remove(m)
	} else {
		q.timed.remove(m)
	}
	q.counts[m.phase]--
}

func (q *queue) remove(m *message) {
	q.displace(m)
	q.age.remove(m)
	delete(q.messages, m.seq)
}

// advance brings the queue to now: delays and visibilities that have ended
// make their messages ready, and messages past retention are returned, taken
// out.
func (q *queue) advance(now int64) (expired []*message) {
	for m := q.age.first(); m != nil && m.sent+q.settings.retention <= now; m = q.age.first() {
		q.remove(m)
		expired = append(expired, m)
	}
	for m := q.timed.first(); m != nil && m.visibleAt <= now; m = q.timed.first() {
		q.displace(m)
		q.place(m, ready, now)
	}
	return expired
}

// hide takes a message out of sight until the given instant.
func (q *queue) hide(m *message, until, now int64) {
	q.displace(m)
	m.visibleAt = until
	q.place(m, inFlight, now)
}

// find returns the message that a receipt speaks of, or nil when it is gone.
func (q *queue) find(r receipt) *message {
	m := q.messages[r.seq]
	if m == nil || receiptOf(q, m).check != r.check {
		return nil
	}
	return m
}

// seqBlock is how many message numbers are reserved at a time, so that a
// number is never given out twice although not every one is stored.
const seqBlock = 1000

// nextSeq numbers a new message of the queue.
func (s *Service) nextSeq(q *queue) uint64 {
	q.lastSeq++
	if q.lastSeq > q.Reserved {
		q.Reserved = q.lastSeq + seqBlock - 1
		s.pending.keep(q)
	}
	return q.lastSeq
}
