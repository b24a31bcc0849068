package kv

import (
	"sync"
	"unsafe"

	"github.com/tidwall/btree"
)

// Memory is the engine that forgets: B-trees guarded by one read-write lock.
// It starts no goroutine and never blocks while it holds the lock, so it runs
// inside a testing/synctest bubble. The zero value is not usable; see
// NewMemory.
type Memory struct {
	mu     sync.RWMutex
	spaces map[string]*btree.Map[string, []byte]
}

// NewMemory returns an empty memory engine.
func NewMemory() *Memory {
	return &Memory{spaces: make(map[string]*btree.Map[string, []byte])}
}

// View runs fn on the state left by the last finished Update.
func (m *Memory) View(fn func(Tx) error) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return fn(&memoryTx{engine: m, readOnly: true})
}

// Update runs fn alone. If fn returns an error or panics, nothing that it
// wrote remains.
func (m *Memory) Update(fn func(Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	tx := &memoryTx{engine: m}
	kept := false
	defer func() {
		if !kept {
			tx.undo.rollback(tx.restore)
		}
	}()
	if err := fn(tx); err != nil {
		return err
	}
	kept = true
	return nil
}

// Close does nothing: there is nothing to flush.
func (m *Memory) Close() error { return nil }

type memoryTx struct {
	engine   *Memory
	readOnly bool
	undo     undoLog
}

func (tx *memoryTx) Get(space string, key []byte) []byte {
	tree := tx.engine.spaces[space]
	if tree == nil {
		return nil
	}
	value, found := tree.Get(asString(key))
	if !found {
		return nil
	}
	return value
}

func (tx *memoryTx) Put(space string, key, value []byte) {
	tx.mustWrite("Put")
	tree := tx.engine.spaces[space]
	if tree == nil {
		tree = btree.NewMap[string, []byte](32)
		tx.engine.spaces[space] = tree
	}
	if value == nil {
		value = []byte{}
	}
	previous, existed := tree.Set(asString(key), value)
	tx.undo = append(tx.undo, undoStep{space, key, previous, existed})
}

func (tx *memoryTx) Delete(space string, key []byte) {
	tx.mustWrite("Delete")
	tree := tx.engine.spaces[space]
	if tree == nil {
		return
	}
	previous, existed := tree.Delete(asString(key))
	if !existed {
		return
	}
	tx.undo = append(tx.undo, undoStep{space, key, previous, true})
	if tree.Len() == 0 {
		delete(tx.engine.spaces, space)
	}
}

func (tx *memoryTx) Ascend(space string, from []byte, visit func(key, value []byte) bool) {
	tree := tx.engine.spaces[space]
	if tree == nil {
		return
	}
	tree.Ascend(asString(from), func(key string, value []byte) bool {
		return visit(asBytes(key), value)
	})
}

func (tx *memoryTx) Descend(space string, from []byte, visit func(key, value []byte) bool) {
	tree := tx.engine.spaces[space]
	if tree == nil {
		return
	}
	step := func(key string, value []byte) bool { return visit(asBytes(key), value) }
	if from == nil {
		tree.Reverse(step)
		return
	}
	tree.Descend(asString(from), step)
}

func (tx *memoryTx) restore(step undoStep) {
	tree := tx.engine.spaces[step.space]
	if tree == nil {
		tree = btree.NewMap[string, []byte](32)
		tx.engine.spaces[step.space] = tree
	}
	if step.existed {
		tree.Set(asString(step.key), step.previous)
		return
	}
	tree.Delete(asString(step.key))
	if tree.Len() == 0 {
		delete(tx.engine.spaces, step.space)
	}
}

func (tx *memoryTx) mustWrite(what string) {
	if tx.readOnly {
		panic("kv: " + what + " inside a View")
	}
}

// asString and asBytes share memory instead of copying it: keys are handed
// over for good, and nobody may change what a Tx returns.
func asString(key []byte) string { return unsafe.String(unsafe.SliceData(key), len(key)) }

func asBytes(key string) []byte { return unsafe.Slice(unsafe.StringData(key), len(key)) }
