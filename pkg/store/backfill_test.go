package store_test

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// filled is a backfill with every field set that a running one may have.
func filled() job.Backfill {
	return job.Backfill{Ref: ref, ID: "01JZXW7GB0RE2M4Q0T5N6V8XYZ", State: job.BackfillRunning, From: noon.Add(-time.Hour), To: noon, Total: 7, Revision: 3, Rate: 0.5, Rerun: true,
		Reason: lifecycle.Backfilled, Actor: "ada", Kept: job.Duration(72 * time.Hour), Cursor: noon.Add(-30 * time.Minute), Settled: noon.Add(-40 * time.Minute),
		Paced: noon.Add(1500 * time.Millisecond), LookedBack: noon.Add(time.Millisecond), Made: 2, Skipped: 1, CreatedAt: noon.Add(-time.Millisecond),
		NextFireAt: noon, Schema: job.Schema}
}

func (s *shelf) backfill() *job.Backfill {
	s.Helper()
	b, err := s.Backfill(s.Context(), ref, filled().ID)
	s.must(err)
	return b
}

func (s *shelf) filled() *job.Backfill {
	s.Helper()
	s.must(s.SaveBackfill(s.Context(), job.BackfillChange{New: filled()}))
	return s.backfill()
}

func entry() *job.Audit {
	return &job.Audit{At: noon, Ref: ref, Verb: "backfill", Actor: "ada", Epoch: 1, Revision: 3}
}

func TestABackfillComesBackAsItWasStored(t *testing.T) {
	onShelf(t, func(s *shelf) {
		if got := *s.filled(); !reflect.DeepEqual(got, filled()) {
			t.Errorf("got %#v\nwant %#v", got, filled())
		}
		ended := filled()
		ended.State, ended.DoneAt, ended.EndReason, ended.EndedBy, ended.NextFireAt = job.BackfillCanceled, noon.Add(time.Hour), lifecycle.CancelRequested, "bob", time.Time{}
		s.must(s.ChangeBackfill(s.Context(), job.BackfillChange{Old: s.backfill(), New: ended, Audit: entry()}))
		ended.Step = 1
		if got := *s.backfill(); !reflect.DeepEqual(got, ended) {
			t.Errorf("got %#v\nwant %#v", got, ended)
		}
	})
}

// The due index holds jobs and backfills, and a backfill only while it runs.
func TestTheDueIndexTellsBackfillsFromJobs(t *testing.T) {
	onShelf(t, func(s *shelf) {
		s.create()
		s.filled()
		due := func() map[string]time.Time {
			found := map[string]time.Time{}
			for n := range 4 {
				page, _, err := s.Due(s.Context(), job.Shard{Generation: 1, Number: n}, noon, 10, "")
				s.must(err)
				for _, d := range page {
					if d.Ref != ref {
						t.Errorf("it is of %s", d.Ref)
					}
					found[d.Backfill] = d.At
				}
			}
			return found
		}
		if got := due(); len(got) != 2 || !got[""].Equal(noon) || !got[filled().ID].Equal(noon) {
			t.Errorf("due are %v", got)
		}
		done := filled()
		done.State = job.BackfillDone
		s.must(s.SaveBackfill(s.Context(), job.BackfillChange{Old: s.backfill(), New: done}))
		if _, still := due()[filled().ID]; still {
			t.Error("what is done is due")
		}
		if heads, _, err := s.ListJobs(s.Context(), ref.Tenant, "", 10); err != nil || len(heads) != 1 {
			t.Errorf("%d jobs are listed, %v", len(heads), err)
		}
	})
}

// A write that was decided on an older step changes nothing, whoever makes it.
func TestAStaleWriteOfABackfillLoses(t *testing.T) {
	for says, row := range map[string]struct {
		between func(b *job.Backfill) // another one's write
		late    func(ctx context.Context, s *shelf, seen *job.Backfill) error
	}{
		"a scan after another scan": {func(b *job.Backfill) { b.Made = 5 }, scannedBackfill},
		"a scan after a cancel":     {func(b *job.Backfill) { b.State = job.BackfillCanceled }, scannedBackfill},
		"a scan after the end":      {func(b *job.Backfill) { b.State = job.BackfillDone }, scannedBackfill},
		"a cancel after a scan":     {func(b *job.Backfill) { b.Made = 5 }, canceledBackfill},
		"a cancel after the end":    {func(b *job.Backfill) { b.State = job.BackfillDone }, canceledBackfill},
		"a second one of its id, by a person": {func(b *job.Backfill) { b.Made = 5 }, func(ctx context.Context, s *shelf, _ *job.Backfill) error {
			return s.ChangeBackfill(ctx, job.BackfillChange{New: filled(), Audit: entry()})
		}},
	} {
		t.Run(says, func(t *testing.T) {
			onShelf(t, func(s *shelf) {
				seen := s.filled()
				other := *seen
				row.between(&other)
				s.must(s.SaveBackfill(s.Context(), job.BackfillChange{Old: seen, New: other}))
				was := s.everything()
				if err := row.late(s.Context(), s, seen); !errors.Is(err, job.ErrLost) {
					t.Errorf("it gave %v", err)
				}
				if now := s.everything(); !equal(was, now) {
					t.Errorf("it changed %v\nto %v", was, now)
				}
			})
		})
	}
}

func scannedBackfill(ctx context.Context, s *shelf, seen *job.Backfill) error {
	next := *seen
	next.Made, next.Cursor = 3, noon.Add(-20*time.Minute)
	return s.SaveBackfill(ctx, job.BackfillChange{Old: seen, New: next})
}

func canceledBackfill(ctx context.Context, s *shelf, seen *job.Backfill) error {
	next := *seen
	next.State = job.BackfillCanceled
	return s.ChangeBackfill(ctx, job.BackfillChange{Old: seen, New: next, Audit: entry()})
}

// A write whose answer was lost is known for one's own; and a plan's backfill that
// another scanner made is as good.
func TestABackfillsOwnWriteIsRecognised(t *testing.T) {
	for says, do := range map[string]func(ctx context.Context, s *shelf) error{
		"a scan's": func(ctx context.Context, s *shelf) error { return scannedBackfill(ctx, s, s.backfill()) },
		"a cancel": func(ctx context.Context, s *shelf) error { return canceledBackfill(ctx, s, s.backfill()) },
		"a plan's": func(ctx context.Context, s *shelf) error {
			return s.SaveBackfill(ctx, job.BackfillChange{New: filled()})
		},
		"a person's":   func(ctx context.Context, s *shelf) error { return s.asked(ctx) },
		"a scan's end": func(ctx context.Context, s *shelf) error { return s.ended(ctx) },
	} {
		t.Run(says, func(t *testing.T) {
			onShelf(t, func(s *shelf) {
				s.filled()
				s.lose = true
				s.must(do(s.Context(), s))
				if s.lose {
					t.Error("no write's answer was lost")
				}
			})
		})
	}
}

func (s *shelf) asked(ctx context.Context) error {
	another := filled()
	another.ID = "01JZXW7GB0RE2M4Q0T5N6V8XY0"
	return s.ChangeBackfill(ctx, job.BackfillChange{New: another, Audit: entry()})
}

func (s *shelf) ended(ctx context.Context) error {
	done := *s.backfill()
	done.State, done.NextFireAt = job.BackfillDone, time.Time{}
	return s.SaveBackfill(ctx, job.BackfillChange{Old: s.backfill(), New: done})
}

// A page cursor comes back from outside.
func TestATamperedCursorOfBackfillsIsRefused(t *testing.T) {
	onShelf(t, func(s *shelf) {
		s.filled()
		for says, cursor := range tampered {
			found, _, err := s.Backfills(s.Context(), ref, cursor, 10)
			if job.CodeOf(err) != job.CodeInvalid || len(found) > 0 {
				t.Errorf("%s gives %v and %v", says, found, err)
			}
		}
		if err := s.asked(s.Context()); err != nil {
			t.Fatal(err)
		}
		first, next, err := s.Backfills(s.Context(), ref, "", 1)
		s.must(err)
		second, _, err := s.Backfills(s.Context(), ref, next, 1)
		s.must(err)
		if len(first) != 1 || len(second) != 1 || first[0].ID < second[0].ID {
			t.Errorf("the pages are %v and %v", first, second)
		}
	})
}
