package sqs

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"time"
)

// phase says in which of a queue's heaps a message is, and why.
type phase int

const (
	ready    phase = iota // may be received
	delayed               // sent, not visible yet
	inFlight              // received, hidden until its visibility ends
)

// message is one message of one queue. Instants are nanoseconds since 1970.
type message struct {
	seq   uint64
	phase phase

	content
	state

	slot    int // in ready or timed
	ageSlot int // in age
}

// content never changes once the message is sent.
type content struct {
	ID         string               `json:"id"`
	Body       string               `json:"body"`
	Attributes map[string]attribute `json:"attributes,omitempty"`
	Trace      string               `json:"trace,omitempty"`
	Group      string               `json:"group,omitempty"`
	Source     string               `json:"source,omitempty"` // ARN of the queue it was redriven from
	bodyMD5    string
}

// state is what receiving a message changes.
type state struct {
	sent      int64
	visibleAt int64
	received  int64 // last receipt, 0 when never
	first     int64 // first receipt, 0 when never
	receives  int
}

// messageID is a UUID made from what is unique about the message, so that a
// simulated run repeats itself.
func messageID(queueARN string, queueID, seq uint64, sent int64) string {
	hash := sha1.New()
	hash.Write([]byte(queueARN))
	var numbers [24]byte
	binary.BigEndian.PutUint64(numbers[0:], queueID)
	binary.BigEndian.PutUint64(numbers[8:], seq)
	binary.BigEndian.PutUint64(numbers[16:], uint64(sent))
	hash.Write(numbers[:])
	sum := hash.Sum(nil)[:16]
	sum[6] = sum[6]&0x0f | 0x50
	sum[8] = sum[8]&0x3f | 0x80
	text := hex.EncodeToString(sum)
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// receipt is what a handle says: which message, and which receipt of it.
type receipt struct {
	queue, seq uint64
	receives   uint32
	check      [8]byte // start of the hash of the message's id
}

func receiptOf(q *queue, m *message) receipt {
	r := receipt{queue: q.id, seq: m.seq, receives: uint32(m.receives)}
	sum := sha1.Sum([]byte(m.ID))
	copy(r.check[:], sum[:])
	return r
}

func (r receipt) handle() string {
	var raw [28]byte
	binary.BigEndian.PutUint64(raw[0:], r.queue)
	binary.BigEndian.PutUint64(raw[8:], r.seq)
	binary.BigEndian.PutUint32(raw[16:], r.receives)
	copy(raw[20:], r.check[:])
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

func parseHandle(handle string) (receipt, error) {
	if handle == "" {
		return receipt{}, missing("ReceiptHandle")
	}
	raw, err := base64.RawURLEncoding.DecodeString(handle)
	if err != nil || len(raw) != 28 {
		return receipt{}, badHandle(handle)
	}
	r := receipt{
		queue:    binary.BigEndian.Uint64(raw[0:]),
		seq:      binary.BigEndian.Uint64(raw[8:]),
		receives: binary.BigEndian.Uint32(raw[16:]),
	}
	copy(r.check[:], raw[20:])
	return r, nil
}

// milliseconds writes an instant as message attributes show it.
func milliseconds(nanoseconds int64) string {
	return strconv.FormatInt(nanoseconds/int64(time.Millisecond), 10)
}
