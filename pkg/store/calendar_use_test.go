package store_test

import (
	"errors"
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestWhoKeepsToACalendarIsMendedOnceAndForTheHeadThatWasSeen(t *testing.T) {
	onShelf(t, func(s *shelf) {
		s.create()
		seen := s.head()
		stale := *seen
		stale.Epoch--
		for _, step := range []struct {
			says    string
			head    *job.Head
			version int
			lost    bool
			known   int
		}{
			{"a head that is no longer so", &stale, 7, true, 0},
			{"the head that is there", seen, 3, false, 3},
			{"once more, with another version", seen, 4, true, 3},
		} {
			err := s.MendCalendarUse(s.Context(), step.head, "de", step.version)
			if errors.Is(err, job.ErrLost) != step.lost || !step.lost && err != nil {
				t.Errorf("%s: %v", step.says, err)
			}
			known, err := s.CalendarUse(s.Context(), seen.Ref, "de")
			s.must(err)
			users, _, err := s.CalendarUsers(s.Context(), seen.Tenant, "de", "", 10)
			s.must(err)
			if known != step.known || len(users) > 0 != (known > 0) || known > 0 && users[0] != (job.CalendarUser{Job: seen.Job, Version: known}) {
				t.Errorf("%s: known as %d, listed as %+v", step.says, known, users)
			}
		}
	})
}
