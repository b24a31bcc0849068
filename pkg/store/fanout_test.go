package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// fanned begins a fan-out of so many children of the running execution at noon, with all pages open.
func (s *shelf) fanned(children int) *job.FanOut {
	s.Helper()
	s.create()
	_, err := s.Put(s.Context(), fresh(1))
	s.must(err)
	held, err := s.Claim(s.Context(), job.ClaimRequest{Ref: ref, Key: job.ScheduledKey(noon), Epoch: 1, Owner: "w", Nonce: "n", Now: noon, Until: noon.Add(time.Hour)})
	s.must(err)
	f, err := s.StartFanOut(s.Context(), held, &job.FanOut{Ref: ref, Parent: held.Key, Revision: 1, Epoch: 1, Total: children, Digest: "d", Handler: "part", Reduce: "gather", Pool: "fast-io", CreatedAt: noon})
	s.must(err)
	for page := range f.Pages() {
		s.must(s.OpenPage(s.Context(), f, page))
	}
	return f
}

func TestAChildLeavesItsPageOnceHoweverOftenItDoes(t *testing.T) {
	onShelf(t, func(s *shelf) {
		f := s.fanned(job.PageSize + 2)
		last := job.ChildKey(f.Parent, job.PageSize+1)
		for range 3 {
			if open, broken, err := s.LeavePage(s.Context(), ref, last, true); open != 1 || broken != 1 || err != nil {
				t.Errorf("%d open, %d failed, %v; want 1 of each", open, broken, err)
			}
		}
		if open, _, err := s.LeavePage(s.Context(), ref, job.ChildKey(f.Parent, job.PageSize), false); open != 0 || err != nil {
			t.Errorf("after the other one %d are open, %v", open, err)
		}
		s.must(s.OpenPage(s.Context(), f, 1)) // by an attempt that goes on
		if open, _, err := s.LeavePage(s.Context(), ref, last, true); open != 0 || err != nil {
			t.Errorf("a page that is opened again has %d open children, %v", open, err)
		}
		for range 2 {
			if after, err := s.ClosePage(s.Context(), ref, last); err != nil || after.OpenPages != 1 {
				t.Errorf("%+v, %v; want one page open", after, err)
			}
		}
		if _, _, err := s.LeavePage(s.Context(), ref, job.ChildKey(f.Parent, 99_999), false); !errors.Is(err, job.ErrLost) {
			t.Errorf("a page that is not there: %v", err)
		}
	})
}

func TestWhatIsToldOfFailuresNeverGoesBack(t *testing.T) {
	onShelf(t, func(s *shelf) {
		f := s.fanned(2 * job.PageSize)
		for _, row := range []struct{ page, broken, sum int }{{0, 2, 2}, {0, 1, 2}, {1, 3, 5}, {0, 4, 7}, {1, 3, 7}} {
			got, err := s.TellFailed(s.Context(), ref, job.ChildKey(f.Parent, row.page*job.PageSize), row.broken)
			if err != nil || got.Failed != row.sum {
				t.Errorf("after %d on page %d: %d, %v; want %d", row.broken, row.page, got.Failed, err, row.sum)
			}
		}
	})
}

func TestOnlyTheOwnerOfALeaseFansOut(t *testing.T) {
	onShelf(t, func(s *shelf) {
		f := s.fanned(3)
		held, err := s.Execution(s.Context(), ref, f.Parent)
		s.must(err)
		stale := *held
		stale.FencingToken--
		if _, err := s.StartFanOut(s.Context(), &stale, f); !errors.Is(err, job.ErrLost) {
			t.Errorf("one that has lost it: %v", err)
		}
		other := *f
		other.Digest = "another"
		if there, err := s.StartFanOut(s.Context(), held, &other); err != nil || there.Digest != "d" {
			t.Errorf("what an earlier attempt asked for became %+v, %v", there, err)
		}
	})
}

func TestAFanOutIsFinishedOnceWhatFollowsIsMade(t *testing.T) {
	onShelf(t, func(s *shelf) {
		f := s.fanned(1)
		want := func(unfinished bool) {
			t.Helper()
			if got, err := s.Unfinished(s.Context(), ref, f.Parent); err != nil || got != unfinished {
				t.Errorf("unfinished: %v, %v; want %v", got, err, unfinished)
			}
		}
		child := job.ChildKey(f.Parent, 0)
		want(true)
		_, _, err := s.LeavePage(s.Context(), ref, child, false)
		s.must(err)
		want(true)
		_, err = s.ClosePage(s.Context(), ref, child)
		s.must(err)
		want(true)
		s.must(s.PutOutside(s.Context(), &job.Execution{Ref: ref, Key: job.ReduceKey(f.Parent), Revision: 1, Epoch: 1, Status: job.Scheduled, Pool: "fast-io", CreatedAt: noon, AvailableAt: noon,
			Reason: lifecycle.ChildrenEnded, Wake: job.Wake{At: noon.Add(time.Minute)}}))
		want(false)
	})
}
