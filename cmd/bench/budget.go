package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/belfry-scheduler/belfry/functions"
)

// measureBudget counts units and requests. Nothing in it depends on how fast
// the machine is.
func measureBudget(ctx context.Context, to *report, _ io.Writer) error {
	many, err := newRecurring(ctx)
	if err != nil {
		return err
	}
	defer many.close()
	for _, step := range []func(context.Context, *report) error{many.warm, many.cold, many.record} {
		if err := step(ctx, to); err != nil {
			return err
		}
	}
	one, err := newTown(ctx, 1)
	if err != nil {
		return err
	}
	defer one.close()
	s := &single{town: one, to: to}
	for _, step := range s.steps() {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := s.putWordy(ctx); err != nil {
		return err
	}
	if err := sizes(ctx, to, many.town, one); err != nil {
		return err
	}
	return idleMinute(ctx, to)
}

// close ends the backend; what it held in memory is nobody's any more.
func (t *town) close() { _ = t.backend.Close() }

// idleMinute measures one minute of an installation in which nothing is due.
func idleMinute(ctx context.Context, to *report) error {
	t, err := newTown(ctx, 256)
	if err != nil {
		return err
	}
	defer t.close()
	// The first minute of an installation writes its layout, once.
	if err := t.minute(ctx); err != nil {
		return err
	}
	t.forget()
	if err := t.minute(ctx); err != nil {
		return err
	}
	reads, writes, _, err := t.spent()
	to.sum("idle_minute_rru", reads)
	to.sum("idle_minute_wru", writes)
	to.sum("idle_minute_sqs", t.calls.take(queues))
	return err
}

// minute lets a minute pass: its tick, then every scan that the tick asked for.
func (t *town) minute(ctx context.Context) error {
	t.clock.set(t.clock.Now().Add(time.Minute))
	if _, err := functions.Tick(t.Installation)(ctx, json.RawMessage(`{}`)); err != nil {
		return err
	}
	scan := functions.Scan(t.Installation)
	const ranges = 16 // that a tick fans out into
	for left := ranges; left > 0; {
		b, err := t.invoke(ctx, t.Queues.Names.Scan(), scan)
		if err != nil {
			return err
		}
		if len(b.messages) == 0 || len(b.kept) > 0 {
			return fmt.Errorf("%d scan messages are missing, %d were given back", left, len(b.kept))
		}
		left -= len(b.messages)
	}
	return nil
}
