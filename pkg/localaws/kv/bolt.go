package kv

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// maxGroup bounds how many Updates share one commit, so that the first of
// them does not wait for an endless queue.
const maxGroup = 1024

// ErrClosed answers every call on an engine that has been closed.
var ErrClosed = errors.New("kv: engine is closed")

// Bolt is the engine that remembers: one bbolt file. Updates that arrive
// while a commit is on its way to the disk are committed together by the next
// one, so that many callers share one fsync. An Update returns only after its
// group is on disk; whatever it returned survives the death of the process.
type Bolt struct {
	db      *bbolt.DB
	mu      sync.Mutex
	waiting []*boltUpdate
	closed  bool
	wake    chan struct{}
	stopped chan struct{}
}

type boltUpdate struct {
	fn       func(Tx) error
	err      error
	panicked any
	done     chan struct{}
}

// OpenBolt opens or creates the file at path. It fails when another process
// holds the file.
func OpenBolt(path string) (*Bolt, error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout:         2 * time.Second,
		FreelistType:    bbolt.FreelistMapType,
		NoFreelistSync:  true,
		InitialMmapSize: 256 << 20,
	})
	if err != nil {
		return nil, fmt.Errorf("open %s (is another process using it?): %w", path, err)
	}
	b := &Bolt{db: db, wake: make(chan struct{}, 1), stopped: make(chan struct{})}
	go b.commitGroups()
	return b, nil
}

// View runs fn on the state of the last commit.
func (b *Bolt) View(fn func(Tx) error) error {
	err := b.db.View(func(tx *bbolt.Tx) error {
		return fn(&boltTx{tx: tx, readOnly: true})
	})
	if errors.Is(err, bbolterrors.ErrDatabaseNotOpen) {
		return ErrClosed
	}
	return err
}

// Update runs fn in the next group and returns once the group is on disk. A
// fn that returns an error or panics leaves no trace and does not disturb the
// others of its group.
func (b *Bolt) Update(fn func(Tx) error) error {
	update := &boltUpdate{fn: fn, done: make(chan struct{})}
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return ErrClosed
	}
	b.waiting = append(b.waiting, update)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
	<-update.done
	if update.panicked != nil {
		panic(update.panicked)
	}
	return update.err
}

// Close commits what is waiting, then closes the file. A second Close does
// nothing.
func (b *Bolt) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	b.closed = true
	close(b.wake)
	b.mu.Unlock()
	<-b.stopped
	return b.db.Close()
}

func (b *Bolt) commitGroups() {
	defer close(b.stopped)
	for range b.wake {
		for group := b.takeGroup(); len(group) > 0; group = b.takeGroup() {
			b.commit(group)
		}
	}
	for group := b.takeGroup(); len(group) > 0; group = b.takeGroup() {
		b.commit(group)
	}
}

func (b *Bolt) takeGroup() []*boltUpdate {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.waiting), maxGroup)
	group := b.waiting[:n:n]
	b.waiting = b.waiting[n:]
	return group
}

// commit answers nobody before the disk has answered: even a refusal (a failed
// condition) was decided on the writes of its group mates.
func (b *Bolt) commit(group []*boltUpdate) {
	defer func() {
		for _, update := range group {
			close(update.done)
		}
	}()
	tx, err := b.db.Begin(true)
	if err != nil {
		failAll(group, err)
		return
	}
	changed := false
	for _, update := range group {
		changed = update.run(tx) || changed
	}
	if !changed {
		_ = tx.Rollback()
		return
	}
	if err := tx.Commit(); err != nil {
		failAll(group, fmt.Errorf("commit: %w", err))
	}
}

func failAll(group []*boltUpdate, err error) {
	for _, update := range group {
		update.err = err
	}
}

// run reports whether fn has left anything to commit.
func (u *boltUpdate) run(tx *bbolt.Tx) (changed bool) {
	view := &boltTx{tx: tx}
	defer func() {
		u.panicked = recover()
		if u.panicked == nil && u.err == nil {
			changed = len(view.undo) > 0
			return
		}
		changed = false
		view.undo.rollback(view.restore)
	}()
	u.err = u.fn(view)
	return false
}
