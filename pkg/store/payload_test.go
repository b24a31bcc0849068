package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
	"github.com/belfry-scheduler/belfry/pkg/lifecycle"
)

func TestTheFirstDigestIsTheOneThatHolds(t *testing.T) {
	for sentence, lose := range map[string]bool{"and costs one write unit": false, "also when the answer was lost": true} {
		onShelf(t, func(s *shelf) {
			s.create()
			held := s.claimed()
			s.lose = lose
			clear(s.consumed)
			for _, digest := range []string{"aa", "bb"} {
				if got, err := s.PinPayload(s.Context(), held, digest); got != "aa" || err != nil {
					t.Errorf("%s: %s pinned gives %q, %v", sentence, digest, got, err)
				}
			}
			if e := s.at(scheduled); e.PayloadSum != "aa" {
				t.Errorf("%s: it holds %q", sentence, e.PayloadSum)
			}
			if got := s.consumed["pin payload"]; !lose && got != 2 {
				t.Errorf("%s: two pins consumed %v units", sentence, got)
			}
		})
	}
}

func TestWhoeverHasLostTheLeasePinsNothing(t *testing.T) {
	for sentence, loses := range map[string]func(s *shelf, held *job.Execution) error{
		"taken over": func(s *shelf, held *job.Execution) error {
			c := claimOf(held)
			c.Now = held.Lease.Until.Add(time.Minute)
			_, err := s.Claim(s.Context(), c)
			return err
		},
		"settled": func(s *shelf, held *job.Execution) error {
			return s.Settle(s.Context(), held, lifecycle.Settled(noon, "w"), time.Time{})
		},
	} {
		onShelf(t, func(s *shelf) {
			s.create()
			held := s.claimed()
			s.must(loses(s, held))
			if _, err := s.PinPayload(s.Context(), held, "aa"); !errors.Is(err, job.ErrLost) {
				t.Errorf("%s: %v", sentence, err)
			}
			if e := s.at(scheduled); e.PayloadSum != "" {
				t.Errorf("%s: it holds %q", sentence, e.PayloadSum)
			}
		})
	}
}
