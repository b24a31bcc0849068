package store_test

import (
	"testing"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

// An execution that every edit withdraws and makes again keeps its timeline, and
// so the price of each further write, within the bound; nothing is uncounted.
func TestATimelineOfManyLivesStaysWithinItsBound(t *testing.T) {
	onShelf(t, func(s *shelf) {
		const lives = 100
		for epoch := range int64(lives) {
			_, err := s.Put(s.Context(), fresh(epoch+1))
			s.must(err)
			s.must(s.Close(s.Context(), s.at(scheduled), lifecycle.WithdrawnBy(noon, "control", lifecycle.Superseded)))
		}
		e := s.at(scheduled)
		if len(e.Timeline) > 20 || len(e.Timeline)+e.Dropped != 2*lives {
			s.Errorf("%d entries are carried and %d were dropped, of %d", len(e.Timeline), e.Dropped, 2*lives)
		}
		if first, last := e.Timeline[0], e.Timeline[len(e.Timeline)-1]; first.To != job.Scheduled || last.To != job.Withdrawn {
			s.Errorf("it begins with %+v and ends with %+v", first, last)
		}
		s.consumed["put"] = 0
		_, err := s.Put(s.Context(), fresh(lives+1))
		s.must(err)
		if s.consumed["put"] != 1 {
			s.Errorf("the next life costs %v units", s.consumed["put"])
		}
	})
}

// Whoever closes what it made itself, without having read it, loses no entry.
func TestACloseOfWhatWasNotReadKeepsTheTimeline(t *testing.T) {
	onShelf(t, func(s *shelf) {
		made := fresh(1)
		made.Status = job.Scheduled
		_, err := s.Put(s.Context(), made)
		s.must(err)
		s.must(s.Close(s.Context(), made, lifecycle.WithdrawnBy(noon, "scan", lifecycle.Superseded)))
		if e := s.at(scheduled); len(e.Timeline) != 2 {
			s.Errorf("the timeline is %+v", e.Timeline)
		}
	})
}
