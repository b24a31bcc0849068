package queue

import (
	"context"
	"sync"
	"time"
)

// gather joins what several goroutines want done within a short window into
// one request. The first to come leads: it waits out the window, or until the
// batch is full, and flushes for all; nothing runs between calls.
type gather[T any] struct {
	clock  Clock
	window time.Duration
	flush  func(ctx context.Context, items []T) []error

	mu   sync.Mutex
	open *batch[T]
}

type batch[T any] struct {
	items []T
	errs  []error
	full  chan struct{} // closed when no more may join
	done  chan struct{} // closed when errs is filled in
}

// add puts item into the open batch and returns its answer. A caller whose
// context ends does not wait for the answer; the request goes out all the same.
func (g *gather[T]) add(ctx context.Context, item T) error {
	g.mu.Lock()
	b := g.open
	leads := b == nil
	if leads {
		b = &batch[T]{full: make(chan struct{}), done: make(chan struct{})}
		g.open = b
	}
	at := len(b.items)
	b.items = append(b.items, item)
	if len(b.items) == batchSize {
		g.open = nil
		close(b.full)
	}
	g.mu.Unlock()
	if leads {
		go g.lead(context.WithoutCancel(ctx), b)
	}
	select {
	case <-b.done:
		return b.errs[at]
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gather[T]) lead(ctx context.Context, b *batch[T]) {
	window, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-b.full:
			stop()
		case <-window.Done():
		}
	}()
	_ = g.clock.Wait(window, g.clock.Now().Add(g.window)) // either end is a reason to flush
	g.mu.Lock()
	if g.open == b {
		g.open = nil
	}
	g.mu.Unlock()
	b.errs = g.flush(ctx, b.items)
	close(b.done)
}
