package worker

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belfry-scheduler/belfry/pkg/job"
)

func TestOnTheIsolationQueueOnlyWhatCostASecondWorkerRunsAlone(t *testing.T) {
	lostOnce := &job.Execution{Status: job.Running}
	lostTwice := &job.Execution{Status: job.Running, Lost: 1}
	retried := &job.Execution{Status: job.RetryWait, Lost: 1}
	synctest.Test(t, func(t *testing.T) {
		p := newPlaces(4, 4)
		take := func(isolated bool) *place {
			p.took(0, [stages]int{due: 1})
			return &place{places: p, patience: time.Second, isolated: isolated, at: due, hold: func() bool { return true }}
		}
		first, second, alone := take(true), take(true), take(true)
		for _, h := range []*place{first, second} {
			if err := h.begin(t.Context(), lostOnce); err != nil {
				t.Fatalf("two that lost one worker do not run side by side: %v", err)
			}
		}
		if err := alone.begin(t.Context(), lostTwice); !errors.Is(err, errNoPlace) {
			t.Fatalf("one that lost two workers began beside others: %v", err)
		}
		first.leave()
		second.leave()
		if err := alone.begin(t.Context(), lostTwice); err != nil {
			t.Fatalf("it does not begin although nothing else runs: %v", err)
		}
		if room := p.room(); room > 0 {
			t.Fatalf("the lane would take %d more messages beside it", room)
		}
		next := take(true)
		if err := next.begin(t.Context(), lostOnce); !errors.Is(err, errNoPlace) {
			t.Fatalf("another began beside it: %v", err)
		}
		alone.leave()
		if err := next.begin(t.Context(), retried); err != nil {
			t.Fatal(err)
		}
		other := take(true)
		if err := other.begin(t.Context(), retried); err != nil {
			t.Fatalf("attempts that ended with an answer do not run side by side: %v", err)
		}
		next.leave()
		other.leave()
		if p.room() != 4 || p.held != [stages]int{} {
			t.Fatalf("places leaked: %+v", p.held)
		}
	})
}
