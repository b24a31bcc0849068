package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

// The two numbers of stored jobs that a tick must not tell apart.
const (
	fewJobs  = 1_000
	manyJobs = 100_000
)

// measureIdle counts what a tick and its scans do with few and with many jobs
// of which none is due.
func measureIdle(ctx context.Context, to *report, told io.Writer) error {
	return compareIdle(ctx, to, told, fewJobs, manyJobs)
}

func compareIdle(ctx context.Context, to *report, told io.Writer, few, many int) error {
	t, err := newTown(ctx, 256)
	if err != nil {
		return err
	}
	defer t.close()
	if err := t.minute(ctx); err != nil {
		return err
	}
	fewCalls, fewReads, err := t.idleMinuteWith(ctx, 0, few, told)
	if err != nil {
		return err
	}
	manyCalls, manyReads, err := t.idleMinuteWith(ctx, few, many, told)
	if err != nil {
		return err
	}
	to.sum("idle_calls", fewCalls)
	to.note("idle_calls_more", manyCalls.sum()-fewCalls.sum(), less(manyCalls, fewCalls))
	to.note("idle_rru_more", manyReads.sum()-fewReads.sum(), less(manyReads, fewReads))
	return nil
}

// less is what a has beyond b, part by part; parts alike are left out.
func less(a, b parts) parts {
	left := parts{}
	for _, of := range []parts{a, b} {
		for name := range of {
			if a[name] != b[name] {
				left[name] = a[name] - b[name]
			}
		}
	}
	return left
}

// idleMinuteWith makes jobs until there are so many, and counts the calls and
// the read units of the minute that follows.
func (t *town) idleMinuteWith(ctx context.Context, from, upto int, told io.Writer) (calls, reads parts, err error) {
	fmt.Fprintf(told, "idle: storing %d jobs that are not due\n", upto-from)
	if err := t.storeIdle(ctx, from, upto); err != nil {
		return nil, nil, err
	}
	t.forget()
	if err := t.minute(ctx); err != nil {
		return nil, nil, err
	}
	reads, _, _, err = t.spent()
	calls = t.calls.take(tables)
	for operation, n := range t.calls.take(queues) {
		calls[operation] += n
	}
	return calls, reads, err
}

// storeIdle writes jobs whose next time is far away, head and revision as the
// verb would.
func (t *town) storeIdle(ctx context.Context, from, upto int) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	now := t.clock.Now()
	for n := from; n < upto && ctx.Err() == nil; n++ {
		group.Go(func() error { return t.Store.ChangeHead(ctx, idleJob(n, now)) })
	}
	return group.Wait()
}

// idleJob is the write that makes a job whose next time comes in a year.
func idleJob(n int, now time.Time) job.HeadChange {
	d := job.Definition{Job: fmt.Sprintf("archive-%06d", n), Schedule: job.Schedule{At: now.AddDate(1, 0, 0)},
		Target: job.Target{Handler: &job.HandlerTarget{Name: handlerName}}}.WithDefaults()
	head := job.Head{Ref: job.Ref{Tenant: job.DefaultTenant, Job: d.Job}, State: job.Enabled, Revision: 1, Epoch: 1, RunsFrom: 1, Schedule: d.Schedule,
		Anchor: now, Misfire: *d.Misfire, Pool: d.Pool, CreatedAt: now, UpdatedAt: now, ChangedBy: "ada@example.com", NextFireAt: d.Schedule.At}
	rev := &job.Revision{Ref: head.Ref, Number: 1, Epoch: 1, Definition: d, Anchor: now, CreatedAt: now, CreatedBy: head.ChangedBy}
	return job.HeadChange{New: head, Revision: rev, Verb: "create", Actor: head.ChangedBy, At: now}
}
