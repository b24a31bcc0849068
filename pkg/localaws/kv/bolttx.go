package kv

import (
	"bytes"
	"fmt"

	"go.etcd.io/bbolt"
)

// boltTx shows one bbolt transaction as a Tx. Spaces are top-level buckets,
// made by their first Put.
type boltTx struct {
	tx       *bbolt.Tx
	readOnly bool
	undo     undoLog
}

func (t *boltTx) Get(space string, key []byte) []byte {
	bucket := t.tx.Bucket([]byte(space))
	if bucket == nil {
		return nil
	}
	return bucket.Get(key)
}

func (t *boltTx) Put(space string, key, value []byte) {
	t.mustWrite("Put")
	bucket := t.bucket(space)
	previous, existed := remember(bucket, key)
	t.undo = append(t.undo, undoStep{space, key, previous, existed})
	if value == nil {
		value = []byte{} // within its transaction bbolt would answer nil, which means absent
	}
	must(bucket.Put(key, value))
}

func (t *boltTx) Delete(space string, key []byte) {
	t.mustWrite("Delete")
	bucket := t.tx.Bucket([]byte(space))
	if bucket == nil {
		return
	}
	previous, existed := remember(bucket, key)
	if !existed {
		return
	}
	t.undo = append(t.undo, undoStep{space, key, previous, true})
	must(bucket.Delete(key))
}

func (t *boltTx) Ascend(space string, from []byte, visit func(key, value []byte) bool) {
	bucket := t.tx.Bucket([]byte(space))
	if bucket == nil {
		return
	}
	cursor := bucket.Cursor()
	key, value := cursor.Seek(from)
	for ; key != nil; key, value = cursor.Next() {
		if !visit(key, value) {
			return
		}
	}
}

func (t *boltTx) Descend(space string, from []byte, visit func(key, value []byte) bool) {
	bucket := t.tx.Bucket([]byte(space))
	if bucket == nil {
		return
	}
	cursor := bucket.Cursor()
	key, value := lastUpTo(cursor, from)
	for ; key != nil; key, value = cursor.Prev() {
		if !visit(key, value) {
			return
		}
	}
}

// lastUpTo stands the cursor on the greatest key <= from, or on the last key
// when from is nil.
func lastUpTo(cursor *bbolt.Cursor, from []byte) (key, value []byte) {
	if from == nil {
		return cursor.Last()
	}
	key, value = cursor.Seek(from)
	if key == nil {
		return cursor.Last()
	}
	if bytes.Equal(key, from) {
		return key, value
	}
	return cursor.Prev()
}

func (t *boltTx) restore(step undoStep) {
	bucket := t.bucket(step.space)
	if step.existed {
		must(bucket.Put(step.key, step.previous))
		return
	}
	must(bucket.Delete(step.key))
}

func (t *boltTx) bucket(space string) *bbolt.Bucket {
	bucket, err := t.tx.CreateBucketIfNotExists([]byte(space))
	must(err)
	return bucket
}

func (t *boltTx) mustWrite(what string) {
	if t.readOnly {
		panic("kv: " + what + " inside a View")
	}
}

// remember copies the old value, because bbolt may move its pages within the
// transaction.
func remember(bucket *bbolt.Bucket, key []byte) (previous []byte, existed bool) {
	value := bucket.Get(key)
	if value == nil {
		return nil, false
	}
	return bytes.Clone(value), true
}

// must turns the few misuses that bbolt reports (empty key, key too long) into
// a panic: they are faults of the code above, and Update contains them.
func must(err error) {
	if err != nil {
		panic(fmt.Errorf("kv: %w", err))
	}
}
