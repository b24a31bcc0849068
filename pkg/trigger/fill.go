package trigger

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
	"github.com/belfry-scheduler/belfry/pkg/schedule"
)

// Backfills is what the trigger plane does to backfills.
type Backfills interface {
	// Backfill reads one backfill strongly; nil when it is absent.
	Backfill(ctx context.Context, ref job.Ref, id string) (*job.Backfill, error)
	// SaveBackfill writes one, new or on condition of the step that was read;
	// job.ErrLost when another scan or a cancel was faster.
	SaveBackfill(ctx context.Context, c job.BackfillChange) error
	// InRange strongly reads a job's executions and records in [from, upto] until
	// visit returns false.
	InRange(ctx context.Context, ref job.Ref, from, upto time.Time, visit func(*job.Execution) bool) error
}

const (
	// fillBudget is how many executions the backfills of one scan release together.
	fillBudget = 1000
	// fillTime bounds how long a scan works on backfills, which come last.
	fillTime = 20 * time.Second
	// mostWaiting is how many executions of a backfill may wait to begin at a time: a
	// pool that does not keep up slows its backfills down.
	mostWaiting = 1000
	// fillWindow is how many times may lie between the first that has not begun and
	// the cursor, and how many new ones a scan looks at in one step.
	fillWindow = 5000
	// fillSteps is how often a scan goes on with a backfill that finds everything there.
	fillSteps = 4
)

// fillAll works backfills off, the one that waits longest first, after the
// jobs of the scan: their budget and time are their own, and an error of one is
// left to the next scan.
func (s *Service) fillAll(ctx context.Context, due []job.Due) {
	slices.SortStableFunc(due, func(a, b job.Due) int { return a.At.Compare(b.At) })
	begun, left := s.Clock.Now(), fillBudget
	for i, d := range due {
		if ctx.Err() != nil || left <= 0 || s.Clock.Now().Sub(begun) > fillTime {
			s.log().Warn("backfills left to the next scan", slog.Int("count", len(due)-i))
			return
		}
		made, err := s.fill(ctx, d, max(1, left/(len(due)-i)))
		left -= made
		if err != nil && !errors.Is(err, job.ErrLost) {
			s.log().Error("backfill not worked off; the next scan tries again", slog.String("job", d.Ref.String()), slog.String("backfill", d.Backfill), slog.Any("error", err))
		}
	}
}

// separate parts the entries of the due index.
func separate(due []job.Due) (jobs []job.Ref, backfills []job.Due) {
	for _, d := range due {
		if d.Backfill == "" {
			jobs = append(jobs, d.Ref)
		} else {
			backfills = append(backfills, d)
		}
	}
	return jobs, backfills
}

// backlog gathers the backfills that a scan meets in its shards.
type backlog struct {
	mu    sync.Mutex
	found []job.Due
}

func (l *backlog) add(due ...job.Due) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found = append(l.found, due...)
}

// Fill does for one backfill what a scan would do, at once.
func (s *Service) Fill(ctx context.Context, ref job.Ref, id string) error {
	_, err := s.fill(ctx, job.Due{Ref: ref, Backfill: id}, fillBudget)
	if errors.Is(err, job.ErrLost) {
		return nil // a scan came first and does it
	}
	return err
}

// fill takes a backfill as far as its rate and the budget allow.
func (s *Service) fill(ctx context.Context, d job.Due, budget int) (made int, err error) {
	for range fillSteps {
		f, err := s.open(ctx, d, budget-made)
		if err != nil || f == nil {
			return made, err
		}
		if err := f.step(ctx); err != nil {
			return made, err
		}
		made += len(f.made)
		if f.next.Cursor.Equal(f.seen.Cursor) || !f.next.Paced.Equal(f.seen.Paced) || f.next.State != job.BackfillRunning {
			return made, nil
		}
	}
	return made, nil
}

// filling is one backfill on its way through a scan: put, send, then its cursor.
type filling struct {
	*Service
	seen     *job.Backfill
	next     job.Backfill
	head     *job.Head
	revision *job.Revision
	plan     *schedule.Plan
	serial   ulid.ULID
	now      time.Time
	budget   int
	carry    map[int]time.Time
	there    map[int64]*lifecycle.Standing // by scheduled second
	made     []*job.Execution              // put by this scan
	sends    []*job.Execution
	lost     []*job.Execution // to be sent again
	waiting  int
}

// open reads a backfill and its job; nil when there is nothing to do for it now.
// One whose job was deleted, or cannot be evaluated any more, ends.
func (s *Service) open(ctx context.Context, d job.Due, budget int) (*filling, error) {
	b, err := s.Backfills.Backfill(ctx, d.Ref, d.Backfill)
	if err != nil || b == nil || b.State != job.BackfillRunning || b.Schema > job.Schema {
		return nil, err
	}
	head, err := s.Definitions.Head(ctx, d.Ref)
	if err != nil {
		return nil, err
	}
	f := &filling{Service: s, seen: b, next: *b, head: head, now: s.Clock.Now(), budget: budget, carry: map[int]time.Time{}}
	if head == nil || head.State == job.Deleted || head.CreatedAt.After(b.CreatedAt) {
		return nil, f.end(ctx, lifecycle.JobDeleted)
	}
	if head.State != job.Enabled && head.State != job.Completed || head.Schema > job.Schema {
		return nil, nil // it goes on when the job does
	}
	if f.serial, err = ulid.ParseStrict(b.ID); err != nil {
		return nil, f.end(ctx, lifecycle.ScheduleInvalid)
	}
	if f.revision, err = s.Definitions.Revision(ctx, d.Ref, b.Revision); err != nil {
		return nil, err
	}
	if f.revision == nil {
		return nil, f.end(ctx, lifecycle.ScheduleInvalid)
	}
	if f.plan, err = s.Zones.OfRevision(f.revision); err != nil {
		s.log().Error("backfill ended: its schedule cannot be evaluated", slog.String("job", d.Ref.String()), slog.String("backfill", b.ID), slog.Any("error", err))
		return nil, f.end(ctx, lifecycle.ScheduleInvalid)
	}
	return f, nil
}

// end cancels a backfill that cannot go on.
func (f *filling) end(ctx context.Context, why job.Reason) error {
	f.next.State, f.next.DoneAt, f.next.EndReason, f.next.EndedBy = job.BackfillCanceled, f.now, why, "scan"
	return f.Backfills.SaveBackfill(ctx, job.BackfillChange{Old: f.seen, New: f.next})
}

// step is one round: look at what was made and at the times that come next, put
// what is to be made, send it, and only then write how far that went.
func (f *filling) step(ctx context.Context) error {
	window, fresh := f.times()
	if err := f.read(ctx, window, fresh); err != nil {
		return err
	}
	if err := f.trusted(); err != nil {
		return err
	}
	if err := f.keep(ctx, window); err != nil {
		return err
	}
	if len(window) < fillWindow {
		if err := f.goOn(ctx, fresh); err != nil {
			return err
		}
	}
	if err := f.put(ctx); err != nil {
		return err
	}
	if err := f.sendAll(ctx); err != nil {
		return err
	}
	return f.save(ctx)
}

// times are those between the last one that is settled and the cursor, and
// those that come after it.
func (f *filling) times() (window, fresh []time.Time) {
	b := f.seen
	from, upto := b.From.Add(-time.Second), b.To
	if !b.Settled.IsZero() {
		from = b.Settled
	}
	if !b.Cursor.IsZero() {
		upto = b.Cursor.Add(-time.Second)
		fresh = f.plan.Between(upto, b.To, fillWindow)
	}
	if upto.After(from) {
		window = f.plan.Between(from, upto, fillWindow)
	}
	return window, fresh
}

// read gathers what is stored for the times.
func (f *filling) read(ctx context.Context, lists ...[]time.Time) error {
	all := slices.Concat(lists...)
	f.there = make(map[int64]*lifecycle.Standing, len(all))
	if len(all) == 0 {
		return nil
	}
	for _, at := range all {
		f.there[at.Unix()] = &lifecycle.Standing{}
	}
	return f.Backfills.InRange(ctx, f.seen.Ref, all[0], all[len(all)-1], func(e *job.Execution) bool {
		switch standing := f.there[e.ScheduledAt.Unix()]; {
		case standing == nil:
		case e.Kind == job.KindScheduled:
			standing.Own = e
		case e.Kind == job.KindReplay && e.Backfill == f.seen.ID:
			standing.Mine = e
		case e.Kind == job.KindReplay && e.Stands() == job.ScheduledKey(e.ScheduledAt):
			standing.Others = append(standing.Others, e)
		}
		return true
	})
}

// judge decides on one time.
func (f *filling) judge(ctx context.Context, at time.Time, behind bool) (lifecycle.Filling, error) {
	var failed error
	decision := lifecycle.DecideFill(lifecycle.FillFacts{Standing: *f.there[at.Unix()], Backfill: f.seen, Head: f.head, At: at, Now: f.now, Behind: behind,
		Begins: func(e *job.Execution) bool {
			until, err := f.carryUntil(ctx, e.Revision)
			failed = errors.Join(failed, err)
			return lifecycle.MayBegin(f.head, e.Epoch, e.Stands().ScheduledAt, until)
		}})
	return decision, failed
}

func (f *filling) carryUntil(ctx context.Context, revision int) (time.Time, error) {
	if until, known := f.carry[revision]; known {
		return until, nil
	}
	later, err := f.Definitions.Revision(ctx, f.seen.Ref, revision+1)
	if err == nil {
		f.carry[revision] = later.Carries()
	}
	return later.Carries(), err
}
