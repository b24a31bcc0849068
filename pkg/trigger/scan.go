package trigger

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/observe"
)

const (
	// duePage is how many jobs one query of the due index reads.
	duePage = 100
	// scanTooOld is the age at which a scan message is dropped: the scan of a
	// later minute covers the same shards.
	scanTooOld = 90 * time.Second
)

// Scan materialises what is due in a range of shards and wakes what asked to
// be woken. sentAt is the scan message's; an old message is dropped. An error
// of one job is logged and left to the next scan; an error of a query is
// returned after the other shards were scanned.
func (s *Service) Scan(ctx context.Context, r job.ShardRange, sentAt time.Time) error {
	found := s.newTally(sentAt)
	defer found.Flush()
	if !sentAt.IsZero() && s.Clock.Now().Sub(sentAt) > scanTooOld {
		s.log().Warn("old scan message dropped", slog.Time("sent_at", sentAt))
		return nil
	}
	if restored, err := s.restored(ctx); !restored {
		return err
	}
	found.begun()
	var shards errgroup.Group
	shards.SetLimit(s.parallel())
	failures := make([]error, r.To-r.From)
	var left backlog
	for n := r.From; n < r.To; n++ {
		shards.Go(func() error {
			shard := job.Shard{Generation: r.Generation, Number: n}
			failures[n-r.From] = errors.Join(s.scanDue(ctx, shard, found, &left), s.scanWakes(ctx, shard))
			return nil
		})
	}
	_ = shards.Wait() // collected in failures, so that no shard stops another
	s.fillAll(ctx, left.found)
	err := errors.Join(failures...)
	if err == nil {
		found.Count(observe.ScansCompleted, observe.Labels{}, 1)
	}
	return err
}

// scanDue pages through one shard's due jobs, and leaves its backfills for after
// the jobs of all shards.
func (s *Service) scanDue(ctx context.Context, shard job.Shard, found tally, left *backlog) error {
	upto := s.Clock.Now().Add(Horizon)
	for start := ""; ; {
		due, more, err := s.Definitions.Due(ctx, shard, upto, duePage, start)
		if err != nil {
			return err
		}
		refs, backfills := separate(due)
		left.add(backfills...)
		if err := s.trusted(); err != nil {
			return err
		}
		if len(refs) > 0 {
			heads, err := s.Definitions.Heads(ctx, refs)
			if err != nil {
				return err
			}
			found.due(heads)
			s.materialiseAll(ctx, heads, left)
		}
		if more == "" {
			return ctx.Err()
		}
		start = more
	}
}

// materialiseAll carries one page of jobs through: all puts, then all sends in
// full batches, then all advances.
func (s *Service) materialiseAll(ctx context.Context, heads []*job.Head, left *backlog) {
	works := make([]*work, len(heads))
	s.each(len(heads), func(i int) {
		works[i] = s.newWork(heads[i])
		works[i].fail(works[i].put(ctx))
	})
	s.send(ctx, works)
	s.each(len(heads), func(i int) {
		works[i].fail(works[i].advance(ctx))
		if err := works[i].err; err != nil && !errors.Is(err, job.ErrLost) {
			s.log().Error("job not materialised; the next scan tries again", slog.String("job", heads[i].Ref.String()), slog.Any("error", err))
		}
		left.add(works[i].drains...)
	})
	if further := beyondSwitch(works); len(further) > 0 {
		s.materialiseAll(ctx, further, left)
	}
}

// beyondSwitch are the heads of works that came to a switch-over inside the
// horizon: what follows it is made at once, like all that is due.
func beyondSwitch(works []*work) (further []*job.Head) {
	for _, w := range works {
		if w.err != nil || !w.moved || w.head.SwitchAt.IsZero() || w.next.IsZero() || w.next.After(w.upto) || !w.next.After(w.head.SwitchAt) {
			continue
		}
		moved := *w.head
		moved.NextFireAt, moved.LastScheduled, moved.Advances = w.next, w.last, w.head.Advances+1
		further = append(further, &moved)
	}
	return further
}

// each runs do for 0 … n-1, several at a time.
func (s *Service) each(n int, do func(int)) {
	var group errgroup.Group
	group.SetLimit(s.parallel())
	for i := range n {
		group.Go(func() error {
			do(i)
			return nil
		})
	}
	_ = group.Wait() // do reports by itself
}

// send admits everything that the works made, and fails the work whose
// message was not taken: its cursor then stays.
func (s *Service) send(ctx context.Context, works []*work) {
	var executions []*job.Execution
	var owners []*work
	for _, w := range works {
		if w.err != nil {
			continue
		}
		for _, e := range w.sends {
			executions, owners = append(executions, e), append(owners, w)
		}
	}
	if len(executions) == 0 {
		return
	}
	for i, err := range s.Admission.Admit(ctx, executions) {
		owners[i].fail(err)
	}
	s.trace(ctx, works)
}

// trace tells the spans of what the works have put and sent.
func (s *Service) trace(ctx context.Context, works []*work) {
	if s.Tracer == nil {
		return
	}
	now := s.Clock.Now()
	for _, w := range works {
		for _, e := range w.made {
			s.Tracer.Materialised(ctx, e, now, w.err)
		}
	}
}

// Materialise does for one job what a scan would do, at once: control verbs
// call it for a job that is due inside the horizon.
func (s *Service) Materialise(ctx context.Context, ref job.Ref) error {
	head, err := s.Definitions.Head(ctx, ref)
	if err != nil || head == nil {
		return err
	}
	for {
		w := s.newWork(head)
		w.fail(w.put(ctx))
		s.send(ctx, []*work{w})
		w.fail(w.advance(ctx))
		s.fillAll(ctx, w.drains)
		if errors.Is(w.err, job.ErrLost) {
			return nil // another verb or scan came first and does it
		}
		further := beyondSwitch([]*work{w})
		if w.err != nil || len(further) == 0 {
			return w.err
		}
		head = further[0]
	}
}
