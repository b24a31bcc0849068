package store_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// deleted makes a job with that many revisions and deletes it.
func (s *shelf) deleted(revisions int) *job.Head {
	s.Helper()
	s.create()
	for n := 2; n <= revisions; n++ {
		next := *s.head()
		next.Epoch, next.Revision = next.Epoch+1, n
		s.must(s.ChangeHead(s.Context(), job.HeadChange{Old: s.head(), New: next, Verb: "edit", At: noon, Revision: &job.Revision{Ref: ref, Number: n, Epoch: next.Epoch}}))
	}
	next := *s.head()
	next.Epoch, next.State, next.NextFireAt, next.UpdatedAt = next.Epoch+1, job.Deleted, time.Time{}, noon
	s.must(s.ChangeHead(s.Context(), job.HeadChange{Old: s.head(), New: next, Verb: "delete", At: noon}))
	return s.head()
}

func TestAPurgeLeavesTheNumbersOfAJobAndNothingElse(t *testing.T) {
	for _, revisions := range []int{1, 120} { // more than one transaction takes
		t.Run(fmt.Sprint(revisions), func(t *testing.T) {
			onShelf(t, func(s *shelf) {
				seen := s.deleted(revisions)
				if err := s.Purge(s.Context(), seen, noon.Add(time.Hour), "belfry"); err != nil {
					s.Fatalf("%v", err)
				}
				left := s.head()
				if left.State != job.Deleted || left.Epoch != seen.Epoch || left.RunsFrom != seen.RunsFrom || left.Revision != revisions || !left.PurgedAt.Equal(noon.Add(time.Hour)) {
					s.Errorf("left is %+v", left)
				}
				if left.Schedule.Cron != "" || left.Pool != "" || !left.CreatedAt.IsZero() {
					s.Errorf("the definition is left: %+v", left)
				}
				items, audits := 0, 0
				for _, stored := range s.everything() {
					switch pk := textOf(stored["pk"]); {
					case pk == ref.String():
						items++
					case textOf(stored["verb"]) == "purge":
						audits++
					}
				}
				if items != 1 || audits != 1 {
					s.Errorf("%d items and %d audit entries of the purge are left", items, audits)
				}
				if list, _, err := s.ListJobs(s.Context(), ref.Tenant, "", 10); err != nil || len(list) > 0 {
					s.Errorf("it is listed: %v, %v", list, err)
				}
			})
		})
	}
}

func TestAJobIsPurgedOnlyInTheLifeThatWasSeen(t *testing.T) {
	onShelf(t, func(s *shelf) {
		seen := s.deleted(2)
		again := *seen
		again.State, again.Epoch, again.Revision, again.NextFireAt = job.Enabled, seen.Epoch+1, 3, noon
		s.must(s.ChangeHead(s.Context(), job.HeadChange{Old: seen, New: again, Verb: "create", At: noon, Revision: &job.Revision{Ref: ref, Number: 3, Epoch: again.Epoch}}))
		was := s.everything()
		if err := s.Purge(s.Context(), seen, noon.Add(time.Hour), "belfry"); !errors.Is(err, job.ErrLost) {
			s.Errorf("the purge of an older life gave %v", err)
		}
		if !equal(was, s.everything()) {
			s.Error("the purge of an older life took something away")
		}
	})
}

func TestAJobMadeAgainAfterItsPurgeIsWholeAgain(t *testing.T) {
	onShelf(t, func(s *shelf) {
		s.must(s.Purge(s.Context(), s.deleted(2), noon.Add(time.Hour), "belfry"))
		again := job.Head{Ref: ref, State: job.Enabled, Epoch: s.head().Epoch + 1, Revision: 3, NextFireAt: noon}
		s.must(s.ChangeHead(s.Context(), job.HeadChange{Old: s.head(), New: again, Verb: "create", At: noon}))
		if now := s.head(); !now.PurgedAt.IsZero() || now.State != job.Enabled {
			s.Errorf("made again it is %+v", now)
		}
		if list, _, err := s.ListJobs(s.Context(), ref.Tenant, "", 10); err != nil || len(list) != 1 {
			s.Errorf("it is listed %d times, %v", len(list), err)
		}
	})
}

func TestSomethingIsLeftAsLongAsAnythingHasBegunOrMay(t *testing.T) {
	nothing := func(s *shelf) bool {
		s.Helper()
		left, err := s.NothingLeft(s.Context(), ref)
		s.must(err)
		return left
	}
	for name, row := range map[string]struct {
		prepare func(s *shelf)
		want    bool
	}{
		"no execution":   {func(*shelf) {}, true},
		"one superseded": {(*shelf).put, true},
		"one withdrawn": {func(s *shelf) {
			s.put()
			s.must(s.Close(s.Context(), s.at(scheduled), lifecycle.WithdrawnBy(noon, "ada", lifecycle.JobDeleted)))
		}, true},
		"one that runs":      {func(s *shelf) { s.claimed() }, false},
		"one that has ended": {func(s *shelf) { s.must(s.Settle(s.Context(), s.claimed(), lifecycle.Settled(noon, "w"), time.Time{})) }, false},
		"one that was canceled": {func(s *shelf) {
			s.put()
			s.must(s.Close(s.Context(), s.at(scheduled), lifecycle.CanceledBy(noon, "ada")))
		}, false},
		"a manual run that waits": {func(s *shelf) { e := fresh(1); e.Key = manual; s.must(s.PutOutside(s.Context(), e)) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			onShelf(t, func(s *shelf) {
				s.create()
				row.prepare(s)
				if got := nothing(s); got != row.want {
					s.Errorf("nothing left: %t", got)
				}
			})
		})
	}
}

var manual = job.SerialKey(job.KindManual, ulid.MustNew(ulid.Timestamp(noon), nil))

// A change that is worked out from a cursor, a plan and a gap loses to each.
var cursorLosers = map[string]func(s *shelf){
	"an advance":  func(s *shelf) { s.must(s.Advance(s.Context(), job.Advance{Head: s.head(), Next: noon.Add(time.Hour)})) },
	"a late plan": (*shelf).plan,
	"a verb":      (*shelf).verb,
	"the last advance of all": func(s *shelf) {
		s.must(s.Advance(s.Context(), job.Advance{Head: s.head()}))
	},
}

func TestAChangeAtACursorLosesToWhateverMovedIt(t *testing.T) {
	for name, between := range cursorLosers {
		t.Run(name, func(t *testing.T) {
			onShelf(t, func(s *shelf) {
				s.create()
				change := func(ctx context.Context, seen *job.Head) error {
					next := *seen
					next.Epoch, next.NextFireAt = seen.Epoch+1, noon.Add(-time.Hour)
					return s.ChangeHead(ctx, job.HeadChange{Old: seen, New: next, Verb: "tzdb", At: noon, AtCursor: true})
				}
				seen := s.head()
				between(s)
				if err := change(s.Context(), seen); !errors.Is(err, job.ErrLost) {
					s.Errorf("it gave %v", err)
				}
				if now := s.head(); now.Plan == nil {
					s.must(change(s.Context(), now))
				}
			})
		})
	}
}

func TestAheadTellsWhatWasMadeBeforeItsTimeAndTheLastThatHadCome(t *testing.T) {
	onShelf(t, func(s *shelf) {
		s.create()
		for minute := range 5 {
			e := fresh(1)
			e.Key = job.ScheduledKey(noon.Add(time.Duration(minute) * time.Minute))
			_, err := s.Put(s.Context(), e)
			s.must(err)
		}
		ahead, last, err := s.Ahead(s.Context(), ref, noon.Add(90*time.Second))
		s.must(err)
		if len(ahead) != 3 || !ahead[0].ScheduledAt.Equal(noon.Add(2*time.Minute)) || !last.Equal(noon.Add(time.Minute)) {
			s.Errorf("%d ahead, the last that had come at %s", len(ahead), last)
		}
		if _, last, err = s.Ahead(s.Context(), ref, noon.Add(-time.Second)); err != nil || !last.IsZero() {
			s.Errorf("before all of them the last is %s, %v", last, err)
		}
	})
}

func TestTheProgressOfSweepsIsReplacedByWhoeverSawTheLastOne(t *testing.T) {
	onShelf(t, func(s *shelf) {
		none, err := s.Sweeps(s.Context())
		s.must(err)
		first := job.Sweeps{TZDB: job.TZDBSweep{Version: "2000a"}}
		s.must(s.SaveSweeps(s.Context(), none, first))
		if err := s.SaveSweeps(s.Context(), none, job.Sweeps{}); !errors.Is(err, job.ErrLost) {
			s.Errorf("a second first write gave %v", err)
		}
		seen, err := s.Sweeps(s.Context())
		s.must(err)
		if seen.TZDB.Version != "2000a" || seen.Step != 1 {
			s.Errorf("read back %+v", seen)
		}
		s.must(s.SaveSweeps(s.Context(), seen, first))
	})
}
