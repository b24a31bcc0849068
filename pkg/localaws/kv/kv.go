// Package kv is the ordered key-value store beneath the local backend. Two
// engines satisfy Engine: memory (a B-tree, for tests and simulation) and bolt
// (one file, for `belfry dev`). Nothing above this package knows which one it
// has.
package kv

// Engine holds named spaces of ordered keys. Update calls are serialisable:
// each sees all earlier ones and none of it is visible when its function
// returns an error. View calls see one consistent state.
type Engine interface {
	// View runs fn on one consistent state and returns its error.
	View(fn func(Tx) error) error
	// Update runs fn alone and keeps its writes if it returns nil.
	Update(fn func(Tx) error) error
	// Close releases the engine; nothing that an Update returned for is lost.
	Close() error
}

// Tx reads and writes within one transaction. Byte slices that it returns are
// valid, and must not be changed, until the transaction ends. Keys compare as
// bytes. In a View, Put and Delete panic.
type Tx interface {
	// Get returns the value of key, or nil when it is absent.
	Get(space string, key []byte) []byte
	// Put keeps key and value: the caller must not change them afterwards.
	Put(space string, key, value []byte)
	// Delete removes key; an absent key is no error.
	Delete(space string, key []byte)
	// Ascend visits keys >= from in order (all keys when from is nil) until
	// visit returns false. The space must not be changed by visit.
	Ascend(space string, from []byte, visit func(key, value []byte) bool)
	// Descend visits keys <= from in reverse order (all when from is nil).
	Descend(space string, from []byte, visit func(key, value []byte) bool)
}
